#include "workload/programs/session_presets.h"

#include <span>
#include <string>

#include "base/check.h"

namespace inferscale {
namespace {

struct PresetKey {
  std::string_view path;
  std::string_view value;
};

// Log-normal distributions by two quantiles: with s = log(p90 / p50) / 1.28155, mean = p50
// exp(s^2 / 2) and cv = sqrt(exp(s^2) - 1).

// The Claude Code request table (kv-cache-tester, Apache-2.0): 692 sessions, 45,542 calls of main
// agents. First prompts: of the 416 sessions that begin with at most 60,000 tokens; the others
// begin in the middle of their work.
constexpr PresetKey kCodingAgent[] = {
    {"turns.distribution", "lognormal"},  // p50 44, p90 149
    {"turns.mean", "69.2"},
    {"turns.cv", "1.214"},
    {"first_prompt_tokens.distribution", "lognormal"},  // p50 4,032, p90 15,241
    {"first_prompt_tokens.mean", "6910"},
    {"first_prompt_tokens.cv", "1.391"},
    {"appended_tokens.distribution", "lognormal"},  // p50 276, p90 2,937
    {"appended_tokens.mean", "1514"},
    {"appended_tokens.cv", "5.395"},
    {"output_tokens.distribution", "lognormal"},  // p50 217, p90 894
    {"output_tokens.mean", "399.5"},
    {"output_tokens.cv", "1.546"},
    {"system_prompt_tokens", "15000"},       // with the tools' descriptions: p50 14,991
    {"tool_gap.distribution", "lognormal"},  // p50 8.68 s, p90 74.6 s, the least 2 s
    {"tool_gap.mean_s", "35.49"},
    {"tool_gap.cv", "3.964"},
    {"tool_gap.min_s", "2"},
    {"person_gap.distribution", "lognormal"},  // p50 186 s, p90 2,560 s
    {"person_gap.mean_s", "1507"},
    {"person_gap.cv", "8.031"},
    {"person_share", "0.0546"},  // 2,214 of 40,560 gaps
};

// TraceLab's published statistics (University of Washington, CC BY 4.0): 4,265 sessions, 357,161
// steps. What it does not say is as in coding_agent.
constexpr PresetKey kCodingAgentTraceLab[] = {
    {"turns.distribution", "lognormal"},  // p50 16, p90 152
    {"turns.mean", "74.86"},
    {"turns.cv", "4.57"},
    {"first_prompt_tokens.distribution", "lognormal"},
    {"first_prompt_tokens.mean", "6910"},
    {"first_prompt_tokens.cv", "1.391"},
    {"appended_tokens.distribution", "lognormal"},  // p50 540, p90 3,450
    {"appended_tokens.mean", "1539"},
    {"appended_tokens.cv", "2.668"},
    {"output_tokens.distribution", "lognormal"},  // p50 252, mean 523
    {"output_tokens.mean", "523"},
    {"output_tokens.cv", "1.819"},
    {"system_prompt_tokens", "15000"},
    {"tool_gap.distribution", "lognormal"},  // p50 0.3 s, p90 13.6 s
    {"tool_gap.mean_s", "25.1"},
    {"tool_gap.cv", "83.8"},
    {"person_gap.distribution", "lognormal"},  // p50 86 s, p90 1,260 s
    {"person_gap.mean_s", "771.5"},
    {"person_gap.cv", "8.915"},
    {"person_share", "0.108"},  // 8.9 of 82.5 steps
};

// One task each and nobody who talks: mini-swe-agent's calls (LMCache's agent traces, Apache-2.0;
// 20 sessions, characters / 4) and the latencies of Bash in SWE-rebench containers (agentcgroup).
constexpr PresetKey kShortTasks[] = {
    {"turns.distribution", "lognormal"},  // p25 11, p50 30, where half of them were stopped
    {"turns.mean", "90.69"},
    {"turns.cv", "2.853"},
    {"turns.min", "6"},
    {"turns.max", "30"},
    {"first_prompt_tokens.distribution", "lognormal"},  // p50 330, p90 1,670
    {"first_prompt_tokens.mean", "735"},
    {"first_prompt_tokens.cv", "1.989"},
    {"appended_tokens.distribution", "lognormal"},  // p75 200, p90 803, p99 5,400
    {"appended_tokens.mean", "587.3"},
    {"appended_tokens.cv", "13.72"},
    {"appended_tokens.max", "5400"},
    {"output_tokens.distribution", "lognormal"},  // p50 98, p90 191
    {"output_tokens.mean", "112.6"},
    {"output_tokens.cv", "0.553"},
    {"system_prompt_tokens", "1200"},
    {"tool_gap.distribution", "lognormal"},  // p50 1.5 s, p90 10.3 s
    {"tool_gap.mean_s", "4.644"},
    {"tool_gap.cv", "2.93"},
};

std::span<const PresetKey> keys_of(std::string_view name) {
  if (name == "coding_agent") return kCodingAgent;
  if (name == "coding_agent_tracelab") return kCodingAgentTraceLab;
  CHECK(name == "short_tasks") << "no preset " << name;
  return kShortTasks;
}

}  // namespace

ConfigNode session_preset(std::string_view name) {
  const SourcePosition at{"preset " + std::string(name), 0};
  ConfigNode preset = ConfigNode::map(at);
  for (const PresetKey& key : keys_of(name)) {
    CHECK(preset.set_path(key.path, ConfigNode::scalar(std::string(key.value), false, at)))
        << key.path;
  }
  return preset;
}

}  // namespace inferscale
