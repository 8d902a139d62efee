#include "workload/programs/programs.h"

#include <algorithm>
#include <cstddef>
#include <span>

namespace inferscale {
namespace {

bool is_span(Duration duration) {
  return Duration() <= duration && Instant() + duration < kEndOfTime;
}

const char* broken_content(const Programs& programs, const ProgramTurn& turn) {
  const std::uint64_t pieces = std::uint64_t{turn.content_pieces} + turn.output_is_content;
  if (turn.content_begin > programs.pieces.size() ||
      pieces > programs.pieces.size() - turn.content_begin) {
    return "a call's content is not among the pieces";
  }
  std::uint64_t tokens = 0;
  for (std::uint32_t i = 0; i < turn.content_pieces; ++i) {
    tokens += programs.pieces[turn.content_begin + i].tokens;
  }
  if (tokens > turn.prompt_tokens) return "a call's content is longer than its prompt";
  if (turn.call.own_pieces_from > pieces) return "a call owns pieces that it does not have";
  return nullptr;
}

// `before`: the call before it in its chain; null of the first.
const char* broken_turn(const Programs& programs, const ProgramTurn& turn,
                        const ProgramTurn* before) {
  if (turn.prompt_tokens == 0 || turn.output_tokens == 0) return "a call without tokens";
  const std::uint64_t left =
      before == nullptr ? 0 : std::uint64_t{before->prompt_tokens} + before->output_tokens;
  if (turn.call.history_tokens > left) {
    return "a call's history is longer than what the call before it left";
  }
  if (turn.call.history_tokens > turn.prompt_tokens) {
    return "a call's history is longer than its prompt";
  }
  if (!is_span(turn.gap)) return "a gap below zero, or out of range";
  if (turn.call.ends_chain && turn.gap != Duration()) return "a gap after a chain's last call";
  return broken_content(programs, turn);
}

const char* broken_chain(const Programs& programs, std::uint32_t index) {
  const ProgramChain& chain = programs.chains[index];
  if (!is_span(chain.delay)) return "a chain's delay below zero, or out of range";
  if (!is_span(chain.rest)) return "a chain's rest below zero, or out of range";
  for (std::uint32_t k = 0; k < chain.turns; ++k) {
    const ProgramTurn* turn = &programs.turns[chain.first_turn + k];
    if (turn->call.chain != index) return "a call says that it is of another chain";
    if (turn->call.ends_chain != (k + 1 == chain.turns)) {
      return "a chain's last call, and no other, ends it";
    }
    const char* broken = broken_turn(programs, *turn, k == 0 ? nullptr : turn - 1);
    if (broken != nullptr) return broken;
  }
  return nullptr;
}

// Sessions, chains and turns follow one another without gaps.
const char* broken_order(const Programs& programs) {
  constexpr std::size_t kMost = UINT32_MAX;
  if (programs.turns.size() >= kMost || programs.chains.size() >= kMost) return "too many calls";
  std::uint64_t chains = 0;
  std::uint64_t turns = 0;
  Instant begin;
  for (std::size_t s = 0; s < programs.sessions.size(); ++s) {
    const ProgramSession& session = programs.sessions[s];
    if (session.begin < begin) return "sessions are not in order of their beginning";
    begin = session.begin;
    if (session.chains == 0 || session.first_chain != chains ||
        session.chains > programs.chains.size() - chains) {
      return "a session's chains do not follow those of the one before it";
    }
    for (const ProgramChain& chain :
         std::span(programs.chains).subspan(session.first_chain, session.chains)) {
      if (chain.session != s) return "a chain says that it is of another session";
      if (chain.turns == 0 || chain.first_turn != turns ||
          chain.turns > programs.turns.size() - turns) {
        return "a chain's calls do not follow those of the one before it";
      }
      turns += chain.turns;
    }
    chains += session.chains;
  }
  if (begin >= kEndOfTime) return "a session begins out of range";
  if (chains != programs.chains.size()) return "a chain of no session";
  if (turns != programs.turns.size()) return "a call of no chain";
  return nullptr;
}

// A chain comes after the one that spawns it, so that no chain waits for itself.
const char* broken_spawns(const Programs& programs) {
  std::vector<bool> spawned(programs.chains.size(), false);
  for (const ProgramTurn& turn : programs.turns) {
    if (turn.first_spawn > programs.spawned.size() ||
        turn.spawns > programs.spawned.size() - turn.first_spawn) {
      return "a call spawns chains that are not listed";
    }
    for (std::uint32_t child : std::span(programs.spawned).subspan(turn.first_spawn, turn.spawns)) {
      if (child >= programs.chains.size()) return "a call spawns a chain that is not there";
      if (child <= turn.call.chain) return "a chain comes before the one that spawns it";
      if (programs.chains[child].session != programs.chains[turn.call.chain].session) {
        return "a call spawns a chain of another session";
      }
      if (spawned[child]) return "a chain is spawned twice";
      spawned[child] = true;
      const bool is_awaited = programs.chains[child].joined && !turn.call.ends_chain;
      if (!is_awaited && programs.chains[child].rest != Duration()) {
        return "a rest behind a chain that nobody waits for";
      }
    }
  }
  for (const ProgramSession& session : programs.sessions) {
    if (spawned[session.first_chain]) return "a main chain is spawned";
    for (std::uint32_t i = 1; i < session.chains; ++i) {
      if (!spawned[session.first_chain + i]) return "a chain that nobody spawns";
    }
  }
  return nullptr;
}

}  // namespace

const char* broken_structure(const Programs& programs) {
  if (const char* broken = broken_order(programs)) return broken;
  if (!programs.session_names.empty() &&
      programs.session_names.size() != programs.sessions.size()) {
    return "as many names as sessions are wanted, or none";
  }
  for (std::uint32_t i = 0; i < programs.chains.size(); ++i) {
    if (const char* broken = broken_chain(programs, i)) return broken;
  }
  return broken_spawns(programs);
}

}  // namespace inferscale
