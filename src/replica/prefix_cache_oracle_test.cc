// The block cache against a list of single blocks and the very tokens that each holds: random
// sequences are admitted, computed in chunks, let go of and dropped, in both at once.

#include "replica/prefix_cache.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <list>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"

namespace inferscale {
namespace {

using Tokens = std::vector<std::uint32_t>;

// Blocks as engines keep them: each by itself, with a number of references and the tokens up to its
// end, and one list of the unreferenced ones. A bundle is the blocks of all groups of layers for
// the same tokens. Two copies of the same tokens are kept once.
class SingleBlocks {
 public:
  struct Bundle {
    std::vector<int> blocks;
    int references = 0;
  };
  // What a sequence has: bundles that it references, and blocks of its own.
  struct Table {
    std::vector<Tokens> held;  // the tokens up to the end of each bundle
    std::vector<int> own;
  };

  SingleBlocks(int total, std::size_t block_tokens, std::size_t blocks_each)
      : block_tokens_(block_tokens), blocks_each_(blocks_each) {
    for (int block = 0; block < total; ++block) free_.push_back(block);
  }

  std::size_t free() const { return free_.size(); }
  std::size_t cached() const {
    std::size_t blocks = 0;
    for (const auto& [tokens, bundle] : readable_) {
      if (bundle.references == 0) blocks += blocks_each_;
    }
    return blocks;
  }
  // The bundles that hold the first `limit` tokens, and how many of them nobody references.
  std::pair<std::size_t, std::size_t> match(const Tokens& tokens, std::size_t limit) const {
    std::size_t hits = 0;
    std::size_t unreferenced = 0;
    while ((hits + 1) * block_tokens_ <= std::min(limit, tokens.size())) {
      const auto found = readable_.find(up_to(tokens, hits));
      if (found == readable_.end()) break;
      ++hits;
      if (found->second.references == 0) ++unreferenced;
    }
    return {hits, unreferenced};
  }
  void acquire(Table& table, const Tokens& tokens, std::size_t bundles) {
    for (std::size_t i = 0; i < bundles; ++i) reference(table, up_to(tokens, i));
  }
  void take(Table& table, std::size_t blocks) {
    for (std::size_t i = 0; i < blocks; ++i) {
      const int block = free_.front();
      free_.pop_front();
      table.own.push_back(block);
      std::erase_if(readable_, [&](const auto& entry) {
        const std::vector<int>& in = entry.second.blocks;
        return std::find(in.begin(), in.end(), block) != in.end();
      });
    }
  }
  void give_back(Table& table, std::size_t blocks) {
    for (std::size_t i = 0; i < blocks; ++i) {
      free_.push_back(table.own.back());
      table.own.pop_back();
    }
  }
  // The blocks that hold the first `count` tokens are computed.
  std::size_t computed(Table& table, const Tokens& tokens, std::size_t count) {
    std::size_t duplicates = 0;
    while ((table.held.size() + 1) * block_tokens_ <= std::min(count, tokens.size())) {
      const Tokens up_to_here = up_to(tokens, table.held.size());
      if (readable_.contains(up_to_here)) {
        reference(table, up_to_here);
        give_back(table, blocks_each_);
        duplicates += blocks_each_;
        continue;
      }
      const auto first = table.own.begin();
      const auto last = first + static_cast<std::ptrdiff_t>(blocks_each_);
      readable_[up_to_here] = {.blocks = std::vector<int>(first, last), .references = 1};
      table.own.erase(first, last);
      table.held.push_back(up_to_here);
    }
    return duplicates;
  }
  // The content of the bundles that end behind token `from` and by `to`, where nobody reads it.
  std::size_t drop(const Tokens& tokens, std::size_t from, std::size_t to) {
    std::size_t blocks = 0;
    for (std::size_t i = from / block_tokens_; (i + 1) * block_tokens_ <= to; ++i) {
      const auto found = readable_.find(up_to(tokens, i));
      if (found == readable_.end() || found->second.references > 0) continue;
      for (const int block : found->second.blocks) {
        free_.remove(block);
        free_.push_front(block);
      }
      readable_.erase(found);
      blocks += blocks_each_;
    }
    return blocks;
  }
  // Whether anything that begins with these tokens is readable.
  bool has_behind(const Tokens& tokens) const {
    return std::any_of(readable_.begin(), readable_.end(), [&](const auto& entry) {
      return entry.first.size() > tokens.size() &&
             std::equal(tokens.begin(), tokens.end(), entry.first.begin());
    });
  }
  void release(Table& table) {
    give_back(table, table.own.size());
    for (; !table.held.empty(); table.held.pop_back()) {
      Bundle& bundle = readable_.at(table.held.back());
      if (--bundle.references > 0) continue;
      free_.insert(free_.end(), bundle.blocks.begin(), bundle.blocks.end());
    }
  }

 private:
  Tokens up_to(const Tokens& tokens, std::size_t bundle) const {
    const auto end = tokens.begin() + static_cast<std::ptrdiff_t>((bundle + 1) * block_tokens_);
    return Tokens(tokens.begin(), end);
  }
  void reference(Table& table, const Tokens& up_to_here) {
    Bundle& bundle = readable_.at(up_to_here);
    if (bundle.references++ == 0) {
      for (const int block : bundle.blocks) free_.remove(block);
    }
    table.held.push_back(up_to_here);
  }

  std::size_t block_tokens_;
  std::size_t blocks_each_;
  std::list<int> free_;
  std::map<Tokens, Bundle> readable_;
};

// A tree of texts: a node is a piece, whose tokens nobody else has.
class Texts {
 public:
  struct Node {
    int parent = -1;
    std::uint32_t tokens = 0;
  };

  // A node below `parent`, -1 for a root; its number is its key and its tokens' value.
  int add(int parent, std::uint32_t tokens) {
    nodes_.push_back({parent, tokens});
    return static_cast<int>(nodes_.size() - 1);
  }
  int size() const { return static_cast<int>(nodes_.size()); }

  std::vector<ContentPiece> pieces(int node) const {
    std::vector<ContentPiece> chain;
    for (; node >= 0; node = nodes_[static_cast<std::size_t>(node)].parent) {
      const std::uint32_t tokens = nodes_[static_cast<std::size_t>(node)].tokens;
      chain.insert(chain.begin(), {.key = static_cast<std::uint64_t>(node), .tokens = tokens});
    }
    return chain;
  }
  static Tokens tokens(const std::vector<ContentPiece>& pieces) {
    Tokens tokens;
    for (const ContentPiece& piece : pieces) {
      tokens.insert(tokens.end(), piece.tokens, static_cast<std::uint32_t>(piece.key));
    }
    return tokens;
  }

 private:
  std::vector<Node> nodes_;
};

// A request for a text and more tokens of its own, and what both caches know of it.
struct Sequence {
  std::vector<ContentPiece> pieces;
  Tokens content;
  Tokens all;  // and its own
  Request request;
  PrefixCache::Hold hold;
  SingleBlocks::Table table;
  TokenCount done = 0;  // tokens computed; it has blocks for as many

  // `answer`: the text that its answer makes, -1 where nobody else will read it.
  Sequence(RequestId id, const Texts& texts, int node, std::uint32_t own, int answer) {
    pieces = texts.pieces(answer >= 0 ? answer : node);
    content = Texts::tokens(pieces);
    all = content;
    all.insert(all.end(), own, kOwnTokens + id);
    request.id = id;
    request.content = pieces.data();
    request.content_pieces = static_cast<std::uint32_t>(pieces.size());
    request.prompt_tokens = static_cast<std::uint32_t>(all.size());
    if (answer >= 0) {
      request.output_is_content = true;
      --request.content_pieces;
      request.prompt_tokens = static_cast<std::uint32_t>(content.size()) - pieces.back().tokens;
    }
  }
  TokenCount total() const { return static_cast<TokenCount>(all.size()); }

  static constexpr std::uint32_t kOwnTokens = 1'000'000'000;
};

struct Sizes {
  std::uint64_t trial = 0;
  std::int64_t block_tokens = 1;
  std::int64_t blocks_each = 1;
  BlockCount total = 1;
};

// How often the trials met what matters.
struct Seen {
  std::int64_t hits = 0;
  std::int64_t hits_cut_short = 0;  // by a miss within a piece
  std::int64_t own_hits = 0;        // into a preempted sequence's own tokens
  std::int64_t duplicates = 0;
  std::int64_t dropped = 0;
  std::int64_t dropped_in_the_middle = 0;  // what is behind them stayed
};

// Random sequences that are admitted, computed in chunks, and let go of, in both caches at once.
class Comparison {
 public:
  Comparison(const Sizes& sizes, Seen& seen)
      : sizes_(sizes),
        random_(sizes.trial, "prefix_cache"),
        cache_(sizes.total, sizes.block_tokens, sizes.blocks_each),
        blocks_(static_cast<int>(sizes.total), static_cast<std::size_t>(sizes.block_tokens),
                static_cast<std::size_t>(sizes.blocks_each)),
        seen_(seen) {
    for (int root = 0; root < 2; ++root) texts_.add(-1, length());
    for (int i = 0; i < 10; ++i) texts_.add(any_text(), length());
  }

  void step() {
    const std::uint64_t kind = random_.below(11);
    if (kind == 10) {
      drop();
    } else if (running_.empty() || kind < 3) {
      admit();
    } else if (kind < 8) {
      advance(random_.below(running_.size()));
    } else {
      const std::size_t index = random_.below(running_.size());
      kind == 8 ? preempt(index) : end(index);
    }
    ASSERT_EQ(cache_.free(), static_cast<BlockCount>(blocks_.free()));
    ASSERT_EQ(cache_.cached(), static_cast<BlockCount>(blocks_.cached()));
    const char* broken = cache_.broken_structure();
    ASSERT_EQ(broken, nullptr) << broken;
  }

 private:
  std::uint32_t length() {
    return static_cast<std::uint32_t>(
        1 + random_.below(static_cast<std::uint64_t>(4 * sizes_.block_tokens)));
  }
  int any_text() {
    return static_cast<int>(random_.below(static_cast<std::uint64_t>(texts_.size())));
  }
  BlockCount blocks_for(TokenCount tokens) const {
    return (tokens + sizes_.block_tokens - 1) / sizes_.block_tokens * sizes_.blocks_each;
  }

  // Whether the first miss was a block in the middle of a piece.
  bool ends_within_a_piece(const Sequence& sequence, TokenCount hit, TokenCount limit) const {
    TokenCount end = 0;
    for (const ContentPiece& piece : sequence.pieces) {
      const TokenCount start = std::exchange(end, end + piece.tokens);
      if (hit <= start || hit >= end) continue;
      return std::min(end, limit) - hit >= sizes_.block_tokens;
    }
    return false;
  }

  Sequence new_sequence() {
    const int node = any_text();
    const int answer = random_.below(3) == 0 ? texts_.add(node, length()) : -1;
    return Sequence(next_id_++, texts_, node, answer >= 0 ? 0 : length(), answer);
  }

  void admit() {
    const bool again = !preempted_.empty() && random_.below(2) == 0;
    Sequence sequence = again ? std::move(preempted_.back()) : new_sequence();
    if (again) preempted_.pop_back();
    const auto limit =
        static_cast<TokenCount>(random_.below(static_cast<std::uint64_t>(sequence.total() + 3)));
    const PrefixCache::Match match = cache_.match(sequence.request, limit);
    const auto [bundles, unreferenced] =
        blocks_.match(sequence.all, static_cast<std::size_t>(limit));
    ASSERT_EQ(match.tokens, static_cast<TokenCount>(bundles) * sizes_.block_tokens);
    ASSERT_EQ(match.blocks, static_cast<BlockCount>(bundles) * sizes_.blocks_each);
    ASSERT_EQ(match.from_free, static_cast<BlockCount>(unreferenced) * sizes_.blocks_each);
    cache_.acquire(sequence.request, match, sequence.hold);
    blocks_.acquire(sequence.table, sequence.all, bundles);
    if (match.tokens > 0) ++seen_.hits;
    if (ends_within_a_piece(sequence, match.tokens, limit)) ++seen_.hits_cut_short;
    if (match.tokens > static_cast<TokenCount>(sequence.content.size())) ++seen_.own_hits;
    sequence.done = match.tokens;
    running_.push_back(std::move(sequence));
  }

  void advance(std::size_t index) {
    Sequence& sequence = running_[index];
    const TokenCount tokens =
        std::min(sequence.total(), sequence.done + static_cast<TokenCount>(length()));
    // Not only whole bundles: groups of layers with a window take blocks one by one.
    const auto more = static_cast<BlockCount>(random_.below(3));
    const BlockCount needed = more + blocks_for(tokens) - blocks_for(sequence.done);
    if (needed > cache_.free()) return preempt(index);
    cache_.take(needed);
    blocks_.take(sequence.table, static_cast<std::size_t>(needed));
    sequence.done = tokens;
    // Sometimes nobody is told yet: the blocks are there, and cannot be read.
    if (random_.below(4) == 0) return;
    const BlockCount freed = cache_.computed(sequence.request, tokens, sequence.hold);
    ASSERT_EQ(freed, static_cast<BlockCount>(blocks_.computed(sequence.table, sequence.content,
                                                              static_cast<std::size_t>(tokens))));
    ASSERT_EQ(sequence.hold.blocks,
              static_cast<BlockCount>(sequence.table.held.size()) * sizes_.blocks_each);
    seen_.duplicates += freed;
  }

  void drop() {  // any text, from any of its pieces on
    const Sequence text(next_id_, texts_, any_text(), 0, -1);
    const auto from = static_cast<std::ptrdiff_t>(random_.below(text.pieces.size()));
    const std::size_t start =
        Texts::tokens({text.pieces.begin(), text.pieces.begin() + from}).size();
    const auto dropped = cache_.drop(text.request, static_cast<std::uint32_t>(from));
    ASSERT_EQ(dropped, static_cast<BlockCount>(blocks_.drop(text.all, start, text.all.size())));
    if (dropped > 0) ++seen_.dropped;
    if (dropped > 0 && blocks_.has_behind(text.all)) ++seen_.dropped_in_the_middle;
  }

  void preempt(std::size_t index) {
    Sequence& sequence = running_[index];
    cache_.preempt(sequence.request, sequence.done, sequence.hold,
                   static_cast<BlockCount>(sequence.table.own.size()));
    blocks_.computed(sequence.table, sequence.all, static_cast<std::size_t>(sequence.done));
    blocks_.release(sequence.table);
    preempted_.push_back(std::move(sequence));
    running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(index));
  }

  void end(std::size_t index) {
    Sequence& sequence = running_[index];
    cache_.release(sequence.request, sequence.hold,
                   static_cast<BlockCount>(sequence.table.own.size()));
    blocks_.release(sequence.table);
    running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(index));
  }

  Sizes sizes_;
  RandomStream random_;
  PrefixCache cache_;
  SingleBlocks blocks_;
  Texts texts_;
  std::vector<Sequence> running_;
  std::vector<Sequence> preempted_;
  RequestId next_id_ = 0;
  Seen& seen_;
};

TEST(PrefixCacheOracle, IsAListOfSingleBlocks) {
  RandomStream random(7, "sizes");
  Seen seen;
  for (std::uint64_t trial = 0; trial < 400; ++trial) {
    const auto each = static_cast<std::int64_t>(1 + random.below(3));
    Comparison comparison({.trial = trial,
                           .block_tokens = static_cast<std::int64_t>(1 + random.below(5)),
                           .blocks_each = each,
                           .total = each * static_cast<BlockCount>(8 + random.below(40))},
                          seen);
    for (int step = 0; step < 150; ++step) {
      SCOPED_TRACE("trial " + std::to_string(trial) + ", step " + std::to_string(step));
      comparison.step();
      if (testing::Test::HasFatalFailure()) return;
    }
  }
  // The trials meet what makes this hard.
  EXPECT_GT(seen.hits, 10'000);
  EXPECT_GT(seen.hits_cut_short, 500);
  EXPECT_GT(seen.own_hits, 200);
  EXPECT_GT(seen.duplicates, 500);
  EXPECT_GT(seen.dropped, 400);
  EXPECT_GT(seen.dropped_in_the_middle, 100);
}

}  // namespace
}  // namespace inferscale
