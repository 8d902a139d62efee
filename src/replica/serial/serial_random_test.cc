// The serial station against a naive one, over random programs.
//
// The naive station keeps a list of every stay of KV tokens in a memory, from when to when, and
// looks through all of it for each question; occupancy is counted nanosecond by nanosecond at the
// end. A prefill of n tokens takes 10 + n ns; a decode step in a context of x takes 10 + x ns.

#include <gtest/gtest.h>

#include <algorithm>

#include "replica/latency/linear.h"
#include "replica/serial/random_chains.h"

namespace inferscale {
namespace {

constexpr std::int64_t kEver = 1'000'000'000'000;

// A stay of tokens in HBM or in host memory: [from, to).
struct Stay {
  std::uint32_t chain = 0;
  TokenCount tokens = 0;
  std::int64_t from = 0;
  std::int64_t to = kEver;
  bool moving = false;    // HBM: until its move out is done
  bool cut = false;       // somebody ended it; else it ends by itself
  std::int64_t done = 0;  // host: of its move out
  bool is_at(std::int64_t at) const { return from <= at && at < to; }
};

struct Times {
  std::int64_t start = 0;
  std::int64_t first = 0;
  std::int64_t finish = 0;
  TokenCount cached = 0;
  bool refused = false;
};

class NaiveStation {
 public:
  explicit NaiveStation(const ChainScenario& scenario)
      : plan_(scenario.chains),
        options_(scenario.options),
        rules_(*options_.retention),
        block_(options_.layout.block_tokens) {}

  void run() {
    const std::size_t chains = plan_.chains().size();
    std::vector<std::size_t> turn(chains, 0);
    std::vector<std::int64_t> ready(chains);
    for (std::size_t c = 0; c < chains; ++c) ready[c] = plan_.chains()[c].begin_ns;
    std::size_t last = chains;
    while (true) {
      std::size_t next = chains;
      for (std::size_t c = 0; c < chains; ++c) {
        if (turn[c] == plan_.chains()[c].calls.size()) continue;
        // Who became ready by the very answer that ends a service comes after those who wait.
        const bool behind = next == last && ready[c] == free_at_;
        if (next == chains || ready[c] < ready[next] || (ready[c] == ready[next] && behind)) {
          next = c;
        }
      }
      if (next == chains) return;
      const Request request = plan_.request(static_cast<std::uint32_t>(next), turn[next]);
      end_ = std::max(end_, ready[next]);
      serve(request, ready[next]);
      if (times[request.id].refused) {
        turn[next] = plan_.chains()[next].calls.size();
        continue;
      }
      last = next;
      ready[next] = free_at_ + plan_.chains()[next].calls[turn[next]].gap_ns;
      ++turn[next];
      end_ = std::max(end_, free_at_);
    }
  }

  std::int64_t end() const { return end_; }
  // Looks back from the end: at what left by itself, and at every nanosecond.
  void look_back() {
    for (const Stay& stay : idle_) {
      if (stay.cut || stay.moving || stay.to > end_) continue;
      usage.evicted_ttl += stay.tokens;
      ++usage.evictions_ttl;
    }
    for (std::int64_t at = 0; at < end_; ++at) {
      const TokenCount idle = at_instant(idle_, at);
      const TokenCount resident = idle + at_instant(held_, at);
      usage.idle_token_ns += static_cast<double>(idle);
      usage.resident_token_ns += static_cast<double>(resident);
      usage.host_token_ns += static_cast<double>(at_instant(host_, at));
      usage.resident_peak = std::max(usage.resident_peak, resident);
    }
  }

  std::map<RequestId, Times> times;
  KvRetentionUsage usage;

 private:
  static TokenCount at_instant(const std::vector<Stay>& stays, std::int64_t at) {
    TokenCount sum = 0;
    for (const Stay& stay : stays) sum += stay.is_at(at) ? stay.tokens : 0;
    return sum;
  }
  TokenCount floor_of(TokenCount tokens) const { return tokens / block_ * block_; }
  std::int64_t transfer(TokenCount tokens) const {
    // Whole numbers: bytes per token and bytes per nanosecond are chosen so.
    return rules_.host.base_latency.ns() +
           tokens * static_cast<std::int64_t>(rules_.kv_bytes_per_token) /
               static_cast<std::int64_t>(rules_.host.bytes_per_ns);
  }

  void serve(const Request& request, std::int64_t ready) {
    const std::uint32_t chain = request.program->chain;
    const TokenCount written = request.prompt_tokens + request.output_tokens - 1;
    const TokenCount need = (written + block_ - 1) / block_ * block_;
    Times& at = times[request.id];
    if (need / block_ > options_.kv_blocks) {
      at.refused = true;
      return;
    }
    at.start = make_room(chain, need, std::max(free_at_, ready));
    std::int64_t wait = 0;
    at.cached = find_history(request, at.start, wait);
    const TokenCount computed = request.prompt_tokens - at.cached;
    at.first = at.start + wait + 10 + computed;
    at.finish = at.first;
    for (std::uint32_t token = 1; token < request.output_tokens; ++token) {
      at.finish += 10 + request.prompt_tokens + token;
    }
    held_.push_back({.tokens = need, .from = at.start, .to = at.finish});
    free_at_ = at.finish;
    leave(*request.program, floor_of(written));
  }

  // When there is room for `need` tokens beside the others', from `at` on.
  std::int64_t make_room(std::uint32_t chain, TokenCount need, std::int64_t at) {
    while (true) {
      TokenCount others = 0;
      Stay* oldest = nullptr;
      std::int64_t first_done = kEver;
      for (Stay& stay : idle_) {
        if (!stay.is_at(at) || stay.chain == chain) continue;
        others += stay.tokens;
        if (stay.moving) {
          first_done = std::min(first_done, stay.to);
        } else if (oldest == nullptr || stay.from < oldest->from) {
          oldest = &stay;
        }
      }
      if (others + need <= options_.kv_blocks * block_) return at;
      if (oldest == nullptr) {
        at = first_done;
        continue;
      }
      oldest->to = at;
      oldest->cut = true;
      usage.evicted_pressure += oldest->tokens;
      ++usage.evictions_pressure;
    }
  }

  TokenCount find_history(const Request& request, std::int64_t at, std::int64_t& wait) {
    const std::uint32_t chain = request.program->chain;
    TokenCount found = 0;
    for (Stay& stay : idle_) {
      if (stay.chain != chain || !stay.is_at(at)) continue;
      stay.to = at;
      stay.cut = true;
      if (!stay.moving) found = stay.tokens;
    }
    const auto usable = [&](TokenCount tokens) {
      return floor_of(std::min<TokenCount>(
          {tokens, request.program->history_tokens, request.prompt_tokens - 1}));
    };
    if (rules_.idle != IdleKv::kOffload) return usable(found);
    for (Stay& stay : host_) {
      if (stay.chain != chain || !stay.is_at(at)) continue;
      stay.to = at;
      const TokenCount cached = usable(stay.tokens);
      if (cached == 0) return 0;
      const std::int64_t rest = std::max<std::int64_t>(0, stay.done - at);
      usage.exposed_ns += static_cast<double>(rest);
      usage.restore_ns += static_cast<double>(transfer(cached));
      ++usage.restores;
      usage.restored += cached;
      wait = rest + transfer(cached);
      return cached;
    }
    return 0;
  }

  void leave(const ProgramCall& call, TokenCount tokens) {
    if (call.ends_chain && !rules_.keep_ended) {
      usage.dropped_ended += tokens;
    } else if (rules_.idle == IdleKv::kRecompute) {
      usage.dropped_recompute += tokens;
    } else if (rules_.idle == IdleKv::kOffload) {
      offload(call.chain, tokens);
    } else if (tokens > 0) {
      const std::int64_t to = rules_.ttl ? free_at_ + rules_.ttl->ns() : kEver;
      idle_.push_back({.chain = call.chain, .tokens = tokens, .from = free_at_, .to = to});
    }
  }

  void offload(std::uint32_t chain, TokenCount tokens) {
    const auto bytes = [&](TokenCount count) {
      return static_cast<double>(count) * rules_.kv_bytes_per_token;
    };
    if (tokens == 0) return;
    if (bytes(tokens) > rules_.host.capacity_bytes) {
      usage.host_evicted += tokens;
      return;
    }
    for (Stay& stay : host_) {  // in the order in which they came
      if (bytes(at_instant(host_, free_at_) + tokens) <= rules_.host.capacity_bytes) break;
      if (!stay.is_at(free_at_)) continue;
      stay.to = free_at_;
      usage.host_evicted += stay.tokens;
    }
    const std::int64_t done = free_at_ + transfer(tokens);
    host_.push_back({.chain = chain, .tokens = tokens, .from = free_at_, .done = done});
    idle_.push_back(
        {.chain = chain, .tokens = tokens, .from = free_at_, .to = done, .moving = true});
    usage.host_peak = std::max(usage.host_peak, at_instant(host_, free_at_));
    ++usage.offloads;
    usage.offloaded += tokens;
    usage.offload_ns += static_cast<double>(transfer(tokens));
  }

  PlannedRequests plan_;
  ReplicaOptions options_;
  KvRetentionOptions rules_;
  TokenCount block_;
  std::int64_t free_at_ = 0;
  std::int64_t end_ = 0;
  std::vector<Stay> idle_;
  std::vector<Stay> held_;
  std::vector<Stay> host_;
};

void expect_same(const KvRetentionUsage& got, const KvRetentionUsage& naive) {
  // Sums of whole numbers below 2^53: exact.
  EXPECT_EQ(got.idle_token_ns, naive.idle_token_ns);
  EXPECT_EQ(got.resident_token_ns, naive.resident_token_ns);
  EXPECT_EQ(got.resident_peak, naive.resident_peak);
  EXPECT_EQ(got.evicted_ttl, naive.evicted_ttl);
  EXPECT_EQ(got.evictions_ttl, naive.evictions_ttl);
  EXPECT_EQ(got.evicted_pressure, naive.evicted_pressure);
  EXPECT_EQ(got.evictions_pressure, naive.evictions_pressure);
  EXPECT_EQ(got.dropped_ended, naive.dropped_ended);
  EXPECT_EQ(got.dropped_recompute, naive.dropped_recompute);
  EXPECT_EQ(got.offloads, naive.offloads);
  EXPECT_EQ(got.offloaded, naive.offloaded);
  EXPECT_EQ(got.offload_ns, naive.offload_ns);
  EXPECT_EQ(got.restores, naive.restores);
  EXPECT_EQ(got.restored, naive.restored);
  EXPECT_EQ(got.restore_ns, naive.restore_ns);
  EXPECT_EQ(got.exposed_ns, naive.exposed_ns);
  EXPECT_EQ(got.host_token_ns, naive.host_token_ns);
  EXPECT_EQ(got.host_evicted, naive.host_evicted);
  EXPECT_EQ(got.host_peak, naive.host_peak);
}

TEST(SerialRandomTest, TheStationDoesWhatANaiveOneDoes) {
  const auto latency = make_linear(
      {.step_us = 0.01, .prefill_us_per_token = 0.001, .decode_ns_per_context_token = 1}, {});
  KvRetentionUsage seen;  // sums, so that nothing is left out by chance
  std::int64_t refused = 0;
  for (std::uint64_t seed = 0; seed < 1'000; ++seed) {
    SCOPED_TRACE(seed);
    const ChainScenario scenario = random_chains(seed);
    NaiveStation naive(scenario);
    naive.run();
    naive.look_back();
    const PlannedRequests plan(scenario.chains);
    ChainDriver driver(plan);
    DurationHistogram gaps;
    const auto replica =
        make_serial_replica(scenario.options, {.latency = *latency, .sink = driver, .gaps = gaps});
    driver.run(*replica);
    ASSERT_EQ(driver.end().ns(), naive.end());
    replica->settle(driver.end());
    ASSERT_EQ(driver.outcomes.size(), naive.times.size());
    for (const auto& [id, outcome] : driver.outcomes) {
      const Times& times = naive.times[id];
      ASSERT_EQ(outcome.status == OutcomeStatus::kRefused, times.refused) << id;
      if (times.refused) {
        ++refused;
        continue;
      }
      ASSERT_EQ(outcome.start.ns(), times.start) << id;
      ASSERT_EQ(outcome.first_token.ns(), times.first) << id;
      ASSERT_EQ(outcome.finish.ns(), times.finish) << id;
      ASSERT_EQ(outcome.cached_tokens, times.cached) << id;
    }
    const KvRetentionUsage& usage = replica->usage().retention;
    expect_same(usage, naive.usage);
    if (testing::Test::HasFailure()) return;
    seen.evictions_ttl += usage.evictions_ttl;
    seen.evictions_pressure += usage.evictions_pressure;
    seen.host_evicted += usage.host_evicted;
    seen.restores += usage.restores;
    seen.exposed_ns += usage.exposed_ns;
  }
  EXPECT_GT(seen.evictions_ttl, 500);
  EXPECT_GT(seen.evictions_pressure, 500);
  EXPECT_GT(seen.host_evicted, 500);
  EXPECT_GT(seen.restores, 500);
  EXPECT_GT(seen.exposed_ns, 500);
  EXPECT_GT(refused, 50);
}

}  // namespace
}  // namespace inferscale
