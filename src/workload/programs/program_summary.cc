#include "workload/programs/program_summary.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "base/check.h"
#include "workload/programs/session_gaps.h"

namespace inferscale {
namespace {

using Values = std::vector<std::int64_t>;

ValueSummary summarize(Values values) {
  ValueSummary summary;
  summary.count = values.size();
  if (values.empty()) return summary;
  std::sort(values.begin(), values.end());
  // The nearest rank ceil(percent n / 100), in whole numbers.
  const auto percentile = [&](std::size_t percent) {
    return values[(percent * values.size() + 99) / 100 - 1];
  };
  // Times of all sessions together may be beyond 64 bits of nanoseconds.
  double total = 0;
  for (const std::int64_t value : values) total += static_cast<double>(value);
  summary.mean = total / static_cast<double>(values.size());
  summary.p10 = percentile(10);
  summary.p50 = percentile(50);
  summary.p90 = percentile(90);
  summary.p99 = percentile(99);
  summary.max = values.back();
  return summary;
}

TokenCount length_of(const ProgramTurn& turn) {
  return TokenCount{turn.prompt_tokens} + turn.output_tokens;
}

class Collector {
 public:
  explicit Collector(const Programs& programs) : programs_(programs) {}

  void add_session(const ProgramSession& session);
  ProgramSummary finish();

 private:
  void add_chain(const ProgramChain& chain, bool is_main);
  void add_gap(const ProgramTurn& turn);
  bool waits_for_sub_agents(const ProgramTurn& turn) const;

  const Programs& programs_;
  ProgramSummary summary_;
  Values session_turns_;
  Values prompts_;
  Values first_prompts_;
  Values sub_agent_prompts_;
  Values new_tokens_;
  Values outputs_;
  Values end_contexts_;
  Values tool_gaps_;
  Values person_gaps_;
  std::int64_t history_ = 0;
  std::int64_t prompt_ = 0;
};

bool Collector::waits_for_sub_agents(const ProgramTurn& turn) const {
  const auto spawned = std::span(programs_.spawned).subspan(turn.first_spawn, turn.spawns);
  return std::any_of(spawned.begin(), spawned.end(),
                     [&](std::uint32_t child) { return programs_.chains[child].joined; });
}

void Collector::add_gap(const ProgramTurn& turn) {
  if (turn.call.ends_chain) return;
  if (turn.gap == Duration() && waits_for_sub_agents(turn)) return;
  (turn.waits_for_person ? person_gaps_ : tool_gaps_).push_back(turn.gap.ns());
}

void Collector::add_chain(const ProgramChain& chain, bool is_main) {
  const auto turns = std::span(programs_.turns).subspan(chain.first_turn, chain.turns);
  (is_main ? first_prompts_ : sub_agent_prompts_).push_back(turns.front().prompt_tokens);
  if (is_main) end_contexts_.push_back(length_of(turns.back()));
  for (const ProgramTurn& turn : turns) {
    prompts_.push_back(turn.prompt_tokens);
    outputs_.push_back(turn.output_tokens);
    prompt_ += turn.prompt_tokens;
    history_ += turn.call.history_tokens;
    summary_.longest_call = std::max(summary_.longest_call, length_of(turn));
    for (BeyondContext& beyond : summary_.beyond) beyond.calls += length_of(turn) > beyond.tokens;
    add_gap(turn);
  }
  for (const ProgramTurn& turn : turns.subspan(1)) {
    new_tokens_.push_back(std::int64_t{turn.prompt_tokens} - turn.call.history_tokens);
  }
}

void Collector::add_session(const ProgramSession& session) {
  const std::array<BeyondContext, 4> before = summary_.beyond;
  const std::size_t calls_before = prompts_.size();
  for (std::uint32_t i = 0; i < session.chains; ++i) {
    add_chain(programs_.chains[session.first_chain + i], i == 0);
  }
  session_turns_.push_back(static_cast<std::int64_t>(prompts_.size() - calls_before));
  for (std::size_t i = 0; i < before.size(); ++i) {
    summary_.beyond[i].sessions += summary_.beyond[i].calls > before[i].calls;
  }
}

ProgramSummary Collector::finish() {
  summary_.sessions = programs_.sessions.size();
  summary_.chains = programs_.chains.size();
  summary_.sub_agents = summary_.chains - summary_.sessions;
  summary_.calls = programs_.turns.size();
  summary_.session_turns = summarize(std::move(session_turns_));
  summary_.prompt_tokens = summarize(std::move(prompts_));
  summary_.first_prompt_tokens = summarize(std::move(first_prompts_));
  summary_.sub_agent_prompt_tokens = summarize(std::move(sub_agent_prompts_));
  summary_.new_tokens = summarize(std::move(new_tokens_));
  summary_.output_tokens = summarize(std::move(outputs_));
  summary_.end_context_tokens = summarize(std::move(end_contexts_));
  summary_.tool_gap_ns = summarize(std::move(tool_gaps_));
  summary_.person_gap_ns = summarize(std::move(person_gaps_));
  Values gaps;
  for (const Duration gap : session_gaps(programs_)) gaps.push_back(gap.ns());
  summary_.session_gaps_ns = summarize(std::move(gaps));
  summary_.history_share = static_cast<double>(history_) / static_cast<double>(prompt_);
  return summary_;
}

}  // namespace

ProgramSummary summarize_programs(const Programs& programs) {
  CHECK(!programs.sessions.empty()) << "no sessions to summarise";
  Collector collector(programs);
  for (const ProgramSession& session : programs.sessions) collector.add_session(session);
  return collector.finish();
}

}  // namespace inferscale
