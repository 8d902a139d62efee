#include "workload/readers/sessions/recorded_sessions.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>

namespace inferscale {
namespace {

using Pieces = std::vector<ContentPiece>;

// Turns recorded sessions into programs. Prompts of a chain mostly go on as the one before them
// did, so turns share their pieces: each adds what its prompt has behind the pieces of the one
// before.
class Builder {
 public:
  explicit Builder(const RecordedTrace& trace) : trace_(trace) {}
  Programs build();

 private:
  void add_session(const RecordedSession& session);
  void add_chain(const RecordedChain& recorded, std::uint32_t index, std::uint32_t first_chain);
  void add_spawns(std::uint32_t chain, std::uint32_t call, ProgramTurn& turn);
  void add_content(const RecordedCall& call, ProgramTurn& turn);
  void prompt_pieces(const RecordedCall& call, Pieces& pieces) const;
  void find_own_pieces();

  struct Spawn {
    std::uint32_t chain;  // of the session
    std::uint32_t call;
    std::uint32_t child;  // of all
    auto operator<=>(const Spawn&) const = default;
  };
  struct Use {
    std::uint64_t key;
    std::uint32_t chain;
    auto operator<=>(const Use&) const = default;
  };

  const RecordedTrace& trace_;
  Programs programs_;
  Pieces prompt_;
  Pieces answered_;
  std::uint64_t line_begin_ = 0;  // of the chain's latest pieces, up to the end of all
  std::vector<Use> uses_;         // of pieces, by chains
  std::vector<Spawn> spawns_;     // of the session, in the order of its calls
  std::size_t next_spawn_ = 0;
};

void Builder::prompt_pieces(const RecordedCall& call, Pieces& pieces) const {
  pieces.clear();
  if (call.content == RecordedCall::kNone) return;
  if (trace_.blocks.any()) {
    const std::span<const ContentPiece> row = trace_.blocks.of(call.content);
    pieces.assign(row.begin(), row.end());
  } else {
    trace_.tree.append_pieces(call.content, trace_.tree_block_tokens, pieces);
  }
}

void Builder::add_content(const RecordedCall& call, ProgramTurn& turn) {
  prompt_pieces(call, prompt_);
  turn.content_pieces = static_cast<std::uint32_t>(prompt_.size());
  if (call.answered_content != RecordedCall::kNone) {
    answered_.clear();
    trace_.tree.append_pieces(call.answered_content, trace_.tree_block_tokens, answered_);
    // An answer that a later prompt parts is not one piece: then it is not named.
    turn.output_is_content = answered_.size() == prompt_.size() + 1;
    if (turn.output_is_content) prompt_.push_back(answered_.back());
  }
  Pieces& all = programs_.pieces;
  const std::span<const ContentPiece> line = std::span(all).subspan(line_begin_);
  const bool goes_on =
      line.size() <= prompt_.size() && std::equal(line.begin(), line.end(), prompt_.begin(),
                                                  [](const ContentPiece& a, const ContentPiece& b) {
                                                    return a.key == b.key && a.tokens == b.tokens;
                                                  });
  std::size_t known = line.size();
  if (!goes_on) {
    line_begin_ = all.size();
    known = 0;
  }
  turn.content_begin = line_begin_;
  for (std::size_t i = known; i < prompt_.size(); ++i) {
    all.push_back(prompt_[i]);
    uses_.push_back({prompt_[i].key, turn.call.chain});
  }
}

void Builder::add_spawns(std::uint32_t chain, std::uint32_t call, ProgramTurn& turn) {
  turn.first_spawn = static_cast<std::uint32_t>(programs_.spawned.size());
  for (; next_spawn_ < spawns_.size(); ++next_spawn_) {
    const Spawn& spawn = spawns_[next_spawn_];
    if (spawn.chain != chain || spawn.call != call) return;
    programs_.spawned.push_back(spawn.child);
    ++turn.spawns;
  }
}

void Builder::add_chain(const RecordedChain& recorded, std::uint32_t index,
                        std::uint32_t first_chain) {
  ProgramChain& chain = programs_.chains.emplace_back();
  chain.session = static_cast<std::uint32_t>(programs_.sessions.size() - 1);
  chain.first_turn = static_cast<std::uint32_t>(programs_.turns.size());
  chain.turns = static_cast<std::uint32_t>(recorded.calls.size());
  chain.delay = recorded.delay;
  chain.rest = recorded.rest;
  chain.joined = recorded.joined;
  line_begin_ = programs_.pieces.size();
  for (std::uint32_t k = 0; k < chain.turns; ++k) {
    const RecordedCall& call = recorded.calls[k];
    ProgramTurn& turn = programs_.turns.emplace_back();
    turn.call.chain = first_chain + index;
    turn.call.history_tokens = call.history_tokens;
    turn.call.ends_chain = k + 1 == chain.turns;
    turn.prompt_tokens = call.prompt_tokens;
    turn.output_tokens = call.output_tokens;
    if (!turn.call.ends_chain) {
      turn.gap = call.gap;
      turn.waits_for_person = call.waits_for_person;
    }
    add_content(call, turn);
    add_spawns(index, k, turn);
  }
}

void Builder::add_session(const RecordedSession& session) {
  const auto first_chain = static_cast<std::uint32_t>(programs_.chains.size());
  programs_.sessions.push_back(
      {.first_chain = first_chain, .chains = static_cast<std::uint32_t>(session.chains.size())});
  if (!session.name.empty()) programs_.session_names.push_back(session.name);
  spawns_.clear();
  next_spawn_ = 0;
  for (std::uint32_t i = 1; i < session.chains.size(); ++i) {
    spawns_.push_back({session.chains[i].spawner, session.chains[i].spawner_call, first_chain + i});
  }
  std::sort(spawns_.begin(), spawns_.end());
  for (std::uint32_t i = 0; i < session.chains.size(); ++i) {
    add_chain(session.chains[i], i, first_chain);
  }
}

// Keys stand for whole beginnings, so what several chains have in common stands first.
void Builder::find_own_pieces() {
  std::sort(uses_.begin(), uses_.end());
  std::vector<std::uint64_t> shared;
  for (std::size_t i = 1; i < uses_.size(); ++i) {
    const bool other_chain =
        uses_[i].key == uses_[i - 1].key && uses_[i].chain != uses_[i - 1].chain;
    if (other_chain && (shared.empty() || shared.back() != uses_[i].key)) {
      shared.push_back(uses_[i].key);
    }
  }
  if (shared.empty()) return;
  for (ProgramTurn& turn : programs_.turns) {
    const auto pieces =
        std::span<const ContentPiece>(programs_.pieces)
            .subspan(turn.content_begin, turn.content_pieces + turn.output_is_content);
    const auto own =
        std::partition_point(pieces.begin(), pieces.end(), [&](const ContentPiece& piece) {
          return std::binary_search(shared.begin(), shared.end(), piece.key);
        });
    turn.call.own_pieces_from = static_cast<std::uint32_t>(own - pieces.begin());
  }
}

Programs Builder::build() {
  for (const RecordedSession& session : trace_.sessions) add_session(session);
  find_own_pieces();
  programs_.pieces.shrink_to_fit();
  programs_.notes = trace_.notes;
  return std::move(programs_);
}

}  // namespace

std::string counted(std::uint64_t n, const std::string& one, const std::string& many) {
  return std::to_string(n) + " " + (n == 1 ? one : many);
}

Programs build_programs(const RecordedTrace& trace) {
  return Builder(trace).build();
}

}  // namespace inferscale
