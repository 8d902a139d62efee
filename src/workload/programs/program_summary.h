// What agent programs are made of, in the figures that one asks for before simulating them.
//
// A session's turns are its calls, those of its sub-agents among them. Of a call that has one
// before it in its chain, what is not history is new: the tools' results, the person's words, and
// the answer before it unless the trace says that it was sent back as it was.

#pragma once

#include <array>
#include <cstdint>

#include "core/request.h"
#include "workload/programs/programs.h"

namespace inferscale {

// Of some whole numbers; quantiles are nearest rank. All 0 when there are none.
struct ValueSummary {
  std::uint64_t count = 0;
  double mean = 0;
  std::int64_t p10 = 0;
  std::int64_t p50 = 0;
  std::int64_t p90 = 0;
  std::int64_t p99 = 0;
  std::int64_t max = 0;
};

// Calls whose prompt and answer are longer than `tokens`: an engine with this max_model_len refuses
// them, and their sessions end there.
struct BeyondContext {
  TokenCount tokens = 0;
  std::uint64_t calls = 0;
  std::uint64_t sessions = 0;  // with such a call
};

struct ProgramSummary {
  std::uint64_t sessions = 0;
  std::uint64_t chains = 0;
  std::uint64_t sub_agents = 0;  // chains that a call spawns
  std::uint64_t calls = 0;

  ValueSummary session_turns;
  ValueSummary prompt_tokens;
  ValueSummary first_prompt_tokens;      // of main agents
  ValueSummary sub_agent_prompt_tokens;  // the first ones of sub-agents
  ValueSummary new_tokens;               // of calls that have one before them in their chain
  ValueSummary output_tokens;
  ValueSummary end_context_tokens;  // the main agent's last prompt and answer
  // Gaps behind answers. A chain's last call has none, nor has one of no time of its own that waits
  // for its sub-agents.
  ValueSummary tool_gap_ns;
  ValueSummary person_gap_ns;
  ValueSummary session_gaps_ns;  // how long a session lasts if every answer takes no time

  double history_share = 0;     // of all prompts' tokens, those that the call before had
  TokenCount longest_call = 0;  // prompt and answer
  std::array<BeyondContext, 4> beyond = {
      {{.tokens = 32'768}, {.tokens = 65'536}, {.tokens = 131'072}, {.tokens = 200'000}}};
};

// Cost: sorting. REQUIRES: broken_structure() is null, and there is a session.
ProgramSummary summarize_programs(const Programs& programs);

}  // namespace inferscale
