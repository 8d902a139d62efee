#include "workload/programs/session_draws.h"

#include <cstddef>

namespace inferscale {

SessionDraws::SpawnDraws::SpawnDraws(const SpawnOptions& options, const GeneratedSessions& sessions,
                                     std::uint64_t run_seed)
    : probability(options.probability),
      whether(run_seed, "session_spawns"),
      chains(options.calls, RandomStream(run_seed, "spawned_chains")),
      turns(options.turns, RandomStream(run_seed, "spawned_turns")),
      first_prompts(options.first_prompt_tokens, RandomStream(run_seed, "spawned_first_prompts")),
      appended(sessions.appended_tokens, RandomStream(run_seed, "spawned_appended")),
      outputs(sessions.output_tokens, RandomStream(run_seed, "spawned_outputs")),
      gaps(sessions.tool_gap, RandomStream(run_seed, "spawned_gaps")) {}

void SessionDraws::SpawnDraws::draw(std::uint32_t turn, std::vector<DrawnChain>& spawned) {
  const std::uint32_t count = chains.draw();
  for (std::uint32_t i = 0; i < count; ++i) {
    DrawnChain& chain = spawned.emplace_back();
    chain.spawned_by = turn;
    chain.turns.resize(turns.draw());
    for (std::size_t k = 0; k < chain.turns.size(); ++k) {
      chain.turns[k].fresh = k == 0 ? first_prompts.draw() : appended.draw();
      chain.turns[k].answer = outputs.draw();
      if (k + 1 < chain.turns.size()) chain.turns[k].gap = gaps.draw();
    }
  }
}

SessionDraws::SessionDraws(const GeneratedSessions& options, std::uint64_t run_seed)
    : person_share_(options.person_share),
      turns_(options.turns, RandomStream(run_seed, "session_turns")),
      first_prompts_(options.first_prompt_tokens, RandomStream(run_seed, "session_first_prompts")),
      appended_(options.appended_tokens, RandomStream(run_seed, "session_appended")),
      outputs_(options.output_tokens, RandomStream(run_seed, "session_outputs")),
      gap_kinds_(run_seed, "session_gap_kinds"),
      tool_gaps_(options.tool_gap, RandomStream(run_seed, "session_tool_gaps")),
      person_gaps_(options.person_gap, RandomStream(run_seed, "session_person_gaps")) {
  if (options.spawns) spawns_.emplace(*options.spawns, options, run_seed);
}

void SessionDraws::draw(std::vector<DrawnTurn>& main, std::vector<DrawnChain>& spawned) {
  spawned.clear();
  main.assign(turns_.draw(), DrawnTurn());
  for (std::uint32_t k = 0; k < main.size(); ++k) {
    DrawnTurn& turn = main[k];
    turn.fresh = k == 0 ? first_prompts_.draw() : appended_.draw();
    turn.answer = outputs_.draw();
    if (k + 1 == main.size()) return;
    // Both are drawn, so that a gap is the same whatever the share of people.
    const Duration tool = tool_gaps_.draw();
    const Duration person = person_gaps_.draw();
    turn.waits_for_person = gap_kinds_.uniform() < person_share_;
    turn.gap = turn.waits_for_person ? person : tool;
    if (!spawns_) continue;
    const bool spawns = spawns_->whether.uniform() < spawns_->probability;
    if (spawns && !turn.waits_for_person) spawns_->draw(k, spawned);
  }
}

}  // namespace inferscale
