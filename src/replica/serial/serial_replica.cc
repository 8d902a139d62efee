#include "replica/serial/serial_replica.h"

#include <algorithm>

#include "base/check.h"

namespace inferscale {

SerialReplica::SerialReplica(const ReplicaOptions& options, const ReplicaSurroundings& surroundings)
    : options_(options),
      latency_(surroundings.latency),
      sink_(surroundings.sink),
      gaps_(options.itl_limit, options.class_itl_limits, surroundings.gaps),
      store_(kv_tokens(options), options.retention ? options.retention->ttl : std::nullopt,
             usage_.retention),
      observer_(surroundings.observer),
      notes_(observer_ == nullptr ? nullptr : std::make_unique<StepNotes>()) {
  CHECK(options.retention) << "a serial station without rules for idle KV caches";
  CHECK(options.role == ReplicaRole::kWhole) << "a serial station in a prefill/decode split";
  CHECK(!options.layout.has_window()) << "a chain's KV cache whose windows are freed is no history";
  CHECK(options.shared_prefix_tokens == 0) << "a serial station with a shared prefix";
  if (retention().idle == IdleKv::kOffload) {
    host_.emplace(retention().host, retention().kv_bytes_per_token, usage_.retention);
  }
}

void SerialReplica::enqueue(const Request& request) {
  const Reason reason = refusal_of(options_, request, static_cast<std::int64_t>(waiting_.size()));
  if (reason != Reason::kNone) {
    Outcome outcome = outcome_of(request, OutcomeStatus::kRefused, reason);
    outcome.replica = options_.index;
    sink_.record(request.id, outcome);
    return;
  }
  auto place = waiting_.end();
  while (place != waiting_.begin() && std::prev(place)->arrival == request.arrival &&
         std::prev(place)->id > request.id) {
    --place;
  }
  waiting_.insert(place, request);
  waiting_tokens_ += static_cast<TokenCount>(request.prompt_tokens) + request.max_tokens;
  if (phase_ == Phase::kIdle) {
    wake_at_ = std::min(wake_at_, request.arrival);
  } else {
    usage_.queue_peak = std::max(usage_.queue_peak, static_cast<std::int64_t>(waiting_.size()));
  }
}

void SerialReplica::wake(Instant now) {
  DCHECK(now == wake_at_);
  settle(now);
  if (phase_ != Phase::kIdle) {
    if (notes_ != nullptr) tell_stretch(now);
    account(now);
  }
  if (phase_ == Phase::kPrefill) {
    end_prefill(now);
  } else if (phase_ == Phase::kDecode) {
    end_decodes(steps_, now);
    if (call_.generated == call_.request.output_tokens) {
      finish(now);
    } else {
      begin_decodes(now);
    }
  }
  if (phase_ == Phase::kIdle) serve_next(now);
  if (notes_ != nullptr) note_stretch(now);
  usage_.queue_peak = std::max(usage_.queue_peak, static_cast<std::int64_t>(waiting_.size()));
}

void SerialReplica::account(Instant to) {
  const double ns = static_cast<double>((to - boundary_).ns());
  usage_.busy_ns += ns;
  usage_.sequence_ns += ns;
  usage_.kv_block_ns += ns * static_cast<double>(held_blocks());
  boundary_ = to;
}

// --- a call's service

void SerialReplica::serve_next(Instant now) {
  wake_at_ = Instant::never();
  if (waiting_.empty()) return;
  const std::optional<TokenCount> idle = take_room(now);
  if (!idle) return;
  const Request request = waiting_.front();
  waiting_.pop_front();
  waiting_tokens_ -= static_cast<TokenCount>(request.prompt_tokens) + request.max_tokens;
  call_ = Sequence{.request = request, .start = now, .gaps = {.slo_class = request.slo_class}};
  Duration moving;
  call_.computed = take_history(*idle, now, moving);
  call_.cached_tokens = static_cast<std::uint32_t>(call_.computed);
  usage_.prompt_tokens_looked_up += request.prompt_tokens;
  usage_.prompt_tokens_cached += call_.computed;
  usage_.running_peak = 1;
  usage_.kv_blocks_peak = std::max(usage_.kv_blocks_peak, held_blocks());
  begin_prefill(now, moving);
}

void SerialReplica::begin_prefill(Instant now, Duration moving) {
  phase_ = Phase::kPrefill;
  boundary_ = now;
  steps_ = 1;
  segment_ = DecodeSegment(now + moving, latency_.cost(shape_of_prefill()));
  wake_at_ = segment_.time_after(1);
}

void SerialReplica::end_prefill(Instant now) {
  ++usage_.prefill_steps;
  call_.computed = call_.request.prompt_tokens;
  call_.generated = 1;
  call_.first_token = call_.last_token = now;
  if (options_.tells_first_tokens) sink_.first_token(call_.request.id, now);
  if (call_.request.output_tokens == 1) {
    finish(now);
  } else {
    begin_decodes(now);
  }
}

void SerialReplica::begin_decodes(Instant now) {
  phase_ = Phase::kDecode;
  boundary_ = now;
  const StepCost cost = latency_.cost(shape_of_decode());
  segment_ = DecodeSegment(now, cost);
  const std::int64_t left =
      static_cast<std::int64_t>(call_.request.output_tokens) - call_.generated;
  steps_ = std::min(left, cost.valid_steps);
  // Until its window is full each step attends to one token more there.
  const TokenCount window = options_.layout.window_tokens;
  if (call_.computed < window) steps_ = std::min(steps_, window - call_.computed);
  wake_at_ = segment_.time_after(steps_);
}

void SerialReplica::end_decodes(std::int64_t steps, Instant end) {
  const Duration first_gap = segment_.time_after(1) - call_.last_token;
  if (call_.generated == 1) {
    gaps_.judge(first_gap, call_.gaps);
    gaps_.join(call_.gaps);
    gaps_.forget_before(call_.gaps.time_mark);
  } else {
    gaps_.add(first_gap, 1);
  }
  gaps_.add_steps(segment_, 2, steps, 1);
  usage_.decode_steps += steps;
  ++usage_.segments;
  call_.computed += steps;
  call_.generated += static_cast<std::uint32_t>(steps);
  call_.last_token = end;
}

void SerialReplica::finish(Instant now) {
  phase_ = Phase::kIdle;
  leave_history(now);
  record(call_, OutcomeStatus::kFinished, now);
}

void SerialReplica::record(const Sequence& sequence, OutcomeStatus status, Instant finish) {
  Sequence ended = sequence;
  if (ended.generated > 1) gaps_.leave(ended.gaps);
  Outcome outcome = status == OutcomeStatus::kAbandoned ? abandoned_outcome(ended)
                                                        : outcome_of(ended, status, finish);
  outcome.replica = options_.index;
  sink_.record(ended.request.id, outcome);
}

// --- the shapes of its steps, as SegmentReplica and DecodeGroup have them for a batch of one

StepShape SerialReplica::shape_of_prefill() const {
  StepShape shape;
  add_prompt(call_.computed, call_.request.prompt_tokens - call_.computed,
             options_.layout.window_tokens, shape);
  return shape;
}

StepShape SerialReplica::shape_of_decode() const {
  StepShape shape{.decode_sequences = 1,
                  .decode_context = call_.computed + 1,
                  .decode_window_context = call_.computed + 1,
                  .decode_growing = 1};
  const TokenCount window = options_.layout.window_tokens;
  if (window > 0 && call_.computed >= window) {
    shape.decode_window_context = window;
    shape.decode_growing = 0;
  }
  return shape;
}

// --- what can be seen from outside

std::int64_t SerialReplica::steps_ended_by(Instant now) const {
  if (phase_ != Phase::kDecode) return 0;
  // The step under way at `now` is the first that ends after it.
  return segment_.first_step_ending_at(now + Duration::nanos(1), steps_) - 1;
}

TokenCount SerialReplica::tokens_in_flight() const {
  TokenCount tokens = waiting_tokens_;
  if (phase_ == Phase::kPrefill) tokens += call_.request.prompt_tokens - call_.computed;
  if (phase_ != Phase::kIdle) tokens += call_.requested_left();
  return tokens;
}

ReplicaLoad SerialReplica::load_at(Instant now) const {
  return {.queue_depth = static_cast<std::int64_t>(waiting_.size()),
          .running = phase_ == Phase::kIdle ? 0 : 1,
          .kv_blocks_held = held_blocks(),
          .tokens_in_flight = tokens_in_flight() - steps_ended_by(now)};
}

// Each decode step takes one token; a prompt counts until its step ends, at the wake-up.
TokenFloor SerialReplica::token_floor(Instant now, TokenCount level) const {
  const std::int64_t ended = steps_ended_by(now);
  const TokenCount tokens = tokens_in_flight() - ended;
  if (phase_ != Phase::kDecode) return {.tokens = tokens, .is_exact = true};
  const TokenCount slack = tokens > level ? (tokens - level) / 2 : 0;
  const std::int64_t more = std::min(slack, steps_ - 1 - ended);
  const std::int64_t next = ended + more + 1;
  return {.tokens = tokens - more,
          .until = next < steps_ ? segment_.time_after(next) : Instant::never(),
          .is_exact = more == 0};
}

// The last of the steps ends at the wake-up.
TokenRange SerialReplica::token_range() const {
  const TokenCount tokens = tokens_in_flight();
  return {.least = tokens - (phase_ == Phase::kDecode ? steps_ - 1 : 0), .most = tokens};
}

void SerialReplica::note_stretch(Instant now) {
  if (phase_ == Phase::kIdle) return;
  StepReport& report = notes_->report;
  const RequestId id = call_.request.id;
  report.replica = options_.index;
  report.start = now;
  report.steps = steps_;
  report.decodes = phase_ == Phase::kDecode ? 1 : 0;
  report.running = 1;
  report.queue_depth = static_cast<std::int64_t>(waiting_.size());
  report.kv_blocks_free = options_.kv_blocks - held_blocks();
  if (!waiting_.empty()) {
    report.head_waits = HeadWaits::kPlace;
    report.head = waiting_.front().id;
  }
  if (phase_ == Phase::kDecode) return;
  notes_->admitted.push_back(id);
  notes_->chunks.push_back({.request = id,
                            .tokens = call_.request.prompt_tokens - call_.computed,
                            .before = call_.computed});
}

void SerialReplica::tell_stretch(Instant now) {
  notes_->report.end = now;
  notes_->report.chunks = notes_->chunks;
  notes_->report.admitted = notes_->admitted;
  observer_->on_step(notes_->report);
  notes_->clear();
}

std::unique_ptr<Replica> make_serial_replica(const ReplicaOptions& options,
                                             const ReplicaSurroundings& surroundings) {
  return std::make_unique<SerialReplica>(options, surroundings);
}

}  // namespace inferscale
