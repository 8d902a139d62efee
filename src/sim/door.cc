#include "sim/door.h"

#include <algorithm>

#include "base/check.h"
#include "base/random.h"

namespace inferscale {
namespace {

constexpr std::uint64_t kBytesPerToken = 4;  // of a body: about what English text takes

TokenCount reusable_of(const Request& request) {
  const TokenCount history =
      request.program == nullptr ? 0 : static_cast<TokenCount>(request.program->history_tokens);
  return std::min<TokenCount>(std::max<TokenCount>(history, request.shared_prefix_tokens),
                              static_cast<TokenCount>(request.prompt_tokens) - 1);
}

}  // namespace

CallerKey caller_key(std::string_view kind, std::uint32_t number) {
  if (number == Request::kNobody) return kNoCaller;
  return SplitMix64(stable_hash(kind) + number).next() | 1;
}

Door::Door(const DoorOptions& options, std::vector<DoorMember> members)
    : options_(options), members_(std::move(members)) {
  GateOptions gate = options_.gate;
  if (gate.predictor.kind == OutputPredictor::kOracle) {
    gate.predictor.truth = [this](const RequestView&) {
      CHECK(presenting_ != nullptr) << "the oracle is asked about nobody";
      return static_cast<TokenCount>(presenting_->output_tokens);
    };
  }
  const bool of_replicas = options_.scope == DoorScope::kReplica;
  gate.replicas = of_replicas ? 1 : static_cast<std::uint32_t>(members_.size());
  gate.service.replicas = gate.replicas;
  const std::size_t gates = of_replicas ? members_.size() : 1;
  for (std::uint32_t i = 0; i < gates; ++i) {
    gate.index = i;
    Result<std::unique_ptr<AdmissionGate>> made = AdmissionGate::create(gate);
    CHECK(made.has_value()) << made.error().to_string();
    gates_.push_back(std::move(*made));
  }
  if (options_.reads_pages) next_scrape_ = Instant();
  note_next();
}

Door::~Door() {
  // The gates outlive their permits.
  permits_.clear();
}

RequestView Door::view_of(const Request& request) const {
  const bool known = options_.knows_requests;
  // An open-loop source numbers no attempts: each request is its own first one.
  const Slo* own = options_.class_slos.empty() ? nullptr : &options_.class_slos[request.slo_class];
  const RequestId first = request.attempt == 0 ? request.id : request.first_attempt;
  RequestView view{.request = known ? first : request.id,
                   .attempt = known ? request.attempt : 0,
                   .tenant = caller_key("tenant", request.tenant),
                   .session = caller_key("session", request.session),
                   .root_session = caller_key("session", request.session),
                   .prompt_tokens = request.prompt_tokens,
                   .reusable_tokens = reusable_of(request),
                   .max_tokens = request.max_tokens,
                   .arrival = request.arrival,
                   .itl_target = (own ? own->itl : options_.itl).value_or(Duration()),
                   .body_bytes = request.prompt_tokens * kBytesPerToken,
                   .priority = request.priority,
                   .slo_class = request.slo_class,
                   .identity_is_known = known};
  // Who can't tell a further attempt from a new request counts from this one's arrival.
  const Instant from = known ? request.arrival - request.spent : request.arrival;
  const std::optional<Duration>& ttft = own ? own->ttft : options_.ttft;
  if (ttft) view.ttft_deadline = from + *ttft;
  return view;
}

Presented Door::present(const Request& request, std::uint32_t replica, bool is_rerouted,
                        Instant now) {
  RequestView view = view_of(request);
  view.is_rerouted = is_rerouted;
  const std::uint32_t gate = gate_of(replica);
  presenting_ = &request;
  Presented presented = gates_[gate]->present(view, now);
  presenting_ = nullptr;
  if (permits_.size() <= request.id) {
    permits_.resize(request.id + 1);
    gate_used_.resize(request.id + 1, 0);
  }
  gate_used_[request.id] = gate;
  if (presented.kind == Presented::Kind::kAdmitted) {
    permits_[request.id] = std::move(presented.permit);
  } else if (presented.kind == Presented::Kind::kHeld) {
    held_.emplace(Identity{view.request, view.attempt}, std::pair(request, gate));
  }
  note_next();
  return presented;
}

void Door::dispatched(RequestId id, std::uint32_t replica, Instant now) {
  permits_[id].dispatched(place_in_gate(replica), now);
}

void Door::first_token(RequestId id, Instant now) {
  if (id < permits_.size() && permits_[id].is_held()) permits_[id].first_token(now);
}

void Door::ended(RequestId id, const Outcome& outcome, Instant now) {
  if (id >= permits_.size() || !permits_[id].is_held()) return;
  switch (outcome.status) {
    case OutcomeStatus::kFinished:
      permits_[id].finish(outcome.output_tokens, now);
      break;
    case OutcomeStatus::kAbandoned:
    case OutcomeStatus::kRefused:
      permits_[id].ignore(now);
      break;
    default:
      permits_[id].drop(now);
      break;
  }
  note_next();
}

void Door::taken_back(RequestId id, Instant now) {
  if (options_.scope != DoorScope::kReplica) return;
  if (id < permits_.size() && permits_[id].is_held()) permits_[id].drop(now);
  note_next();
}

std::vector<Request> Door::held_requests() const {
  std::vector<Request> requests;
  for (const auto& [identity, held] : held_) requests.push_back(held.first);
  return requests;
}

std::optional<Request> Door::withdraw(RequestId id, Instant now) {
  const auto held = std::find_if(held_.begin(), held_.end(),
                                 [&](const auto& each) { return each.second.first.id == id; });
  if (held == held_.end()) return std::nullopt;
  const auto [request, attempt] = held->first;
  CHECK(gates_[held->second.second]->withdraw(request, attempt, now))
      << "request " << id << " is held by nobody";
  const Request left = held->second.first;
  held_.erase(held);
  note_next();
  return left;
}

void Door::set_available(std::uint32_t replica, bool available, Instant now) {
  if (replica >= members_.size()) return;
  gates_[gate_of(replica)]->set_available(place_in_gate(replica), available, now);
}

std::vector<Door::Released> Door::take_releases() {
  std::vector<Released> all;
  for (std::uint32_t gate = 0; gate < gates_.size(); ++gate) {
    for (Release& release : gates_[gate]->take_releases()) {
      const auto held = held_.find({release.request, release.attempt});
      CHECK(held != held_.end()) << "the gate released a request that it did not hold";
      Released released{.request = held->second.first,
                        .replica = gate,
                        .presented = std::move(release.presented)};
      held_.erase(held);
      if (released.presented.kind == Presented::Kind::kAdmitted) {
        permits_[released.request.id] = std::move(released.presented.permit);
      }
      all.push_back(std::move(released));
    }
  }
  note_next();
  return all;
}

bool Door::has_releases() const {
  return std::any_of(gates_.begin(), gates_.end(),
                     [](const auto& gate) { return gate->has_releases(); });
}

void Door::note_next() {
  next_ = next_scrape_;
  if (!pages_.empty()) next_ = std::min(next_, pages_.front().due);
  for (const auto& gate : gates_) next_ = std::min(next_, gate->next_wake());
}

void Door::advance(Instant now) {
  if (next_scrape_ <= now) scrape(now);
  while (!pages_.empty() && pages_.front().due <= now) {
    const Page page = pages_.front();
    pages_.pop_front();
    gates_[gate_of(page.member)]->observe(place_in_gate(page.member), page.reading, now);
  }
  for (const auto& gate : gates_) {
    if (gate->next_wake() <= now) gate->advance(now);
  }
  note_next();
}

void Door::scrape(Instant now) {
  for (std::uint32_t member = 0; member < members_.size(); ++member) {
    pages_.push_back(
        {.due = now + options_.scrape_delay, .member = member, .reading = read(member, now)});
  }
  next_scrape_ = now + options_.scrape_interval;
}

EngineReading Door::read(std::uint32_t member, Instant now) const {
  const DoorMember& each = members_[member];
  const ReplicaLoad load = each.replica->load_at(now);
  const ReplicaUsage& usage = each.replica->usage();
  EngineReading reading{.observed_at = now,
                        .queue_depth = static_cast<double>(load.queue_depth),
                        .running = static_cast<double>(load.running),
                        .kv_used_fraction = static_cast<double>(load.kv_blocks_held) /
                                            static_cast<double>(each.kv_blocks),
                        .kv_capacity_tokens = each.kv_tokens,
                        .preemptions = static_cast<double>(usage.preemptions)};
  if (each.caches_prefixes) {
    reading.prefix_queries = static_cast<double>(usage.prompt_tokens_looked_up);
    reading.prefix_hits = static_cast<double>(usage.prompt_tokens_cached);
  }
  return reading;
}

GateCounts Door::counts() const {
  GateCounts sum;
  for (const auto& gate : gates_) {
    const GateCounts counts = gate->counts();
    sum.presented += counts.presented;
    sum.admitted += counts.admitted;
    sum.deferred += counts.deferred;
    sum.rejected += counts.rejected;
    sum.held += counts.held;
    sum.shadow_refusals += counts.shadow_refusals;
    sum.stale_decisions += counts.stale_decisions;
    sum.policy_failures += counts.policy_failures;
    if (sum.policy_failure.empty()) sum.policy_failure = counts.policy_failure;
    sum.held_time += counts.held_time;
  }
  return sum;
}

}  // namespace inferscale
