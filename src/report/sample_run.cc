#include "report/sample_run.h"

#include <algorithm>
#include <functional>
#include <queue>

#include "base/distributions.h"
#include "base/random.h"
#include "metrics/admission_summary.h"
#include "metrics/run_summary.h"
#include "report/admission_json.h"
#include "report/session_json.h"
#include "report/summary_json.h"

namespace inferscale {
namespace {

constexpr std::int64_t kBlocks = 27000;
constexpr std::int64_t kBlockTokens = 16;

Instant end_of(const std::vector<Outcome>& outcomes) {
  Instant end;
  for (const Outcome& outcome : outcomes) {
    end = std::max(end, outcome.finished() ? outcome.finish : outcome.arrival);
  }
  return end;
}

std::uint32_t length(Lognormal& distribution, RandomStream& stream) {
  return static_cast<std::uint32_t>(std::clamp(distribution.draw(stream), 1.0, 30000.0));
}

JsonValue config_json(const SampleRunOptions& options) {
  return JsonValue::raw(
      R"({"name":)" + JsonValue(options.name).text() +
      R"(,"seed":42,"repeats":1,"deployment":{"model":"llama-3.1-8b","hardware":"h100-sxm",)"
      R"("replicas":)" +
      JsonValue(options.replicas).text() +
      R"(,"router":{"policy":"least_load"},"parallel":{"tensor":1,"pipeline":1},)"
      R"("precision":{"weights":"bf16","kv":"bf16"},"engine":{"scheduler":"continuous_fcfs",)"
      R"("max_num_seqs":256,"kv_block_tokens":16,"max_model_len":null,"prefix_caching":false}},)"
      R"("workload":{"requests":)" +
      JsonValue(options.requests).text() + R"(,"arrivals":{"process":"poisson","rate_rps":)" +
      JsonValue(options.rate_rps).text() +
      R"(},"prompt_tokens":{"distribution":"lognormal","mean":512,"cv":0.7}},"tenants":{}})");
}

struct SampleSession {
  std::vector<RequestId> turns;  // of `planned` ones
  std::uint32_t planned = 0;
  Instant free;  // the last answer; never: it ends with its last turn
};

// Each request, in order of arrival, is the next turn of the first session that is not busy then;
// another one begins when there is none.
std::vector<SampleSession> deal_into_sessions(const std::vector<Outcome>& outcomes) {
  std::vector<SampleSession> all;
  for (std::size_t id = 0; id < outcomes.size(); ++id) {
    auto next = std::find_if(all.begin(), all.end(), [&](const SampleSession& session) {
      return session.turns.size() < session.planned && session.free <= outcomes[id].arrival;
    });
    if (next == all.end()) {
      all.push_back({.turns = {}, .planned = static_cast<std::uint32_t>(1 + all.size() % 12)});
      next = all.end() - 1;
    }
    next->turns.push_back(static_cast<RequestId>(id));
    next->free = outcomes[id].finish;
  }
  return all;
}

CallStatus status_of_call(const Outcome& outcome) {
  if (outcome.finished()) return CallStatus::kFinished;
  return outcome.status == OutcomeStatus::kUnfinished ? CallStatus::kUnfinished
                                                      : CallStatus::kFailed;
}

void serve_call(Outcome& outcome, CallRecord& call) {
  call.attempts = 1;
  call.ready = outcome.arrival;
  call.status = status_of_call(outcome);
  call.prompt_tokens = outcome.prompt_tokens;
  call.output_tokens = outcome.output_tokens;
  if (call.turn > 0) call.history_tokens = outcome.prompt_tokens * 4 / 5;
  // What is found of a history gets less from turn to turn.
  outcome.cached_tokens = call.history_tokens - call.history_tokens * call.turn / 20;
  if (!outcome.finished()) return;
  call.alone_ns = 0.6 * static_cast<double>((outcome.finish - outcome.start).ns());
  call.recompute_ns = 1e6 * call.turn;
}

}  // namespace

SampleRun::SampleRun(const SampleRunOptions& options) : options_(options) {
  if (options.with_slo) {
    slo_.ttft = Duration::from_millis(500);
    slo_.itl = Duration::from_millis(25);
  }
  serve();
  if (options.classes) classify();
  sample_signals();
  if (options.replicas > 1) report_replicas();
  if (options.admission) put_door_before();
  if (options.sessions) group_into_sessions();
}

void SampleRun::classify() {
  classes_ = {{.name = "chat <b>", .slo = slo_, .priority = 10},
              {.name = "batch", .slo = {.e2e = Duration::from_seconds(10)}, .priority = -1},
              {.name = "whenever", .slo = {}}};
  slo_ = {};
  for (std::size_t i = 0; i < outcomes_.size(); ++i) {
    class_of_.push_back(static_cast<std::uint8_t>(i % 7 < 3 ? 0 : i % 7 < 6 ? 1 : 2));
  }
}

void SampleRun::serve() {
  RandomStream arrivals(1, "arrivals");
  RandomStream lengths(1, "lengths");
  Lognormal prompt(512, 0.7);
  Lognormal output(256, 0.8);
  std::priority_queue<std::int64_t, std::vector<std::int64_t>, std::greater<>> free_at;
  for (double slot = 0; slot < options_.slots; ++slot) free_at.push(0);
  Instant now;
  for (std::size_t i = 0; i < options_.requests; ++i) {
    Outcome outcome;
    now = now + Duration::from_seconds(draw_exponential(arrivals) / options_.rate_rps);
    if (i + 3 == options_.requests) now = now + Duration::from_seconds(options_.pause_s);
    outcome.arrival = now;
    outcome.prompt_tokens = length(prompt, lengths);
    outcome.output_tokens = length(output, lengths);
    const std::int64_t token_ns = 7'000'000 + static_cast<std::int64_t>(lengths.below(5'000'000));
    outcome.start = Instant::nanos(std::max(now.ns(), free_at.top()));
    if (options_.refusals && outcome.start - now > Duration::from_seconds(4)) {
      outcome.start = Instant::never();
      outcome.status = OutcomeStatus::kRefused;
      outcome.reason = Reason::kQueueFull;
    } else {
      outcome.first_token =
          outcome.start + Duration::nanos(9'000'000 + 25'000 * std::int64_t{outcome.prompt_tokens});
      outcome.finish = outcome.first_token +
                       Duration::nanos(token_ns) * (std::int64_t{outcome.output_tokens} - 1);
      if (outcome.output_tokens > 1) outcome.itl_max = Duration::nanos(token_ns * 2);
      outcome.status = OutcomeStatus::kFinished;
      free_at.pop();
      free_at.push(outcome.finish.ns());
    }
    outcomes_.push_back(outcome);
  }
}

// Looks at every outcome for each sample: simple, and quick enough for a test.
void SampleRun::sample_signals() {
  const Duration step = Duration::from_seconds(1);
  for (Instant at = Instant() + step; at <= end_of(outcomes_); at = at + step) {
    SignalSample sample;
    sample.at = at;
    for (const Outcome& outcome : outcomes_) {
      if (outcome.arrival > at) break;
      ++sample.arrived;
      if (outcome.status == OutcomeStatus::kRefused) {
        ++sample.refused;
      } else if (outcome.start > at) {
        ++sample.queue_depth;
      } else if (outcome.finish <= at) {
        ++sample.finished;
      } else {
        ++sample.running;
        sample.kv_blocks_used +=
            (outcome.prompt_tokens + outcome.output_tokens / 2) / kBlockTokens + 1;
      }
    }
    sample.kv_used_fraction = static_cast<double>(sample.kv_blocks_used) / kBlocks;
    signals_.push_back(sample);
  }
}

// Every ninth request is dealt to the first replica on top of its turn; the last is lost half-way.
void SampleRun::report_replicas() {
  const Instant end = end_of(outcomes_);
  for (std::uint32_t i = 0; i < options_.replicas; ++i) {
    replicas_.push_back({.index = i,
                         .pool = i % 4 == 3 ? "spare" : "replicas",
                         .up = end - Instant(),
                         .kv_blocks = kBlocks / options_.replicas});
  }
  for (std::size_t id = 0; id < outcomes_.size(); ++id) {
    Outcome& outcome = outcomes_[id];
    outcome.replica = id % 9 == 0 ? 0 : static_cast<std::uint32_t>(id) % options_.replicas;
    if (!outcome.finished()) continue;
    if (outcome.replica + 1 == options_.replicas && id > outcomes_.size() / 2) {
      outcome.status = OutcomeStatus::kLost;
      outcome.finish = Instant::never();
      continue;
    }
    ReplicaReport& replica = replicas_[outcome.replica];
    if (options_.prefix_cache) outcome.cached_tokens = outcome.prompt_tokens / 3;
    ++replica.finished;
    replica.prompt_tokens_cached += outcome.cached_tokens;
    if (options_.prefix_cache) replica.prompt_tokens_looked_up += outcome.prompt_tokens;
    const auto service_ns = static_cast<double>((outcome.finish - outcome.start).ns());
    replica.busy_ns += 0.04 * service_ns;
    replica.kv_block_ns += 40 * service_ns;
    replica.kv_blocks_peak = replica.kv_blocks / 2;
  }
}

// Every seventh request is deferred once and comes again before it is served; whoever was refused
// was refused at the door, for the queue's depth.
void SampleRun::put_door_before() {
  for (std::uint32_t i = 0; i < outcomes_.size(); ++i) {
    Outcome& request = outcomes_[i];
    RequestRecord record{.first_arrival = request.arrival,
                         .attempts = 1,
                         .first_token = request.first_token,
                         .status = RequestStatus::kFinished};
    if (!request.finished()) {
      request.reason = Reason::kQueueDepth;
      record.status = RequestStatus::kGaveUp;
    }
    Outcome last = request;
    if (i % 7 == 3 && request.finished()) {
      last.arrival = request.start;
      attempts_.push_back({.arrival = request.arrival,
                           .prompt_tokens = request.prompt_tokens,
                           .output_tokens = request.output_tokens,
                           .status = OutcomeStatus::kDeferred,
                           .reason = Reason::kQueueAge});
      clients_.request_of.push_back(i);
      ++record.attempts;
      ++record.deferred;
    }
    record.last_attempt = static_cast<RequestId>(attempts_.size());
    attempts_.push_back(last);
    clients_.request_of.push_back(i);
    clients_.requests.push_back(record);
  }
}

void SampleRun::add_admission(RunRecord& record) const {
  record.summary.add("admission", admission());
  record.attempts = attempts_;
  record.clients = &clients_;
}

JsonValue SampleRun::admission() const {
  DecisionTally tally(Duration::from_seconds(5));
  for (std::size_t id = 0; id < attempts_.size(); ++id) {
    const Outcome& attempt = attempts_[id];
    DecisionRecord record{.at = attempt.arrival, .enforced = true};
    record.request.request = clients_.request_of[id];
    if (attempt.status == OutcomeStatus::kDeferred)
      record.decided = Decision::defer(attempt.reason);
    if (attempt.status == OutcomeStatus::kRefused)
      record.decided = Decision::reject(attempt.reason);
    record.effective = record.decided;
    record.needed = {Signal::kQueueDepth};
    if (id % 10 > 0) {
      record.readings[static_cast<std::size_t>(Signal::kQueueDepth)] =
          Reading::of(Signal::kQueueDepth, static_cast<double>(id % 40), attempt.arrival);
    }
    tally.on_decision(record);
  }
  std::vector<std::uint32_t> tenants;
  for (std::uint32_t i = 0; i < outcomes_.size(); ++i) tenants.push_back(i % 3);
  const std::vector<std::string> names = {"chat", "batch <b>", "agents"};
  const AdmissionSummary summary =
      summarize_admission(attempts_, outcomes_, &clients_, &tally,
                          {.policy = "queue_depth",
                           .slo = slo_,
                           .classes = classes(),
                           .threshold = SignalThreshold{.signal = Signal::kQueueDepth, .value = 32},
                           .tenant_of = tenants});
  return admission_json(summary, names);
}

void SampleRun::group_into_sessions() {
  programs_.emplace();
  for (const SampleSession& dealt : deal_into_sessions(outcomes_)) {
    const auto index = static_cast<std::uint32_t>(programs_->sessions.size());
    SessionRecord session{
        .begin = outcomes_[dealt.turns.front()].arrival, .calls = dealt.planned, .chains = 1};
    for (std::uint32_t turn = 0; turn < dealt.planned; ++turn) {
      CallRecord call{.session = index, .chain = index, .turn = turn};
      if (turn < dealt.turns.size()) {
        call.request = dealt.turns[turn];
        serve_call(outcomes_[call.request], call);
      }
      session.finished += call.status == CallStatus::kFinished ? 1 : 0;
      session.failed += call.status == CallStatus::kFailed ? 1 : 0;
      programs_->calls.push_back(call);
    }
    const Outcome& last = outcomes_[dealt.turns.back()];
    if (session.complete()) session.end = last.finish;
    if (session.failed > 0) session.end = last.arrival;
    session_names_.push_back("task <" + std::to_string(index) + ">");
    programs_->sessions.push_back(session);
  }
}

void SampleRun::add_sessions(RunRecord& record, Instant end) const {
  SessionFacts facts{.slo = slo_,
                     .classes = classes(),
                     .makespan = Duration::from_seconds(120),
                     .end = end,
                     .kv_bytes_per_token = 131072,
                     .host_tier = options_.host_tier};
  const double end_ns = static_cast<double>(end.ns());
  facts.retention = {.idle_token_ns = 90000 * end_ns,
                     .resident_token_ns = 160000 * end_ns,
                     .resident_peak = 220000,
                     .evicted_ttl = 64000,
                     .evicted_pressure = 128000,
                     .dropped_ended = 900000,
                     .evictions_ttl = 12,
                     .evictions_pressure = 25};
  if (options_.host_tier) {
    facts.retention.offloads = facts.retention.restores = 700;
    facts.retention.offloaded = facts.retention.restored = 400000;
    facts.retention.offload_ns = facts.retention.restore_ns = 3e9;
    facts.retention.exposed_ns = 0.2e9;
    facts.retention.host_peak = 150000;
  }
  record.summary.add("sessions",
                     session_json(summarize_sessions(*programs_, outcomes_, facts), facts));
  record.programs = &*programs_;
  record.session_names = session_names_;
}

RunRecord SampleRun::record() const {
  RunFacts facts{.slo = slo_,
                 .classes = classes(),
                 .measurement = options_.measurement,
                 .end = end_of(outcomes_),
                 .replicas = replicas_,
                 .prefix_caching = options_.prefix_cache,
                 .kv_blocks = kBlocks};
  const double end_ns = static_cast<double>(facts.end.ns());
  facts.busy_ns = 0.7 * end_ns;
  for (const SignalSample& sample : signals_) {
    facts.kv_blocks_peak = std::max(facts.kv_blocks_peak, sample.kv_blocks_used);
    facts.running_peak = std::max(facts.running_peak, sample.running);
    facts.queue_peak = std::max(facts.queue_peak, sample.queue_depth);
    facts.sequence_ns += static_cast<double>(sample.running) * 1e9;
    facts.kv_block_ns += static_cast<double>(sample.kv_blocks_used) * 1e9;
  }
  DurationHistogram gaps;
  for (const Outcome& outcome : outcomes_) {
    if (!outcome.finished() || outcome.output_tokens < 2) continue;
    const std::int64_t count = std::int64_t{outcome.output_tokens} - 1;
    gaps.add(Duration::nanos((outcome.finish - outcome.first_token).ns() / count), count);
  }
  JsonValue warnings = JsonValue::array();
  for (const std::string& warning : options_.warnings) warnings.append(warning);
  RunRecord record;
  record.manifest.add("simulated", true)
      .add("inferscale", "0.1.0")
      .add("name", options_.name)
      .add("seed", 42)
      .add("mode", "segments")
      .add("complete", options_.complete)
      .add("config", config_json(options_))
      .add("derived", JsonValue::object()
                          .add("model", "llama-3.1-8b")
                          .add("hardware", "h100-sxm")
                          .add("kv_blocks", kBlocks)
                          .add("kv_tokens", kBlocks * kBlockTokens)
                          .add("kv_bytes_per_token", 131072)
                          .add("weight_bytes", 16060522496)
                          .add("accelerators", 1))
      .add("warnings", std::move(warnings));
  record.summary = summary_json(summarize_run(outcomes_, gaps, facts), slo_);
  if (programs_) add_sessions(record, facts.end);
  if (options_.admission) add_admission(record);
  record.outcomes = outcomes_;
  record.slo = slo_;
  record.classes = classes();
  record.signals = signals_;
  record.replicas = replicas_;
  record.with_prefix_cache = options_.prefix_cache;
  record.with_outcomes = options_.with_outcomes;
  return record;
}

}  // namespace inferscale
