#include "workload/readers/claude_code_table.h"

#include <algorithm>
#include <cstddef>
#include <string>

#include "base/number_text.h"

namespace inferscale {
namespace {

Result<std::uint32_t> blocks_in(const CsvRows& rows, CsvIndex column, std::uint32_t least,
                                std::uint32_t most, const std::string& why) {
  const auto blocks = parse_whole(rows.cell(column));
  if (blocks && *blocks >= least && *blocks <= most) return static_cast<std::uint32_t>(*blocks);
  return rows.wrong(column, "a whole number from " + std::to_string(least) + " to " +
                                std::to_string(most) + ", " + why);
}

}  // namespace

Result<ContentTree::Node> claude_table_prompt(const CsvRows& rows, std::uint32_t prompt_tokens,
                                              ContentTree& tree,
                                              std::vector<ContentTree::Node>& prompts) {
  const auto joined = [&](ContentTree::Node prompt) {
    prompts.push_back(prompt);
    return prompt;
  };
  const ContentTree::Node above = prompts.back();
  const std::uint32_t whole = prompt_tokens / kClaudeTableBlockTokens;
  const auto blocks = blocks_in(rows, kClaudeBlocks, whole, whole, "the whole blocks of 64 tokens");
  if (!blocks) return std::unexpected(blocks.error());
  const auto shared = blocks_in(rows, kClaudeShared, 0, std::min(*blocks, tree.blocks(above)),
                                "blocks of this prompt and of the one above");
  if (!shared) return std::unexpected(shared.error());
  const auto seen = blocks_in(rows, kClaudeSeen, *shared, *blocks,
                              "from shared_prefix_blocks_prev to the prompt's blocks");
  if (!seen) return std::unexpected(seen.error());
  if (*seen == *shared) return joined(tree.extend(tree.at(above, *shared), *blocks));
  for (std::size_t i = prompts.size(); i-- > 0;) {
    const ContentTree::Node earlier = prompts[i];
    if (tree.blocks(earlier) < *seen || tree.common(earlier, above) != *shared) continue;
    return joined(tree.extend(tree.at(earlier, *seen), *blocks));
  }
  return rows.wrong(kClaudeSeen,
                    "shared_prefix_blocks_prev, because no earlier prompt of this agent "
                    "is that long and shares just that with the one above");
}

}  // namespace inferscale
