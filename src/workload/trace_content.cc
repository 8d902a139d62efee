#include "workload/trace_content.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/random.h"

namespace inferscale {
namespace {

// A number for each hash that occurs.
class HashNumbers {
 public:
  explicit HashNumbers(std::vector<std::uint64_t> hashes) : hashes_(std::move(hashes)) {
    std::sort(hashes_.begin(), hashes_.end());
    hashes_.erase(std::unique(hashes_.begin(), hashes_.end()), hashes_.end());
  }
  std::size_t size() const { return hashes_.size(); }
  // REQUIRES: it is one of them. `guess` is tried first.
  std::size_t of(std::uint64_t hash, std::size_t guess) const {
    if (guess < hashes_.size() && hashes_[guess] == hash) return guess;
    const auto found = std::lower_bound(hashes_.begin(), hashes_.end(), hash);
    return static_cast<std::size_t>(found - hashes_.begin());
  }

 private:
  std::vector<std::uint64_t> hashes_;
};

// The numbers of the blocks before and behind a block, and whether they were the same wherever it
// occurred.
struct Neighbours {
  static constexpr std::size_t kNone = SIZE_MAX;
  std::size_t before = kNone;
  std::size_t behind = kNone;
  bool one_before = true;
  bool one_behind = true;

  void note_before(std::size_t number) {
    if (before != kNone && before != number) one_before = false;
    before = number;
  }
  void note_behind(std::size_t number) {
    if (behind != kNone && behind != number) one_behind = false;
    behind = number;
  }
};

// The chain's `full` first blocks are whole; one more at most is not.
void note_chain(std::vector<Neighbours>& blocks, std::span<const std::uint32_t> chain,
                std::size_t full) {
  for (std::size_t i = 0; i < chain.size(); ++i) {
    Neighbours& block = blocks[chain[i]];
    if (i == 0 || i >= full) {
      block.one_before = false;
    } else {
      block.note_before(chain[i - 1]);
    }
    if (i + 1 >= full) {
      block.one_behind = false;
    } else {
      block.note_behind(chain[i + 1]);
    }
  }
}

}  // namespace

std::uint64_t content_key(std::uint64_t scope, std::uint64_t number) {
  return SplitMix64(scope + number).next();
}

std::size_t BlockChains::full_blocks(std::size_t row) const {
  return prompt_tokens_[row] / block_tokens_;
}

void BlockChains::add(std::span<const std::uint64_t> hashes, std::uint32_t prompt_tokens) {
  const std::size_t full = prompt_tokens / block_tokens_;
  CHECK(hashes.size() == full || (hashes.size() == full + 1 && prompt_tokens % block_tokens_ != 0))
      << hashes.size() << " blocks of " << block_tokens_ << " for " << prompt_tokens << " tokens";
  hashes_.insert(hashes_.end(), hashes.begin(), hashes.end());
  offsets_.push_back(hashes_.size());
  prompt_tokens_.push_back(prompt_tokens);
}

TraceContent BlockChains::finish(std::uint64_t scope) const {
  const std::size_t rows = prompt_tokens_.size();
  const HashNumbers numbers(hashes_);
  std::vector<Neighbours> blocks(numbers.size());
  std::vector<std::uint32_t> chain;  // of one row, by number
  const auto number_chain = [&](std::size_t row) {
    chain.clear();
    std::size_t guess = Neighbours::kNone;
    for (std::uint64_t i = offsets_[row]; i < offsets_[row + 1]; ++i) {
      const std::size_t number = numbers.of(hashes_[i], guess);
      chain.push_back(static_cast<std::uint32_t>(number));
      // Prompts mostly go on as the one before them did.
      guess = blocks[number].behind;
    }
  };
  for (std::size_t row = 0; row < rows; ++row) {
    number_chain(row);
    note_chain(blocks, chain, full_blocks(row));
  }

  TraceContent content;
  content.block_tokens = block_tokens_;
  content.offsets.reserve(rows + 1);
  content.offsets.push_back(0);
  for (std::size_t row = 0; row < rows; ++row) {
    number_chain(row);
    const std::size_t full = full_blocks(row);
    std::uint32_t tokens = 0;
    for (std::size_t i = 0; i < chain.size(); ++i) {
      const bool whole = i < full;
      tokens += whole ? block_tokens_ : prompt_tokens_[row] % block_tokens_;
      const bool joined =
          whole && i + 1 < full && blocks[chain[i]].one_behind && blocks[chain[i + 1]].one_before;
      if (joined) continue;
      const std::uint64_t key = content_key(scope, hashes_[offsets_[row] + i]);
      content.pieces.push_back({key, std::exchange(tokens, 0)});
    }
    content.offsets.push_back(content.pieces.size());
  }
  content.pieces.shrink_to_fit();
  return content;
}

}  // namespace inferscale
