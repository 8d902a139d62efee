#include "study/executors/coordinator.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "study/executors/message_bytes.h"

namespace inferscale {
namespace {

// Runs that are given out ahead of need, for each thread: what a look at the mail costs is then
// shared by many short runs. No more than a fair part of those that wait, so that none sits in a
// queue at the end while somebody is idle.
constexpr std::size_t kMostAhead = 64;
constexpr std::size_t kFairPart = 4;

constexpr std::size_t kMessageBytes = 16 << 20;

}  // namespace

Coordinator::Coordinator(const std::vector<Scenario>& scenarios, RankMail& mail,
                         const ExecutorOptions& options)
    : scenarios_(scenarios),
      mail_(mail),
      options_(options),
      threads_(scenarios, options.threads),
      idle_(mail.ranks() == 1),
      ranks_(static_cast<std::size_t>(mail.ranks())) {
  ranks_[0].threads = static_cast<std::size_t>(options.threads);
}

Result<std::vector<RunResult>> Coordinator::run(std::span<const RunRequest> requests) {
  const UniqueRuns runs(scenarios_, requests);
  if (mail_.ranks() > 1) hashes_.push_back(runs.hash(options_.identity));
  ++ranks_[0].ready_for;
  Batch batch(runs);
  look_up(batch);
  if (Result<void> completed = complete(batch); !completed) {
    wind_down(batch);
    return std::unexpected(with_count(completed.error()));
  }
  tell_all(batch);
  std::vector<RunResult> records;
  records.reserve(requests.size());
  for (const std::size_t run : runs.run_of_request()) records.push_back(*batch.records[run]);
  return records;
}

void Coordinator::look_up(Batch& batch) {
  for (std::size_t run = 0; run < batch.runs.size(); ++run) {
    const RunKey& key = batch.runs.key(run);
    const auto [entry, fresh] = asked_.try_emplace(key, nullptr);
    if (fresh) {
      ++progress_.asked;
      if (options_.folder != nullptr) entry->second = options_.folder->ask(key);
      if (entry->second != nullptr) {
        ++progress_.done;
        ++progress_.reused;
      }
    }
    batch.records[run] = entry->second;
    if (entry->second == nullptr) batch.waiting.push_back(run);
  }
  std::reverse(batch.waiting.begin(), batch.waiting.end());
  batch.missing = batch.waiting.size();
}

Result<void> Coordinator::complete(Batch& batch) {
  show_progress();
  while (batch.missing > 0) {
    if (Result<void> fine = check_goes_on(); !fine) return fine;
    if (Result<void> given = hand_out(batch); !given) return given;
    const Result<bool> came = take_in(batch, idle_.next());
    if (!came) return std::unexpected(came.error());
    if (*came) idle_.something_came();
    show_progress();
  }
  return {};
}

Result<void> Coordinator::check_goes_on() const {
  if (options_.stop != nullptr && options_.stop->load()) {
    return fail(ErrorCode::kInterrupted, "interrupted");
  }
  const std::optional<Farewell>& farewell = mail_.farewell();
  if (!farewell) return {};
  const std::string who = "rank " + std::to_string(farewell->rank);
  if (!farewell->error) return fail(ErrorCode::kIo, who + " ended before the study");
  Error error = *farewell->error;
  if (error.code != ErrorCode::kInterrupted) error.message += " (on " + who + ")";
  return std::unexpected(std::move(error));
}

Result<void> Coordinator::hand_out(Batch& batch) {
  std::size_t threads = 0;
  for (const Rank& rank : ranks_) threads += rank.threads;
  const std::size_t ahead = std::min(batch.waiting.size() / (kFairPart * threads), kMostAhead);
  for (std::size_t to = 0; to < ranks_.size() && !batch.waiting.empty(); ++to) {
    const Rank& rank = ranks_[to];
    const std::size_t most = rank.threads * (1 + ahead);
    if (rank.ready_for != ranks_[0].ready_for || rank.out >= most) continue;
    const std::size_t count = std::min(most - rank.out, batch.waiting.size());
    if (Result<void> given = give(batch, to, count); !given) return given;
  }
  return {};
}

Result<void> Coordinator::give(Batch& batch, std::size_t to, std::size_t count) {
  std::string message;
  for (; count > 0; --count) {
    const std::size_t run = batch.waiting.back();
    if (to == 0) {
      if (Result<void> taken = threads_.submit(run, batch.runs.request(run)); !taken) return taken;
    } else {
      put(message, static_cast<std::uint64_t>(run));
    }
    batch.waiting.pop_back();
    ++ranks_[to].out;
  }
  if (to != 0) mail_.send(static_cast<int>(to), MailKind::kRuns, ranks_[to].ready_for, message);
  return {};
}

Result<bool> Coordinator::take_in(Batch& batch, std::chrono::microseconds at_most) {
  Result<bool> came = take_mail(batch);
  if (!came) return came;
  if (*came) at_most = {};
  while (const auto ended = threads_.next(at_most)) {
    at_most = {};
    came = true;
    --ranks_[0].out;
    if (Result<void> kept = keep(batch, ended->run, ended->record); !kept) {
      return std::unexpected(kept.error());
    }
  }
  if (threads_.out_of_memory()) return fail(ErrorCode::kIo, "out of memory");
  return came;
}

Result<bool> Coordinator::take_mail(Batch& batch) {
  bool came = false;
  while (const std::optional<Mail> mail = mail_.receive()) {
    came = true;
    if (mail->kind == MailKind::kReady) {
      if (Result<void> greeted = greet(*mail); !greeted) return std::unexpected(greeted.error());
      continue;
    }
    CHECK(mail->kind == MailKind::kEnded && mail->batch == ranks_[0].ready_for)
        << "rank " << mail->from << " answers what it was not asked";
    --ranks_[static_cast<std::size_t>(mail->from)].out;
    MessageReader reader(mail->content);
    const auto run = static_cast<std::size_t>(reader.take<std::uint64_t>());
    if (Result<void> kept = keep(batch, run, reader.take_record()); !kept) {
      return std::unexpected(kept.error());
    }
  }
  return came;
}

// A rank may come late, when its batch is over: then nothing waits for it but a look at its runs.
Result<void> Coordinator::greet(const Mail& mail) {
  Rank& rank = ranks_[static_cast<std::size_t>(mail.from)];
  MessageReader reader(mail.content);
  const auto hash = reader.take<std::uint64_t>();
  rank.threads = reader.take<std::uint32_t>();
  rank.ready_for = mail.batch;
  CHECK(mail.batch >= 1 && mail.batch <= hashes_.size()) << "a rank is ahead of rank 0";
  if (hash == hashes_[mail.batch - 1]) return {};
  return fail(ErrorCode::kInvalidConfig,
              "rank " + std::to_string(mail.from) +
                  " makes another study than rank 0: expected the same program, configuration and "
                  "traces on every machine");
}

Result<void> Coordinator::keep(Batch& batch, std::size_t run,
                               const std::optional<RunResult>& record) {
  if (!record) return {};  // stopped
  const RunKey& key = batch.runs.key(run);
  const RunResult*& kept = asked_.at(key);
  CHECK(kept == nullptr) << "a run was made twice";
  if (options_.folder == nullptr) {
    kept = &known_.emplace(key, *record).first->second;
  } else if (!folder_failed_) {
    Result<const RunResult*> added = options_.folder->add(key, *record);
    folder_failed_ = !added;
    if (!added) return std::unexpected(added.error());
    kept = *added;
  }
  if (kept == nullptr) return {};
  batch.records[run] = kept;
  --batch.missing;
  ++progress_.done;
  return {};
}

void Coordinator::wind_down(Batch& batch) {
  threads_.stop();
  for (std::size_t to = 1; to < ranks_.size(); ++to) {
    mail_.send(static_cast<int>(to), MailKind::kStop, ranks_[0].ready_for, {});
  }
  // Other ranks have a moment to say what they finished: launchers kill soon after they ask.
  constexpr int kMostLooks = 300;
  constexpr std::chrono::milliseconds kLook(1);
  const auto is_out = [](const Rank& rank) { return rank.out > 0; };
  for (int look = 0; std::any_of(ranks_.begin(), ranks_.end(), is_out); ++look) {
    if (ranks_[0].out == 0 && look >= kMostLooks) return;
    if (!take_in(batch, kLook)) continue;  // the first error is the one that counts
  }
}

Error Coordinator::with_count(Error error) const {
  if (error.code != ErrorCode::kInterrupted) return error;
  error.message = "interrupted: " + std::to_string(progress_.done) + " of " +
                  std::to_string(progress_.asked) + " runs are finished";
  if (options_.folder == nullptr) {
    error.message += " and not kept (--out would have)";
  } else {
    error.message += " and kept; the same command goes on from there";
    error.where = options_.folder->path();
  }
  return error;
}

void Coordinator::tell_all(const Batch& batch) {
  if (mail_.ranks() == 1) return;
  std::size_t run = 0;
  do {
    std::string message;
    put(message, static_cast<std::uint64_t>(run));
    for (; run < batch.records.size() && message.size() < kMessageBytes; ++run) {
      put_record(message, *batch.records[run]);
    }
    for (int to = 1; to < mail_.ranks(); ++to) {
      mail_.send(to, MailKind::kRecords, ranks_[0].ready_for, message);
    }
  } while (run < batch.records.size());
}

void Coordinator::show_progress() const {
  if (options_.progress) options_.progress(progress_);
}

}  // namespace inferscale
