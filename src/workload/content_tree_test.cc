// Trees of prompts: parting a run leaves the prompts that were there as they were.

#include "workload/content_tree.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "base/random.h"

namespace inferscale {
namespace {

using Node = ContentTree::Node;

std::vector<std::uint32_t> tokens_of(const ContentTree& tree, Node node) {
  std::vector<ContentPiece> pieces;
  tree.append_pieces(node, 64, pieces);
  std::vector<std::uint32_t> tokens;
  for (const ContentPiece& piece : pieces) tokens.push_back(piece.tokens);
  return tokens;
}

using Tokens = std::vector<std::uint32_t>;

TEST(ContentTree, GrowsAndPartsRuns) {
  ContentTree tree(1);
  const Node root = tree.add_root();
  const Node first = tree.extend(root, 10);
  const Node longer = tree.extend(first, 15);
  EXPECT_EQ(tokens_of(tree, longer), (Tokens{640, 320}));
  const Node other = tree.extend(tree.at(longer, 12), 20);
  EXPECT_EQ(tree.blocks(other), 20U);
  EXPECT_EQ(tokens_of(tree, first), (Tokens{640}));
  EXPECT_EQ(tokens_of(tree, longer), (Tokens{640, 128, 192}));
  EXPECT_EQ(tokens_of(tree, other), (Tokens{640, 128, 512}));
  EXPECT_EQ(tree.common(longer, other), 12U);
  EXPECT_EQ(tree.common(first, other), 10U);
  EXPECT_EQ(tree.common(other, other), 20U);
}

TEST(ContentTree, KeepsRootsApart) {
  ContentTree tree(1);
  const Node one = tree.extend(tree.add_root(), 10);
  const Node two = tree.extend(tree.add_root(), 10);
  const Node empty = tree.add_root();
  EXPECT_EQ(tree.common(one, two), 0U);
  EXPECT_EQ(tree.common(one, empty), 0U);
  EXPECT_EQ(tree.common(empty, two), 0U);
  EXPECT_TRUE(tokens_of(tree, empty).empty());
  EXPECT_EQ(tree.at(one, 0), Node{0});
  EXPECT_EQ(tree.extend(one, 10), one) << "nothing new";
}

TEST(ContentTreeDeathTest, RefusesMoreThanThereIs) {
  ContentTree tree(1);
  const Node prompt = tree.extend(tree.add_root(), 10);
  EXPECT_DEATH(tree.at(prompt, 11), "11 of 10");
  EXPECT_DEATH(tree.extend(prompt, 9), "9 blocks extend 10");
}

// Against prompts that are lists of numbered blocks.
TEST(ContentTree, AgreesWithListsOfBlocks) {
  RandomStream random(3, "tree");
  for (int round = 0; round < 50; ++round) {
    ContentTree tree(9);
    std::vector<std::vector<int>> lists = {{}, {}};
    std::vector<Node> nodes = {tree.add_root(), tree.add_root()};
    int next_block = 0;
    for (int i = 0; i < 60; ++i) {
      const std::uint64_t from = random.below(lists.size());
      const std::uint64_t kept = random.below(lists[from].size() + 1);
      std::vector<int> list(lists[from].begin(),
                            lists[from].begin() + static_cast<std::ptrdiff_t>(kept));
      for (std::uint64_t more = random.below(9); more > 0; --more) list.push_back(next_block++);
      nodes.push_back(tree.extend(tree.at(nodes[from], static_cast<std::uint32_t>(kept)),
                                  static_cast<std::uint32_t>(list.size())));
      lists.push_back(std::move(list));
    }
    std::vector<std::vector<ContentPiece>> chains(nodes.size());
    for (std::size_t a = 0; a < nodes.size(); ++a) {
      tree.append_pieces(nodes[a], 1, chains[a]);
      ASSERT_EQ(tree.blocks(nodes[a]), lists[a].size());
      for (std::size_t b = 0; b <= a; ++b) {
        const auto common = static_cast<std::uint32_t>(
            std::mismatch(lists[a].begin(), lists[a].end(), lists[b].begin(), lists[b].end())
                .first -
            lists[a].begin());
        ASSERT_EQ(tree.common(nodes[a], nodes[b]), common);
        std::uint32_t shared = 0;
        for (std::size_t i = 0; i < std::min(chains[a].size(), chains[b].size()); ++i) {
          if (chains[a][i].key != chains[b][i].key) break;
          shared += chains[a][i].tokens;
        }
        ASSERT_EQ(shared, common) << "in pieces";
      }
    }
  }
}

}  // namespace
}  // namespace inferscale
