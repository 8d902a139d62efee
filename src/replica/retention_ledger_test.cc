// The ledger and the block cache against single blocks that are looked at every nanosecond.

#include "replica/retention_ledger.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "replica/retention_test_support.h"

namespace inferscale {
namespace {

struct Entry {
  TokenCount tokens = 0;
  std::int64_t done = 0;
};

// Chains of calls in both memories at once.
class Comparison {
 public:
  Comparison(const Rules& rules, std::uint64_t seed)
      : rules_(rules),
        random_(seed, "ledger"),
        cache_(rules.total, rules.block_tokens, 1),
        ledger_(options_of(rules), &cache_, usage_),
        naive_(rules) {
    const std::int64_t blocks = static_cast<std::int64_t>(below(3));
    system_ = {.key = 1, .tokens = static_cast<std::uint32_t>(blocks * rules.block_tokens + 1)};
    chains_.resize(4);
  }

  void step() {
    pass(static_cast<std::int64_t>(below(3) == 0 ? 0 : below(30)));
    const std::uint64_t kind = below(5);
    if (kind < 2) {
      begin_call();
    } else if (kind < 4 && !running_.empty()) {
      end_call(below(running_.size()));
    } else if (kind == 4 && below(4) == 0) {
      end_elsewhere(below(chains_.size()));
    }
    pass(0);
    compare();
  }

  const KvRetentionUsage& usage() const { return usage_; }

 private:
  struct Chain {
    std::vector<ContentPiece> pieces;
    TokenCount history = 0;
    bool is_running = false;
    std::uint32_t number = 0;
    Call last;
  };

  static ReplicaOptions options_of(const Rules& rules) {
    ReplicaOptions options;
    options.layout.block_tokens = rules.block_tokens;
    options.kv_blocks = rules.total;
    KvRetentionOptions& retention = options.retention.emplace();
    retention.idle = rules.idle;
    if (rules.ttl) retention.ttl = Duration::nanos(*rules.ttl);
    retention.keep_ended = rules.keep_ended;
    retention.kv_bytes_per_token = static_cast<double>(rules.ns_per_token);
    retention.host = {.capacity_bytes = 1e12,
                      .base_latency = Duration::nanos(rules.base_latency),
                      .bytes_per_ns = 1};
    return options;
  }
  std::uint64_t below(std::uint64_t limit) { return random_.below(limit); }
  TokenCount whole(TokenCount tokens) const {
    return tokens / rules_.block_tokens * rules_.block_tokens;
  }
  std::int64_t transfer(TokenCount tokens) const {
    return rules_.base_latency + tokens * rules_.ns_per_token;
  }
  void pass(std::int64_t ns) {
    const BlockCount held = rules_.total - cache_.free();
    ledger_.pass_time(held, Instant::nanos(naive_.now + ns));
    naive_.go_to(naive_.now + ns);
  }

  Call next_call(Chain& chain) {
    if (chain.pieces.empty()) {
      chain.number = next_chain_++;
      if (below(3) > 0) chain.pieces.push_back(system_);
    }
    Call call;
    call.pieces = chain.pieces;
    const std::uint32_t shared =
        !call.pieces.empty() && call.pieces.front().key == system_.key ? 1 : 0;
    for (int part = 0; part < 2; ++part) {
      const auto tokens = static_cast<std::uint32_t>(
          1 + below(static_cast<std::uint64_t>(3 * rules_.block_tokens)));
      call.pieces.push_back({.key = ++keys_, .tokens = tokens});
    }
    call.own_from = shared * static_cast<TokenCount>(system_.tokens);
    call.program = {.chain = chain.number,
                    .history_tokens = static_cast<std::uint32_t>(chain.history),
                    .own_pieces_from = shared,
                    .ends_chain = below(6) == 0};
    for (const ContentPiece& piece : call.pieces) {
      call.tokens.insert(call.tokens.end(), piece.tokens, piece.key);
    }
    call.request.id = next_id_++;
    call.request.content_pieces = static_cast<std::uint32_t>(call.pieces.size() - 1);
    call.request.output_is_content = true;
    call.request.output_tokens = call.pieces.back().tokens;
    call.request.prompt_tokens =
        static_cast<std::uint32_t>(call.tokens.size()) - call.request.output_tokens;
    return call;
  }

  void begin_call() {
    Chain& chain = chains_[below(chains_.size())];
    if (chain.is_running) return;
    calls_.push_back(next_call(chain));
    Call& call = calls_.back();
    call.request.content = call.pieces.data();
    call.request.program = &call.program;
    const TokenCount limit = call.request.prompt_tokens - 1;
    const PrefixCache::Match match = cache_.match(call.request, limit);
    const std::size_t hits = naive_.match(call, limit);
    ASSERT_EQ(match.blocks, static_cast<BlockCount>(hits));
    const BlockCount lacking =
        (call.computed() + rules_.block_tokens - 1) / rules_.block_tokens - match.blocks;
    if (lacking > cache_.free() - match.from_free) {
      if (chain.history == 0) chain.pieces.clear();
      return calls_.pop_back();
    }
    restore(call, match.tokens);
    cache_.acquire(call.request, match, call.hold);
    cache_.take(lacking);
    call.taken = lacking;
    naive_.acquire(call, hits);
    naive_.take(call, lacking);
    chain.is_running = true;
    running_.push_back(&chain);
    chain.last = call;
  }

  void restore(const Call& call, TokenCount matched) {
    TokenCount expected = matched;
    std::int64_t expected_ns = 0;
    const auto entry = host_.find(call.program.chain);
    if (entry != host_.end()) {
      const TokenCount usable =
          whole(std::min<TokenCount>({entry->second.tokens, call.program.history_tokens,
                                      static_cast<TokenCount>(call.request.prompt_tokens) - 1}));
      if (usable > matched) {
        expected = usable;
        expected_ns =
            std::max<std::int64_t>(entry->second.done - naive_.now, 0) + transfer(usable - matched);
      }
      host_.erase(entry);
    }
    const TokenCount cached = ledger_.cached(call.request, matched);
    ASSERT_EQ(cached, expected);
    const Instant now = Instant::nanos(naive_.now);
    ASSERT_EQ(ledger_.admitted(call.request, matched, cached, now).ns(), expected_ns);
    naive_.keep_after_all(call.program.chain);
  }

  void end_call(std::size_t which) {
    Chain& chain = *running_[which];
    running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(which));
    chain.is_running = false;
    Call call = chain.last;
    const BlockCount held = call.hold.blocks;
    const BlockCount copies = cache_.computed(call.request, call.computed(), call.hold);
    static_cast<void>(copies);
    cache_.release(call.request, call.hold, call.taken - (call_blocks(call) - held));
    naive_.publish(call);
    naive_.release(call);
    ledger_.ended({.request = call.request, .computed = call.computed()},
                  Instant::nanos(naive_.now));
    chain.last = call;
    chain.pieces = call.pieces;
    chain.history = static_cast<TokenCount>(call.tokens.size());
    if (call.program.ends_chain && !rules_.keep_ended) {
      naive_.ended += naive_.drop(call);
    } else if (rules_.idle == IdleKv::kRecompute) {
      naive_.recomputed += naive_.drop(call);
    } else if (rules_.idle == IdleKv::kOffload && whole(call.computed()) > 0) {
      const std::int64_t done = naive_.now + transfer(whole(call.computed()));
      host_[call.program.chain] = {.tokens = whole(call.computed()), .done = done};
      naive_.drop_later(call, done, false);
    } else if (rules_.idle == IdleKv::kOffload) {
      naive_.drop(call);
    }
    if (call.program.ends_chain || chain.pieces.size() > 8) {
      chain = {};
    } else if (below(4) == 0) {
      // It forgets what was said last.
      chain.pieces.resize(std::max<std::size_t>(1, chain.pieces.size() / 2));
      chain.history = 0;
      for (const ContentPiece& piece : chain.pieces) chain.history += piece.tokens;
    }
  }
  BlockCount call_blocks(const Call& call) const { return call.computed() / rules_.block_tokens; }

  // The chain goes on nowhere.
  void end_elsewhere(std::size_t which) {
    Chain& chain = chains_[which];
    if (chain.is_running || chain.history == 0) return;
    const auto in = static_cast<std::int64_t>(below(20));
    const Instant at = Instant::nanos(naive_.now + in);
    ledger_.ended_elsewhere(chain.last.request, at);
    if (!rules_.keep_ended) {
      const std::int64_t now = std::exchange(naive_.now, at.ns());
      naive_.keep_after_all(chain.number);
      naive_.now = now;
      naive_.drop_later(chain.last, at.ns(), true);
    }
    host_.erase(chain.number);
    chain = {};
    // What comes next happens when that has happened.
    pass(in);
  }

  void compare() {
    const char* broken = cache_.broken_structure();
    ASSERT_EQ(broken, nullptr) << broken;
    ASSERT_EQ(cache_.free(), naive_.free());
    ASSERT_EQ(cache_.cached(), naive_.idle());
    ASSERT_EQ(usage_.idle_token_ns, static_cast<double>(naive_.idle_ns));
    ASSERT_EQ(usage_.resident_token_ns, static_cast<double>(naive_.resident_ns));
    ASSERT_EQ(usage_.resident_peak, naive_.peak);
    ASSERT_EQ(usage_.evicted_ttl, naive_.expired);
    ASSERT_EQ(usage_.evicted_pressure, naive_.evicted);
    ASSERT_EQ(usage_.evictions_ttl, static_cast<std::int64_t>(naive_.expired_from.size()));
    ASSERT_EQ(usage_.evictions_pressure, static_cast<std::int64_t>(naive_.evicted_from.size()));
    ASSERT_EQ(usage_.dropped_ended, naive_.ended);
    ASSERT_EQ(usage_.dropped_recompute, naive_.recomputed);
  }

  Rules rules_;
  RandomStream random_;
  KvRetentionUsage usage_;
  PrefixCache cache_;
  RetentionLedger ledger_;
  SingleBlocks naive_;
  ContentPiece system_;
  std::vector<Chain> chains_;
  std::vector<Chain*> running_;
  std::deque<Call> calls_;  // where requests point to
  std::map<std::uint32_t, Entry> host_;
  std::uint64_t keys_ = 1;
  std::uint32_t next_chain_ = 0;
  RequestId next_id_ = 0;
};

// The blocks that a preempted sequence found again beyond its content are nobody's when it ends.
TEST(RetentionLedger, OwnTokensAreGoneWithTheirSequence) {
  KvRetentionUsage usage;
  PrefixCache cache(10, 4, 1);
  ReplicaOptions options;
  options.layout.block_tokens = 4;
  options.retention.emplace();
  RetentionLedger ledger(options, &cache, usage);
  const ContentPiece piece{.key = 1, .tokens = 4};
  Sequence sequence{.request = {.prompt_tokens = 12, .content = &piece, .content_pieces = 1}};
  cache.take(3);
  cache.preempt(sequence.request, 12, sequence.hold, 3);
  EXPECT_EQ(cache.cached(), 3);
  cache.acquire(sequence.request, cache.match(sequence.request, 12), sequence.hold);
  cache.release(sequence.request, sequence.hold, 0);
  sequence.preemptions = 1;
  ledger.ended(sequence, Instant::nanos(5));
  EXPECT_EQ(cache.cached(), 1);
  EXPECT_EQ(cache.broken_structure(), nullptr);
}

TEST(RetentionLedger, CountsWhatSingleBlocksCountEveryNanosecond) {
  RandomStream random(3, "rules");
  KvRetentionUsage all;
  for (std::uint64_t trial = 0; trial < 300; ++trial) {
    Rules rules{.block_tokens = static_cast<std::int64_t>(1 + random.below(5)),
                .total = static_cast<BlockCount>(10 + random.below(60)),
                .idle = static_cast<IdleKv>(random.below(3)),
                .keep_ended = random.below(3) == 0,
                .base_latency = static_cast<std::int64_t>(random.below(20)),
                .ns_per_token = static_cast<std::int64_t>(random.below(4))};
    if (random.below(2) == 0) rules.ttl = static_cast<std::int64_t>(random.below(150));
    if (random.below(10) == 0) rules.ttl = 0;
    Comparison comparison(rules, trial);
    for (int step = 0; step < 200; ++step) {
      SCOPED_TRACE("trial " + std::to_string(trial) + ", step " + std::to_string(step));
      comparison.step();
      if (testing::Test::HasFatalFailure()) return;
    }
    const KvRetentionUsage& usage = comparison.usage();
    all.evictions_ttl += usage.evictions_ttl;
    all.evictions_pressure += usage.evictions_pressure;
    all.dropped_ended += usage.dropped_ended;
    all.dropped_recompute += usage.dropped_recompute;
    all.restores += usage.restores;
    all.exposed_ns += usage.exposed_ns;
  }
  // The trials meet what makes this hard.
  EXPECT_GT(all.evictions_ttl, 1000);
  EXPECT_GT(all.evictions_pressure, 1000);
  EXPECT_GT(all.dropped_ended, 1000);
  EXPECT_GT(all.dropped_recompute, 1000);
  EXPECT_GT(all.restores, 500);
  EXPECT_GT(all.exposed_ns, 100);
}

}  // namespace
}  // namespace inferscale
