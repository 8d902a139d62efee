#include "property/naive_engine.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace inferscale {
namespace {

struct Member {
  RequestId id = 0;
  TokenCount generated = 0;  // tokens so far
  TokenCount cached = 0;     // tokens in the KV cache
  BlockCount blocks = 0;
};

class NaiveEngine {
 public:
  NaiveEngine(const ReplicaOptions& options, const LatencyModel& latency,
              std::span<const Request> requests, long double close_ns)
      : options_(options), latency_(latency), requests_(requests), close_ns_(close_ns) {
    run_.outcomes.resize(requests.size());
  }

  NaiveRun run();

 private:
  bool is_static() const { return options_.scheduler == SchedulerKind::kStaticFcfs; }
  BlockCount blocks_for(TokenCount tokens) const {
    return (tokens + options_.layout.block_tokens - 1) / options_.layout.block_tokens;
  }
  BlockCount held() const;
  TokenCount tokens_to_prefill(const Member& member) const {
    return requests_[member.id].prompt_tokens + member.generated;
  }
  BlockCount blocks_at_admission(const Member& member) const;
  Reason refusal(const Request& request) const;

  // Who finds the replica idle and is admitted at once has not waited.
  void note_queue() {
    run_.queue_peak = std::max(run_.queue_peak, static_cast<std::int64_t>(waiting_.size()));
  }
  void take_arrivals();
  std::vector<Member> admit();
  void prefill(std::vector<Member> admitted);
  void make_room();
  void decode();
  void pass_time(long double cost_ns);
  void emit(Member& member);
  void remove_finished();
  void count_close_calls(size_t running_before);

  const ReplicaOptions& options_;
  const LatencyModel& latency_;
  std::span<const Request> requests_;
  long double close_ns_;

  long double now_ = 0;
  bool began_idle_ = true;  // the boundary is an arrival in an idle replica
  size_t next_arrival_ = 0;
  std::vector<Member> waiting_;  // front first
  std::vector<Member> running_;  // in order of admission
  std::int64_t chosen_ = 0;      // static: how many of the chosen batch still wait
  NaiveRun run_;
};

BlockCount NaiveEngine::held() const {
  BlockCount sum = 0;
  for (const Member& member : running_) sum += member.blocks;
  return sum;
}

BlockCount NaiveEngine::blocks_at_admission(const Member& member) const {
  const Request& request = requests_[member.id];
  if (is_static()) {
    return blocks_for(static_cast<TokenCount>(request.prompt_tokens) + request.max_tokens);
  }
  return blocks_for(tokens_to_prefill(member));
}

Reason NaiveEngine::refusal(const Request& request) const {
  const TokenCount whole = static_cast<TokenCount>(request.prompt_tokens) + request.max_tokens;
  if (whole > options_.max_model_len) return Reason::kExceedsModelLen;
  // The last token is never written, but a static batch reserves room for it all the same.
  if (blocks_for(is_static() ? whole : whole - 1) > options_.kv_blocks) {
    return Reason::kExceedsKvCache;
  }
  if (options_.max_queued && static_cast<std::int64_t>(waiting_.size()) >= *options_.max_queued) {
    return Reason::kQueueFull;
  }
  return Reason::kNone;
}

void NaiveEngine::take_arrivals() {
  for (; next_arrival_ < requests_.size(); ++next_arrival_) {
    const Request& request = requests_[next_arrival_];
    if (static_cast<long double>(request.arrival.ns()) > now_) break;
    const Reason reason = refusal(request);
    run_.outcomes[request.id].reason = reason;
    if (reason != Reason::kNone) continue;
    waiting_.push_back({.id = request.id});
    if (!began_idle_) note_queue();
  }
}

std::vector<Member> NaiveEngine::admit() {
  std::vector<Member> admitted;
  if (is_static() && running_.empty()) {
    chosen_ = std::min(static_cast<std::int64_t>(waiting_.size()), options_.max_num_seqs);
  }
  TokenCount step_tokens = 0;
  BlockCount free = options_.kv_blocks - held();
  while (!waiting_.empty()) {
    Member head = waiting_.front();
    if (is_static() && chosen_ == 0) break;
    const auto in_batch = static_cast<std::int64_t>(running_.size() + admitted.size());
    if (!is_static() && in_batch >= options_.max_num_seqs) break;
    const TokenCount tokens = tokens_to_prefill(head);
    if (!admitted.empty() && step_tokens + tokens > options_.max_num_batched_tokens) break;
    head.blocks = blocks_at_admission(head);
    if (head.blocks > free) {
      chosen_ = 0;
      break;
    }
    free -= head.blocks;
    step_tokens += tokens;
    if (is_static()) --chosen_;
    waiting_.erase(waiting_.begin());
    admitted.push_back(head);
  }
  return admitted;
}

// Lets the step's time go by; those who arrive meanwhile are taken in before the step ends.
void NaiveEngine::pass_time(long double cost_ns) {
  const BlockCount blocks = held();
  run_.busy_ns += cost_ns;
  run_.sequence_ns += cost_ns * static_cast<long double>(running_.size());
  run_.kv_block_ns += cost_ns * static_cast<long double>(blocks);
  run_.kv_blocks_peak = std::max(run_.kv_blocks_peak, blocks);
  run_.running_peak = std::max(run_.running_peak, static_cast<std::int64_t>(running_.size()));
  now_ += cost_ns;
  began_idle_ = false;
  take_arrivals();
}

void NaiveEngine::emit(Member& member) {
  ++member.generated;
  run_.outcomes[member.id].token_ns.push_back(now_);
}

void NaiveEngine::remove_finished() {
  std::erase_if(running_, [&](const Member& member) {
    return member.generated == static_cast<TokenCount>(requests_[member.id].output_tokens);
  });
}

void NaiveEngine::prefill(std::vector<Member> admitted) {
  StepShape shape;
  for (Member& member : admitted) {
    const TokenCount tokens = tokens_to_prefill(member);
    if (member.generated == 0) {
      run_.outcomes[member.id].start_ns = now_;
    } else {
      run_.recomputed_tokens += tokens;
    }
    shape.prefill_sequences += 1;
    shape.prefill_tokens += tokens;
    shape.prefill_pairs += static_cast<double>(tokens) * static_cast<double>(tokens + 1) / 2.0;
    member.cached = tokens;
  }
  const size_t old = running_.size();
  running_.insert(running_.end(), admitted.begin(), admitted.end());
  ++run_.prefill_steps;
  pass_time(static_cast<long double>(latency_.cost(shape).first_ns));
  for (size_t i = old; i < running_.size(); ++i) emit(running_[i]);
  remove_finished();
}

// Preempts from the back until every remaining sequence has room for one more token.
void NaiveEngine::make_room() {
  const auto needed = [&] {
    BlockCount sum = 0;
    for (const Member& member : running_) {
      sum += std::max(member.blocks, blocks_for(member.cached + 1));
    }
    return sum;
  };
  while (needed() > options_.kv_blocks) {
    CHECK(running_.size() > 1) << "a sequence does not fit alone";
    Member last = running_.back();
    running_.pop_back();
    last.blocks = 0;
    last.cached = 0;
    waiting_.insert(waiting_.begin(), last);
    note_queue();
    ++run_.preemptions;
    ++run_.outcomes[last.id].preemptions;
  }
}

void NaiveEngine::decode() {
  make_room();
  StepShape shape;
  for (Member& member : running_) {
    member.cached += 1;
    member.blocks = std::max(member.blocks, blocks_for(member.cached));
    shape.decode_sequences += 1;
    shape.decode_context += member.cached;
  }
  ++run_.decode_steps;
  pass_time(static_cast<long double>(latency_.cost(shape).first_ns));
  for (Member& member : running_) emit(member);
  remove_finished();
}

// At a boundary, after its admissions: an arrival close to this boundary matters when it was taken,
// when it would have been taken (nobody waits before it), or when it counts for a limit of the
// queue.
void NaiveEngine::count_close_calls(size_t running_before) {
  if (close_ns_ == 0 || began_idle_) return;  // an idle replica starts at the arrival: exact
  const bool batch_forms = is_static() && running_before == 0;
  const auto ns = [](const Request& request) {
    return static_cast<long double>(request.arrival.ns());
  };
  auto near = std::partition_point(requests_.begin(), requests_.end(), [&](const Request& request) {
    return ns(request) < now_ - close_ns_;
  });
  for (; near != requests_.end() && ns(*near) <= now_ + close_ns_; ++near) {
    ++run_.near_arrivals;
    const bool waits_behind = !waiting_.empty() && waiting_.front().id < near->id;
    if (options_.max_queued || batch_forms || !waits_behind) ++run_.close_calls;
  }
}

NaiveRun NaiveEngine::run() {
  while (true) {
    if (running_.empty() && waiting_.empty()) {
      count_close_calls(0);
      if (next_arrival_ == requests_.size()) break;
      now_ = std::max(now_, static_cast<long double>(requests_[next_arrival_].arrival.ns()));
      began_idle_ = true;
      take_arrivals();
      continue;
    }
    const size_t running_before = running_.size();
    std::vector<Member> admitted = admit();
    note_queue();
    count_close_calls(running_before);
    if (!admitted.empty()) {
      prefill(std::move(admitted));
    } else {
      CHECK(!running_.empty()) << "somebody waits and nobody runs";
      decode();
    }
  }
  run_.end_ns = now_;
  return std::move(run_);
}

}  // namespace

NaiveRun run_naive_engine(const ReplicaOptions& options, const LatencyModel& latency,
                          std::span<const Request> requests, long double close_ns) {
  return NaiveEngine(options, latency, requests, close_ns).run();
}

}  // namespace inferscale
