#include "workload/programs/session_gaps.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace inferscale {
namespace {

// Sums of what a trace says may be beyond all time.
Duration sum(Duration a, Duration b) {
  return std::min(a + b, kEndOfTime - Instant());
}

// Of a chain, from its beginning.
struct ChainPath {
  Duration end;   // its last answer
  Duration span;  // the last answer of it and of all that it spawns
};

ChainPath path_of(const Programs& programs, const ProgramChain& chain,
                  const std::vector<ChainPath>& paths) {
  ChainPath path;
  Duration at;  // of each call's answer in turn
  for (const ProgramTurn& turn : std::span(programs.turns).subspan(chain.first_turn, chain.turns)) {
    path.end = at;
    Duration next = sum(at, turn.gap);
    for (std::uint32_t child : std::span(programs.spawned).subspan(turn.first_spawn, turn.spawns)) {
      const ProgramChain& spawned = programs.chains[child];
      const Duration begin = sum(at, spawned.delay);
      if (spawned.joined) {
        next = std::max(next, sum(sum(begin, paths[child].end), spawned.rest));
      }
      path.span = std::max(path.span, sum(begin, paths[child].span));
    }
    at = next;
  }
  path.span = std::max(path.span, path.end);
  return path;
}

}  // namespace

std::vector<Duration> session_gaps(const Programs& programs) {
  // A chain comes after the one that spawns it: going backwards, what it waits for is reckoned.
  std::vector<ChainPath> paths(programs.chains.size());
  for (std::size_t i = paths.size(); i > 0; --i) {
    paths[i - 1] = path_of(programs, programs.chains[i - 1], paths);
  }
  std::vector<Duration> gaps;
  gaps.reserve(programs.sessions.size());
  for (const ProgramSession& session : programs.sessions) {
    gaps.push_back(paths[session.first_chain].span);
  }
  return gaps;
}

}  // namespace inferscale
