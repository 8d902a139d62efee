// Agent programs in memory: sessions of chains of calls, and when each may begin.
//
//   session ── main chain:   call 0 ── gap ── call 1 ── gap ── call 2
//                              │                ^
//                              └─ spawns chain: call 0 ── gap ── call 1 ┘ joined
//
// Call k + 1 of a chain is ready when call k has been answered and its gap (its tools, or the
// person) is over, and every joined chain that call k spawned has been answered to its end and the
// rest behind that is over (what the agent does with the result before it calls again):
//
//   ready(k + 1) = max(finish(k) + gap(k), finish + rest of each joined chain that k spawned)
//
// A spawned chain's first call is ready `delay` after the call that spawned it was answered. A turn
// that makes several calls at once is one that spawns several joined chains of one call each.
//
// The trace of a run is fixed before the run: lengths, gaps and spawns do not depend on how calls
// are served, only their instants do. So every deployment faces the same programs.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/time.h"
#include "core/request.h"

namespace inferscale {

// A cache line: the turns of a run are many, and what happens at one touches no other.
struct alignas(64) ProgramTurn {
  ProgramCall call;
  std::uint32_t prompt_tokens = 0;
  std::uint32_t output_tokens = 0;
  // What the prompt shares: pieces[content_begin .. + content_pieces), as in Request.
  std::uint64_t content_begin = 0;
  std::uint32_t content_pieces = 0;
  bool output_is_content = false;
  bool waits_for_person = false;  // its gap is a person's time rather than a tool's
  Duration gap;                   // after its answer; of the last call of a chain: zero
  std::uint32_t first_spawn = 0;  // chains that it spawns: spawned[first_spawn .. + spawns)
  std::uint32_t spawns = 0;
};

static_assert(sizeof(ProgramTurn) == 64);

struct ProgramChain {
  std::uint32_t session = 0;
  std::uint32_t first_turn = 0;  // turns[first_turn .. + turns)
  std::uint32_t turns = 0;       // at least 1
  Duration delay;                // after the answer of the call that spawns it
  Duration rest;                 // from its end until the spawning chain's next call may begin
  bool joined = true;            // the spawning chain's next call waits for its end and its rest
};

struct ProgramSession {
  Instant begin;
  std::uint32_t tenant = Request::kNobody;
  std::uint32_t first_chain = 0;  // the main chain; chains[first_chain .. + chains) are its own
  std::uint32_t chains = 0;
};

// What a trace of sessions is known to hold twice.
struct ProgramDuplicates {
  std::uint32_t duplicates = 0;   // sessions with exactly the calls of an earlier one
  std::uint32_t dropped = 0;      // of these, left out as the options wanted
  std::uint32_t fork_groups = 0;  // groups of sessions that begin alike and go on differently
  std::uint32_t forks = 0;        // sessions in them
};

struct Programs {
  std::vector<ProgramSession> sessions;  // in order of their beginning
  std::vector<ProgramChain> chains;      // by session
  std::vector<ProgramTurn> turns;        // by chain
  std::vector<std::uint32_t> spawned;    // chains, by the call that spawns them
  std::vector<ContentPiece> pieces;
  std::vector<std::string> session_names;  // empty: session_0, ...
  // How they came about, and how they differ from a file's, in sentences for people.
  std::vector<std::string> notes;
  std::size_t sessions_cut = 0;  // that end before a call which would be too long
  ProgramDuplicates duplicates;
};

// What is broken about the structure (an index out of range, a chain that nobody spawns, sessions
// out of order, history longer than what the call before left), or null.
const char* broken_structure(const Programs& programs);

}  // namespace inferscale
