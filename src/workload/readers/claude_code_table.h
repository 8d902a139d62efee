// The columns of the table of Claude Code's calls, and what its figures say about a prompt. The
// readers of calls and of sessions both stand on it.
//
// Prompts are known by lengths: shared_prefix_blocks_prev is how many blocks of 64 tokens a prompt
// has in common with that of the same agent's row above, blocks_seen_before with any of them. Where
// that is more, the agent went back to an earlier state: the latest prompt is taken that explains
// both figures.

#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "workload/content_tree.h"
#include "workload/readers/csv_rows.h"

namespace inferscale {

inline constexpr std::uint32_t kClaudeTableBlockTokens = 64;
inline constexpr std::string_view kClaudeMainAgent = "main";

enum ClaudeColumn : CsvIndex {
  kClaudeTrace,
  kClaudeAgent,
  kClaudeTime,
  kClaudeType,
  kClaudePrompt,
  kClaudeOutput,
  kClaudeBlocks,
  kClaudeShared,
  kClaudeSeen,
  kClaudeStop,  // of a row of type spawn: the agent that starts
  kClaudeIndex,
  kClaudeAnswerTime,
  kClaudeThinkTime,
  kClaudeTtft,
  kClaudeDuration,  // of a row of type spawn: how long the agent ran, ms
  kClaudeModel
};

inline constexpr std::array<CsvColumn, 16> kClaudeColumns = {
    {{"trace_id"},
     {"agent"},
     {"t_s"},
     {"type"},
     {"in_tokens"},
     {"out_tokens"},
     {"n_blocks64"},
     {"shared_prefix_blocks_prev"},
     {"blocks_seen_before"},
     {"stop_or_subagent"},
     {"idx", false},
     {"api_time_s", false},
     {"think_time_s", false},
     {"ttft_s", false},
     {"output_types_or_duration_ms", false},
     {"model_or_n", false}}};

// The prompt of the row that `rows` stands at, in `tree`; joins `prompts`. REQUIRES: `prompts` are
// the agent's so far, a root first.
Result<ContentTree::Node> claude_table_prompt(const CsvRows& rows, std::uint32_t prompt_tokens,
                                              ContentTree& tree,
                                              std::vector<ContentTree::Node>& prompts);

}  // namespace inferscale
