// Chains of calls driven through one replica, for tests: a call arrives when the one before it has
// been answered and its gap is over.

#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "base/check.h"
#include "replica/replica.h"

namespace inferscale {

struct PlannedCall {
  std::uint32_t appended = 0;  // to the history: at least 1
  std::uint32_t output = 1;
  std::int64_t gap_ns = 0;  // after its answer
  std::uint32_t cut = 0;    // tokens at the end of what the call before left that it does not keep
};

struct PlannedChain {
  std::int64_t begin_ns = 0;
  std::vector<PlannedCall> calls;
};

// Builds the requests of chains, with their content: what each call appends and what it answers are
// pieces of its chain alone. Call k of chain c has the id c kMostCalls + k.
class PlannedRequests {
 public:
  static constexpr std::uint32_t kMostCalls = 1000;

  explicit PlannedRequests(const std::vector<PlannedChain>& chains) : chains_(chains) {
    for (std::uint32_t chain = 0; chain < chains.size(); ++chain) add_chain(chain);
  }
  PlannedRequests(const PlannedRequests&) = delete;
  PlannedRequests& operator=(const PlannedRequests&) = delete;

  const std::vector<PlannedChain>& chains() const { return chains_; }
  Request request(std::uint32_t chain, std::size_t turn) const { return requests_[chain][turn]; }

 private:
  void add_chain(std::uint32_t chain) {
    const std::vector<PlannedCall>& calls = chains_[chain].calls;
    std::vector<ContentPiece>& pieces = pieces_.emplace_back();
    std::vector<ProgramCall>& programs = programs_.emplace_back();
    for (std::size_t turn = 0; turn < calls.size(); ++turn) {
      const std::uint64_t key = (static_cast<std::uint64_t>(chain) + 1) * 1'000'000 + 2 * turn;
      pieces.push_back({.key = key, .tokens = calls[turn].appended});
      pieces.push_back({.key = key + 1, .tokens = calls[turn].output});
    }
    std::vector<Request>& requests = requests_.emplace_back();
    std::uint32_t left = 0;
    programs.reserve(calls.size());
    for (std::uint32_t turn = 0; turn < calls.size(); ++turn) {
      const PlannedCall& call = calls[turn];
      const std::uint32_t history = left - call.cut;
      programs.push_back({.chain = chain,
                          .history_tokens = history,
                          .own_pieces_from = 0,
                          .ends_chain = turn + 1 == calls.size()});
      requests.push_back({.id = chain * kMostCalls + turn,
                          .prompt_tokens = history + call.appended,
                          .output_tokens = call.output,
                          .max_tokens = call.output,
                          .content = pieces.data(),
                          .content_pieces = 2 * turn + 1,
                          .output_is_content = true,
                          .session = chain,
                          .program = &programs.back()});
      left = history + call.appended + call.output;
    }
  }

  std::vector<PlannedChain> chains_;
  std::vector<std::vector<ContentPiece>> pieces_;
  std::vector<std::vector<ProgramCall>> programs_;
  std::vector<std::vector<Request>> requests_;
};

// At one instant arrivals come first, by id, then callers who go, then wake-ups. A chain whose
// caller has gone makes no further call.
class ChainDriver final : public ReplicaSink {
 public:
  explicit ChainDriver(const PlannedRequests& plan) : plan_(plan) {
    for (std::uint32_t chain = 0; chain < plan.chains().size(); ++chain) {
      arrivals_.emplace(plan.chains()[chain].begin_ns, chain * PlannedRequests::kMostCalls);
    }
  }

  void run(Replica& replica) {
    while (!arrivals_.empty() || replica.next_wake() != Instant::never()) {
      const std::int64_t arrival = arrivals_.empty() ? kNever : arrivals_.begin()->first;
      const std::int64_t next = std::min(arrival, replica.next_wake().ns());
      const std::int64_t leaving = leavers.empty() ? kNever : leavers.begin()->first;
      if (leaving < arrival && leaving <= next) {
        replica.cancel(leavers.begin()->second, Instant::nanos(leaving));
        leavers.erase(leavers.begin());
        end_ = Instant::nanos(leaving);
      } else if (!arrivals_.empty() && arrivals_.begin()->first <= replica.next_wake().ns()) {
        const auto [at, id] = *arrivals_.begin();
        arrivals_.erase(arrivals_.begin());
        Request request =
            plan_.request(id / PlannedRequests::kMostCalls, id % PlannedRequests::kMostCalls);
        request.arrival = Instant::nanos(at);
        replica.enqueue(request);
        end_ = request.arrival;
      } else {
        end_ = replica.next_wake();
        replica.wake(end_);
      }
      const char* const broken = replica.broken_invariant();
      CHECK(broken == nullptr) << broken;
    }
  }

  void record(RequestId id, const Outcome& outcome) override {
    outcomes[id] = outcome;
    const std::uint32_t chain = id / PlannedRequests::kMostCalls;
    const std::uint32_t turn = id % PlannedRequests::kMostCalls;
    const std::vector<PlannedCall>& calls = plan_.chains()[chain].calls;
    if (!outcome.finished() || turn + 1 == calls.size()) return;
    arrivals_.emplace(outcome.finish.ns() + calls[turn].gap_ns, id + 1);
  }
  void prefilled(const Handoff&) override {}
  void reserved(RequestId, TokenCount, Instant) override {}

  Instant end() const { return end_; }  // the last event

  std::map<RequestId, Outcome> outcomes;
  std::set<std::pair<std::int64_t, RequestId>> leavers;  // whose callers go, and when

 private:
  static constexpr std::int64_t kNever = Instant::never().ns();

  const PlannedRequests& plan_;
  std::set<std::pair<std::int64_t, RequestId>> arrivals_;
  Instant end_;
};

}  // namespace inferscale
