#include "workload/programs/generate_programs.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/random.h"
#include "workload/generated_source.h"
#include "workload/programs/session_draws.h"
#include "workload/trace_content.h"

namespace inferscale {
namespace {

constexpr int kIndexBits = 16;  // of a piece within its chain
static_assert(2 * kMostTurns < std::uint32_t{1} << kIndexBits);

// A run stops at kEndOfTime, so a session that begins later would never be seen.
Instant next_begin(ArrivalProcess& arrivals) {
  return std::min(arrivals.next(), kEndOfTime - Duration::nanos(1));
}

// Keeps the turns whose prompt and answer fit behind `context`; the first is cut until it does.
// REQUIRES: two tokens fit.
void fit_into_context(std::vector<DrawnTurn>& turns, TokenCount context, TokenCount most) {
  DrawnTurn& first = turns.front();
  first.fresh = std::min(first.fresh, most - context - 1);
  first.answer = std::min(first.answer, most - context - first.fresh);
  std::size_t kept = 0;
  for (; kept < turns.size(); ++kept) {
    context += turns[kept].fresh + turns[kept].answer;
    if (context > most) break;
  }
  turns.resize(kept);
  turns.back().gap = Duration();
  turns.back().waits_for_person = false;
}

class ProgramMaker {
 public:
  ProgramMaker(const GeneratedSessions& options, std::uint64_t run_seed);
  void make_session(Instant begin);
  Programs finish();

 private:
  // What a chain's prompts begin with: pieces that are there already.
  struct Beginning {
    std::uint64_t first = 0;
    std::uint32_t pieces = 0;
    TokenCount tokens = 0;
  };

  bool forks() const { return options_.spawns && options_.spawns->fork; }
  Beginning system_prompt() const;
  // All that the main chain had when call `turn` of it had been answered.
  Beginning behind(std::uint32_t turn) const;
  void add_chain(std::vector<DrawnTurn>& turns, const Beginning& beginning);
  void spawn(const DrawnChain& chain);

  const GeneratedSessions& options_;
  SessionDraws draws_;
  std::vector<DrawnTurn> main_;
  std::vector<DrawnChain> spawned_;
  std::uint32_t main_first_turn_ = 0;
  Programs programs_;
  std::uint64_t sessions_cut_ = 0;
  std::uint64_t forks_left_out_ = 0;
};

ProgramMaker::ProgramMaker(const GeneratedSessions& options, std::uint64_t run_seed)
    : options_(options), draws_(options, run_seed) {
  CHECK(options.system_prompt_tokens + TokenCount{2} <= options.max_context_tokens)
      << "a system prompt of " << options.system_prompt_tokens << " tokens";
  CHECK(options.turns.max <= kMostTurns) << options.turns.max << " turns";
  if (options.spawns) {
    CHECK(options.spawns->turns.max <= kMostTurns) << options.spawns->turns.max << " turns";
  }
  if (options.system_prompt_tokens > 0) {
    programs_.pieces.push_back(
        {content_key(stable_hash("session_system_prompt"), 0), options.system_prompt_tokens});
  }
}

ProgramMaker::Beginning ProgramMaker::system_prompt() const {
  if (options_.system_prompt_tokens == 0) return {};
  return {.first = 0, .pieces = 1, .tokens = options_.system_prompt_tokens};
}

ProgramMaker::Beginning ProgramMaker::behind(std::uint32_t turn) const {
  const ProgramTurn& made = programs_.turns[main_first_turn_ + turn];
  return {.first = made.content_begin,
          .pieces = made.content_pieces + 1,
          .tokens = TokenCount{made.prompt_tokens} + made.output_tokens};
}

void ProgramMaker::add_chain(std::vector<DrawnTurn>& turns, const Beginning& beginning) {
  fit_into_context(turns, beginning.tokens, options_.max_context_tokens);
  const auto index = static_cast<std::uint32_t>(programs_.chains.size());
  const std::uint64_t scope = stable_hash("sessions") + (std::uint64_t{index} << kIndexBits);
  const std::uint64_t first_piece = programs_.pieces.size();
  for (std::uint32_t i = 0; i < beginning.pieces; ++i) {
    const ContentPiece piece = programs_.pieces[beginning.first + i];
    programs_.pieces.push_back(piece);
  }
  programs_.chains.push_back({.session = static_cast<std::uint32_t>(programs_.sessions.size()),
                              .first_turn = static_cast<std::uint32_t>(programs_.turns.size()),
                              .turns = static_cast<std::uint32_t>(turns.size())});
  TokenCount context = beginning.tokens;
  for (std::uint32_t k = 0; k < turns.size(); ++k) {
    const DrawnTurn& drawn = turns[k];
    const auto fresh = static_cast<std::uint32_t>(drawn.fresh);
    const auto answer = static_cast<std::uint32_t>(drawn.answer);
    ProgramTurn& turn = programs_.turns.emplace_back();
    turn.call = {.chain = index,
                 .history_tokens = k == 0 ? 0 : static_cast<std::uint32_t>(context),
                 .own_pieces_from = beginning.pieces,
                 .ends_chain = k + 1 == turns.size()};
    turn.prompt_tokens = static_cast<std::uint32_t>(context + fresh);
    turn.output_tokens = answer;
    turn.content_begin = first_piece;
    turn.content_pieces = beginning.pieces + 2 * k + 1;
    turn.output_is_content = true;
    turn.waits_for_person = drawn.waits_for_person;
    turn.gap = drawn.gap;
    turn.first_spawn = static_cast<std::uint32_t>(programs_.spawned.size());
    programs_.pieces.push_back({content_key(scope, 2 * k), fresh});
    programs_.pieces.push_back({content_key(scope, 2 * k + 1), answer});
    context += fresh + answer;
  }
}

void ProgramMaker::spawn(const DrawnChain& chain) {
  ProgramTurn& turn = programs_.turns[main_first_turn_ + chain.spawned_by];
  if (turn.spawns == 0) turn.first_spawn = static_cast<std::uint32_t>(programs_.spawned.size());
  const Beginning beginning = forks() ? behind(chain.spawned_by) : system_prompt();
  if (beginning.tokens + 2 > options_.max_context_tokens) {
    ++forks_left_out_;
    return;
  }
  ++turn.spawns;
  // Until the chain's next call, which they are joined by, its forks use all that this one leaves.
  if (forks()) turn.call.own_pieces_from = turn.content_pieces + 1;
  programs_.spawned.push_back(static_cast<std::uint32_t>(programs_.chains.size()));
  std::vector<DrawnTurn> turns = chain.turns;
  add_chain(turns, beginning);
}

void ProgramMaker::make_session(Instant begin) {
  draws_.draw(main_, spawned_);
  const std::size_t drawn = main_.size();
  const auto first_chain = static_cast<std::uint32_t>(programs_.chains.size());
  main_first_turn_ = static_cast<std::uint32_t>(programs_.turns.size());
  add_chain(main_, system_prompt());
  if (main_.size() < drawn) ++sessions_cut_;
  // Its last call spawns nothing: nobody would wait for it.
  for (const DrawnChain& chain : spawned_) {
    if (chain.spawned_by + 1 < main_.size()) spawn(chain);
  }
  programs_.sessions.push_back(
      {.begin = begin,
       .first_chain = first_chain,
       .chains = static_cast<std::uint32_t>(programs_.chains.size()) - first_chain});
}

Programs ProgramMaker::finish() {
  const std::string limit = std::to_string(options_.max_context_tokens);
  programs_.sessions_cut = sessions_cut_;
  if (sessions_cut_ > 0) {
    programs_.notes.push_back(std::to_string(sessions_cut_) + " of " +
                              std::to_string(programs_.sessions.size()) +
                              " sessions end before a call whose prompt and answer would be longer "
                              "than max_context_tokens (" +
                              limit + ").");
  }
  if (forks_left_out_ > 0) {
    programs_.notes.push_back(
        std::to_string(forks_left_out_) +
        " forks are left out: what they begin with fills max_context_tokens (" + limit + ").");
  }
  return std::move(programs_);
}

}  // namespace

Programs generate_programs(const GeneratedSessions& options, const ArrivalOptions& arrivals,
                           std::uint64_t run_seed) {
  const auto process = make_arrivals(arrivals, RandomStream(run_seed, "arrivals"));
  ProgramMaker maker(options, run_seed);
  for (std::uint64_t i = 0; i < options.count; ++i) maker.make_session(next_begin(*process));
  return maker.finish();
}

Programs begin_sessions(const Programs& recorded, const ArrivalOptions& arrivals,
                        std::uint64_t run_seed) {
  Programs programs = recorded;
  const auto process = make_arrivals(arrivals, RandomStream(run_seed, "session_arrivals"));
  for (ProgramSession& session : programs.sessions) session.begin = next_begin(*process);
  programs.notes.emplace_back(
      "The sessions begin by workload.arrivals, in the order of the trace: when they began beside "
      "each other is not in it.");
  return programs;
}

}  // namespace inferscale
