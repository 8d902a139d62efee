// Small agent programs for tests, written as lists of lists.

#pragma once

#include <cstdint>
#include <vector>

#include "workload/programs/programs.h"

namespace inferscale {

struct TestCall {
  std::int64_t gap = 0;               // ns, after its answer; of a last call it does not count
  std::vector<std::uint32_t> spawns;  // chains of the same session, the main one being 0
};

struct TestChain {
  std::vector<TestCall> calls;
  std::int64_t delay = 0;
  bool joined = true;
  std::int64_t rest = 0;
};

struct TestSession {
  std::int64_t begin = 0;
  std::vector<TestChain> chains;
};

// Call k of a chain has 10 (k + 1) prompt tokens and 3 output tokens. Of a later prompt all but 7
// tokens are history. Nothing is said about content.
inline Programs assemble(const std::vector<TestSession>& sessions) {
  Programs programs;
  for (const TestSession& session : sessions) {
    const auto first_chain = static_cast<std::uint32_t>(programs.chains.size());
    for (const TestChain& chain : session.chains) {
      const auto index = static_cast<std::uint32_t>(programs.chains.size());
      programs.chains.push_back({.session = static_cast<std::uint32_t>(programs.sessions.size()),
                                 .first_turn = static_cast<std::uint32_t>(programs.turns.size()),
                                 .turns = static_cast<std::uint32_t>(chain.calls.size()),
                                 .delay = Duration::nanos(chain.delay),
                                 .rest = Duration::nanos(chain.rest),
                                 .joined = chain.joined});
      for (std::uint32_t k = 0; k < chain.calls.size(); ++k) {
        const bool last = k + 1 == chain.calls.size();
        ProgramTurn& turn = programs.turns.emplace_back();
        turn.call.chain = index;
        turn.call.history_tokens = k == 0 ? 0 : 10 * k + 3;
        turn.call.ends_chain = last;
        turn.prompt_tokens = 10 * (k + 1);
        turn.output_tokens = 3;
        turn.gap = Duration::nanos(last ? 0 : chain.calls[k].gap);
        turn.first_spawn = static_cast<std::uint32_t>(programs.spawned.size());
        turn.spawns = static_cast<std::uint32_t>(chain.calls[k].spawns.size());
        for (const std::uint32_t child : chain.calls[k].spawns) {
          programs.spawned.push_back(first_chain + child);
        }
      }
    }
    programs.sessions.push_back({.begin = Instant::nanos(session.begin),
                                 .first_chain = first_chain,
                                 .chains = static_cast<std::uint32_t>(session.chains.size())});
  }
  return programs;
}

}  // namespace inferscale
