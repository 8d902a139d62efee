#include "replica/stepwise/state.h"

#include <algorithm>

#include "base/check.h"

namespace inferscale {

StepwiseState::StepwiseState(const ReplicaOptions& replica_options)
    : options(replica_options), rules(rules_of(replica_options.scheduler)), waiting(options) {
  CHECK(!options.prefix_caching || options.shared_prefix_tokens == 0)
      << "a prefix cache and a shared prefix at once";
  CHECK(!looks_up() || !options.layout.has_window()) << "cached prefixes with window groups";
  make_cache();
  if (options.retention) ledger_.emplace(options, cache_ ? &*cache_ : nullptr, usage.retention);
}

void StepwiseState::take_for_decodes() {
  for (Member& member : batch) {
    if (member.decodes) cover(member, member.sequence.computed + 1);
  }
}

void StepwiseState::pass_time(Instant now) {
  if (!ledger_ || now < ledger_time_) return;
  ledger_time_ = now;
  ledger_->pass_time(held_blocks(), now);
}

void StepwiseState::end_call(const Sequence& sequence, Instant now) {
  if (ledger_) ledger_->ended(sequence, now);
}

void StepwiseState::end_chain(const Request& request, Instant now) {
  if (ledger_) ledger_->ended_elsewhere(request, now);
}

void StepwiseState::make_cache() {
  if (!options.prefix_caching) return;
  cache_.emplace(options.kv_blocks, options.layout.block_tokens, options.layout.full_groups);
}

Member* StepwiseState::find(RequestId id) {
  for (Member& member : batch) {
    if (member.id() == id) return &member;
  }
  return nullptr;
}

bool StepwiseState::has(Stage stage) const {
  return std::any_of(batch.begin(), batch.end(),
                     [&](const Member& member) { return member.stage == stage; });
}

TokenCount StepwiseState::tokens_in_flight() const {
  TokenCount tokens = waiting.tokens();
  for (const Member& member : batch) {
    const Sequence& sequence = member.sequence;
    tokens += sequence.requested_left();
    if (member.stage == Stage::kPartial) tokens += sequence.target() - sequence.computed;
  }
  return tokens;
}

std::optional<Sequence> StepwiseState::cancel_waiting(RequestId id) {
  if (waiting.empty()) return std::nullopt;
  const bool was_head = waiting.head().request->id == id;
  const bool was_chosen = chosen > 0 && waiting.is_among_first(id, chosen);
  std::optional<Sequence> sequence = waiting.take_out(id);
  if (!sequence) return std::nullopt;
  if (was_head) full = false;
  if (was_chosen) --chosen;
  return sequence;
}

BlockCount StepwiseState::resident_blocks() const {
  const std::int64_t block = options.layout.block_tokens;
  return options.layout.blocks_for(options.shared_prefix_tokens / block * block);
}

BlockCount StepwiseState::table_blocks(const Sequence& sequence, TokenCount tokens) const {
  const BlockCount all =
      sequence.reserved > 0 ? sequence.reserved : options.layout.blocks_for(tokens);
  return all - sequence.prefix_blocks;
}

BlockCount StepwiseState::free_blocks() const {
  if (cache_) return cache_->free();
  BlockCount free = options.kv_blocks - resident_blocks();
  for (const Member& member : batch) free -= member.blocks;
  for (const Parked& one : parked) free -= one.member.blocks;
  return free;
}

BlockCount StepwiseState::needed_by_decodes() const {
  BlockCount needed = 0;
  for (const Member& member : batch) {
    if (member.decodes) needed += lacks(member, member.sequence.computed + 1);
  }
  return needed;
}

BlockCount StepwiseState::lacks(const Member& member, TokenCount tokens) const {
  return table_blocks(member.sequence, tokens) - member.blocks;
}

TokenCount StepwiseState::budget() const {
  TokenCount left = options.max_num_batched_tokens;
  for (const Member& member : batch) left -= member.chunk + (member.decodes ? 1 : 0);
  return left;
}

TokenCount StepwiseState::chunk_size(const Member& member) const {
  TokenCount tokens = std::min(member.sequence.target() - member.sequence.computed,
                               std::max<TokenCount>(budget(), 0));
  if (options.long_prefill_token_threshold > 0) {
    tokens = std::min(tokens, options.long_prefill_token_threshold);
  }
  return tokens;
}

Found StepwiseState::look_up(const WaitingQueue::Head& head) const {
  Found found;
  const TokenCount most = head.target - 1;
  if (cache_) {
    found.match = cache_->match(*head.request, most);
    found.tokens = found.match.tokens;
    if (ledger_ && !head.handed_over) {
      found.tokens = ledger_->cached(*head.request, found.match.tokens);
      found.restored = found.tokens - found.match.tokens;
    }
  } else if (options.shared_prefix_tokens > 0) {
    found.tokens = std::min({options.shared_prefix_tokens,
                             static_cast<TokenCount>(head.request->shared_prefix_tokens), most});
    const std::int64_t block = options.layout.block_tokens;
    found.prefix_blocks = options.layout.blocks_for(found.tokens / block * block);
  }
  return found;
}

bool StepwiseState::fits(const WaitingQueue::Head& head, const Found& found) const {
  const auto prompt = static_cast<TokenCount>(head.request->prompt_tokens);
  TokenCount tokens = head.handed_over ? prompt : head.target;
  if (rules.drains) tokens = prompt + head.request->max_tokens;
  BlockCount needed = options.layout.blocks_for(tokens) - found.prefix_blocks;
  needed -= found.match.blocks - found.match.from_free;
  const bool beside_partials = !rules.mixed || rules.merges_partials;
  for (const Member& member : batch) {
    if (beside_partials && member.stage == Stage::kPartial) {
      needed += lacks(member, member.sequence.target());
    }
  }
  if (!batch.empty()) needed += options.watermark_blocks;
  return needed <= room();
}

Member& StepwiseState::admit_head(const Found& found, Instant now) {
  Member& member =
      batch.emplace_back(Member{.sequence = waiting.pop(), .admission = ++admissions_});
  Sequence& sequence = member.sequence;
  const auto prompt = static_cast<TokenCount>(sequence.request.prompt_tokens);
  if (rules.drains) {
    sequence.reserved = options.layout.blocks_for(prompt + sequence.request.max_tokens);
  }
  sequence.prefix_blocks = found.prefix_blocks;
  if (cache_) cache_->acquire(sequence.request, found.match, sequence.hold);
  member.blocks = sequence.hold.blocks;
  if (ledger_) {
    const Duration restore =
        ledger_->admitted(sequence.request, found.match.tokens, found.tokens, now);
    restore_ns += static_cast<double>(restore.ns());
  }
  if (sequence.handed_over) {
    member.stage = Stage::kTransferring;
    cover(member, prompt);
    return member;
  }
  sequence.computed = found.tokens;
  if (sequence.start == Instant::never()) {
    sequence.start = now;
    sequence.cached_tokens = static_cast<std::uint32_t>(found.tokens);
    if (looks_up()) {
      usage.prompt_tokens_looked_up += prompt;
      usage.prompt_tokens_cached += found.tokens;
    }
  } else {
    usage.recomputed_tokens += sequence.target() - found.tokens;
  }
  return member;
}

void StepwiseState::plan_chunk(Member& member, TokenCount tokens) {
  CHECK(member.chunk == 0 && tokens > 0) << "request " << member.id();
  cover(member, member.sequence.computed + tokens);
  member.chunk = tokens;
  chunks.push_back(&member);
}

void StepwiseState::cover(Member& member, TokenCount tokens) {
  const BlockCount lacking = lacks(member, tokens);
  CHECK(lacking >= 0 && lacking <= free_blocks()) << "request " << member.id();
  if (cache_ && lacking > 0) cache_->take(lacking);
  member.blocks += lacking;
}

void StepwiseState::publish(Member& member) {
  Sequence& sequence = member.sequence;
  if (cache_) cache_->computed(sequence.request, sequence.computed, sequence.hold);
}

void StepwiseState::give_back(Member& member) {
  Sequence& sequence = member.sequence;
  if (cache_) {
    publish(member);
    cache_->release(sequence.request, sequence.hold, member.blocks - sequence.hold.blocks);
  }
  sequence.hold = {};
  member.blocks = 0;
}

void StepwiseState::remove(const Member& member) {
  batch.remove_if([&](const Member& other) { return &other == &member; });
  full = false;
}

bool StepwiseState::goes_before(const Member& a, const Member& b) const {
  const Request& one = a.sequence.request;
  const Request& other = b.sequence.request;
  if (rules.expects_output) {
    if (a.sequence.generated != b.sequence.generated) {
      return a.sequence.generated < b.sequence.generated;
    }
    return one.prompt_tokens >= other.prompt_tokens;
  }
  if (!options.by_priority) return true;
  return one.priority != other.priority ? one.priority < other.priority : one.id > other.id;
}

Member* StepwiseState::victim() {
  Member* first = nullptr;
  for (Member& member : batch) {
    if (member.stage == Stage::kTransferring) continue;
    if (first == nullptr || goes_before(member, *first)) first = &member;
  }
  return first;
}

void StepwiseState::preempt(Member& member) {
  CHECK(member.chunk == 0) << "request " << member.id() << " has a chunk of this step";
  Sequence& old = member.sequence;
  if (cache_) {
    const BlockCount own = member.blocks - old.hold.blocks;
    if (rules.expects_output) {
      cache_->release(old.request, old.hold, own);
    } else {
      cache_->preempt(old.request, old.computed, old.hold, own);
    }
  }
  Sequence sequence = old;
  sequence.hold = {};
  sequence.computed = 0;
  sequence.prefix_blocks = 0;
  sequence.handed_over = false;
  ++sequence.preemptions;
  ++usage.preemptions;
  preempted = true;
  remove(member);
  waiting.preempt(sequence);
}

bool StepwiseState::plan_decodes() {
  for (Member& member : batch) member.decodes = member.stage == Stage::kDecoding;
  bool goes_on = true;
  while (room() < 0) {
    const auto candidates = std::count_if(batch.begin(), batch.end(), [](const Member& m) {
      return m.stage != Stage::kTransferring;
    });
    if (candidates == 1) {
      CHECK(has(Stage::kTransferring)) << "the KV cache is too small for the one sequence in it";
      victim()->decodes = false;
      goes_on = false;
    } else {
      preempt(*victim());
    }
  }
  if (preempted && rules.expects_output) note_retraction();
  return goes_on;
}

void StepwiseState::note_retraction() {
  TokenCount generated = 0;
  TokenCount requested = 0;
  std::int64_t survivors = 0;
  for (const Member& member : batch) {
    if (member.stage != Stage::kDecoding) continue;
    generated += member.sequence.generated;
    requested += member.sequence.request.max_tokens;
    ++survivors;
  }
  expected.retracted(generated, requested, survivors, usage.decode_steps);
}

StepShape StepwiseState::shape_of_step() const {
  const TokenCount window = options.layout.window_tokens;
  StepShape shape;
  for (const Member& member : batch) {
    const TokenCount cached = member.sequence.computed;
    if (member.decodes) {
      const TokenCount context = cached + 1;
      const bool below = window == 0 || context < window;
      ++shape.decode_sequences;
      shape.decode_context += context;
      shape.decode_window_context += below ? context : window;
      shape.decode_growing += below ? 1 : 0;
    }
    if (member.chunk == 0) continue;
    ++shape.prefill_sequences;
    shape.prefill_tokens += member.chunk;
    shape.prefill_context += cached;
    for (TokenCount context = cached + 1; context <= cached + member.chunk; ++context) {
      shape.prefill_pairs += static_cast<double>(context);
      shape.prefill_window_pairs +=
          static_cast<double>(window == 0 ? context : std::min(context, window));
    }
  }
  return shape;
}

std::vector<Request> StepwiseState::clear(Instant now) {
  std::vector<Request> requests;
  for (const Member& member : batch) requests.push_back(member.sequence.request);
  while (!waiting.empty()) requests.push_back(waiting.pop().request);
  std::sort(requests.begin(), requests.end(),
            [](const Request& a, const Request& b) { return a.id < b.id; });
  chunks.clear();
  batch.clear();
  parked.clear();
  chosen = 0;
  full = false;
  make_cache();
  if (ledger_) ledger_->begin_anew(now);
  return requests;
}

const char* StepwiseState::broken_invariant() const {
  if (batch_size() > options.max_num_seqs) return "INV-4: more sequences run than max_num_seqs";
  if (room() < 0) return "INV-4: more KV blocks are held than there are";
  for (const Member& member : batch) {
    const Sequence& sequence = member.sequence;
    const TokenCount tokens = member.stage == Stage::kTransferring
                                  ? static_cast<TokenCount>(sequence.request.prompt_tokens)
                                  : sequence.computed + member.chunk;
    if (lacks(member, tokens) != 0) return "INV-4: a sequence has not the KV blocks of its tokens";
    if (member.blocks < sequence.hold.blocks) return "INV-4: a sequence shares more than it has";
  }
  return cache_ ? cache_->broken_invariant() : nullptr;
}

}  // namespace inferscale
