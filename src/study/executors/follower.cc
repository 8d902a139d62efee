#include "study/executors/follower.h"

#include <utility>

#include "base/check.h"
#include "study/executors/message_bytes.h"

namespace inferscale {

Follower::Follower(const std::vector<Scenario>& scenarios, RankMail& mail,
                   const ExecutorOptions& options)
    : scenarios_(scenarios),
      mail_(mail),
      options_(options),
      threads_(scenarios, options.threads),
      idle_(false) {}

Result<std::vector<RunResult>> Follower::run(std::span<const RunRequest> requests) {
  const UniqueRuns runs(scenarios_, requests);
  Batch batch(runs);
  ++batch_;
  std::string ready;
  put(ready, runs.hash(options_.identity));
  put(ready, static_cast<std::uint32_t>(options_.threads));
  mail_.send(0, MailKind::kReady, batch_, ready);
  bool told = false;  // of a batch without runs, too
  while (!told || batch.known < batch.records.size()) {
    Result<bool> came = take_mail(batch);
    told |= came && *came && batch.known == batch.records.size();
    if (came && threads_.out_of_memory()) came = fail(ErrorCode::kIo, "out of memory");
    if (came) {
      if (Result<void> fine = check_goes_on(); !fine) came = std::unexpected(fine.error());
    }
    if (!came) {
      wind_down();
      return std::unexpected(came.error());
    }
    if (answer(*came ? std::chrono::microseconds() : idle_.next()) || *came) idle_.something_came();
  }
  std::vector<RunResult> records;
  records.reserve(requests.size());
  for (const std::size_t run : runs.run_of_request()) records.push_back(*batch.records[run]);
  return records;
}

Result<bool> Follower::take_mail(Batch& batch) {
  const std::optional<Mail> mail = mail_.receive();
  if (!mail) return false;
  if (mail->kind == MailKind::kStop) return fail(ErrorCode::kInterrupted, "stopped by rank 0");
  CHECK(mail->batch == batch_) << "rank 0 is in another batch";
  MessageReader reader(mail->content);
  if (mail->kind == MailKind::kRuns) {
    while (!reader.at_end()) {
      const auto run = static_cast<std::size_t>(reader.take<std::uint64_t>());
      const Result<void> taken = threads_.submit(run, batch.runs.request(run));
      if (!taken) return std::unexpected(taken.error());
    }
    return true;
  }
  CHECK(mail->kind == MailKind::kRecords) << "mail that is not for this rank";
  for (auto run = static_cast<std::size_t>(reader.take<std::uint64_t>()); !reader.at_end(); ++run) {
    CHECK(run < batch.records.size()) << "a record of no run";
    batch.records[run] = reader.take_record();
    ++batch.known;
  }
  return true;
}

bool Follower::answer(std::chrono::microseconds at_most) {
  bool came = false;
  while (const auto ended = threads_.next(at_most)) {
    at_most = {};
    came = true;
    std::string message;
    put(message, static_cast<std::uint64_t>(ended->run));
    put_record(message, ended->record);
    mail_.send(0, MailKind::kEnded, batch_, message);
  }
  return came;
}

Result<void> Follower::check_goes_on() const {
  if (options_.stop != nullptr && options_.stop->load()) {
    return fail(ErrorCode::kInterrupted, "interrupted");
  }
  if (mail_.farewell()) return fail(ErrorCode::kInterrupted, "rank 0 has ended");
  return {};
}

void Follower::wind_down() {
  constexpr std::chrono::milliseconds kLook(10);
  threads_.stop();
  while (threads_.outstanding() > 0) static_cast<void>(answer(kLook));
}

}  // namespace inferscale
