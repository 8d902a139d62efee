// What idle KV blocks are to a prefix cache with time: each block by itself, with the tokens that
// it holds and the instant at which it was let go of, and everything added up at every nanosecond.
// Slow, and without a thought: what the tests of the ledger compare it with.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "replica/kv_retention.h"
#include "replica/prefix_cache.h"

namespace inferscale {

using Tokens = std::vector<std::uint64_t>;

struct Rules {
  std::int64_t block_tokens = 1;
  BlockCount total = 1;
  IdleKv idle = IdleKv::kRetain;
  std::optional<std::int64_t> ttl;
  bool keep_ended = false;
  std::int64_t base_latency = 0;
  std::int64_t ns_per_token = 1;  // of a move
};

// A call, and what it has in both memories.
struct Call {
  std::vector<ContentPiece> pieces;
  ProgramCall program;
  Request request;
  Tokens tokens;  // of the prompt and the answer
  TokenCount own_from = 0;
  PrefixCache::Hold hold;
  BlockCount taken = 0;
  std::vector<int> own;  // the naive memory's
  std::size_t held = 0;  // blocks that it references there
  TokenCount computed() const { return request.prompt_tokens + request.output_tokens - 1; }
};

// Each block by itself, and what is added up at every nanosecond.
class SingleBlocks {
 public:
  explicit SingleBlocks(const Rules& rules)
      : rules_(rules), blocks_(static_cast<std::size_t>(rules.total)) {
    for (int block = 0; block < rules.total; ++block) free_.push_back(block);
  }

  BlockCount free() const { return static_cast<BlockCount>(free_.size()); }
  BlockCount idle() const {
    return std::count_if(free_.begin(), free_.end(),
                         [&](int block) { return !at(block).content.empty(); });
  }
  std::size_t match(const Call& call, TokenCount limit) const {
    std::size_t hits = 0;
    while (static_cast<TokenCount>(hits + 1) * rules_.block_tokens <= limit &&
           readable_.contains(up_to(call, hits))) {
      ++hits;
    }
    return hits;
  }
  void acquire(Call& call, std::size_t blocks) {
    while (call.held < blocks) reference(readable_.at(up_to(call, call.held++)));
  }
  void take(Call& call, BlockCount blocks) {
    for (BlockCount i = 0; i < blocks; ++i) {
      // Blank ones before those that could be found again.
      const auto blank = std::find_if(free_.begin(), free_.end(),
                                      [&](int each) { return at(each).content.empty(); });
      const auto first = blank == free_.end() ? free_.begin() : blank;
      const int block = *first;
      free_.erase(first);
      if (!at(block).content.empty()) {
        evicted += rules_.block_tokens;
        evicted_from.insert(at(block).release);
        forget(block);
      }
      call.own.push_back(block);
    }
  }
  void publish(Call& call) {
    while (static_cast<TokenCount>(call.held + 1) * rules_.block_tokens <= call.computed()) {
      const Tokens content = up_to(call, call.held++);
      const int block = call.own.front();
      call.own.erase(call.own.begin());
      const auto [found, is_new] = readable_.emplace(content, block);
      if (is_new) {
        at(block) = {.content = content, .references = 1};
      } else {
        free_.push_back(block);
        reference(found->second);
      }
    }
  }
  void release(Call& call) {
    free_.insert(free_.end(), call.own.begin(), call.own.end());
    call.own.clear();
    ++releases_;
    for (; call.held > 0; --call.held) {
      const int block = readable_.at(up_to(call, call.held - 1));
      if (--at(block).references > 0) continue;
      at(block).let_go = now;
      at(block).release = releases_;
      free_.push_back(block);
    }
  }
  // What nobody references of the chain's own content is lost. Returns how many tokens.
  TokenCount drop(const Call& call) {
    TokenCount dropped = 0;
    for (std::size_t i = 0; i < call.tokens.size() / block_size(); ++i) {
      if (static_cast<TokenCount>(i + 1) * rules_.block_tokens <= call.own_from) continue;
      const auto found = readable_.find(up_to(call, i));
      if (found == readable_.end() || at(found->second).references > 0) continue;
      forget(found->second);
      dropped += rules_.block_tokens;
    }
    return dropped;
  }
  void drop_later(const Call& call, std::int64_t due, bool for_good) {
    drops_.push_back({call, due, for_good});
  }
  void keep_after_all(std::uint32_t chain) {
    std::erase_if(drops_, [&](const Drop& drop) {
      return !drop.for_good && drop.call.program.chain == chain && drop.due > now;
    });
  }

  void go_to(std::int64_t later) {
    do_what_is_due();
    while (now < later) {
      const TokenCount here = rules_.block_tokens * idle();
      const TokenCount all = here + rules_.block_tokens * (rules_.total - free());
      idle_ns += here;
      resident_ns += all;
      peak = std::max(peak, all);
      ++now;
      do_what_is_due();
    }
  }

  std::int64_t now = 0;
  std::int64_t idle_ns = 0;
  std::int64_t resident_ns = 0;
  TokenCount peak = 0;
  TokenCount expired = 0;
  TokenCount evicted = 0;
  TokenCount ended = 0;
  TokenCount recomputed = 0;
  std::set<int> expired_from;  // whose ends left the blocks that were lost
  std::set<int> evicted_from;

 private:
  struct Block {
    Tokens content;  // up to its end; empty: not readable
    int references = 0;
    std::int64_t let_go = 0;
    int release = 0;
  };
  struct Drop {
    Call call;
    std::int64_t due;
    bool for_good;
  };

  std::size_t block_size() const { return static_cast<std::size_t>(rules_.block_tokens); }
  Block& at(int block) { return blocks_[static_cast<std::size_t>(block)]; }
  const Block& at(int block) const { return blocks_[static_cast<std::size_t>(block)]; }
  Tokens up_to(const Call& call, std::size_t block) const {
    const auto end = static_cast<std::ptrdiff_t>((block + 1) * block_size());
    return {call.tokens.begin(), call.tokens.begin() + end};
  }
  void reference(int block) {
    if (at(block).references++ == 0) free_.remove(block);
  }
  void forget(int block) {
    readable_.erase(at(block).content);
    at(block).content.clear();
  }
  void do_what_is_due() {
    for (const int block : free_) {
      if (!rules_.ttl || at(block).content.empty() || at(block).let_go + *rules_.ttl > now)
        continue;
      expired += rules_.block_tokens;
      expired_from.insert(at(block).release);
      forget(block);
    }
    for (const Drop& drop : std::exchange(drops_, {})) {
      if (drop.due > now) {
        drops_.push_back(drop);
      } else {
        const TokenCount dropped = this->drop(drop.call);
        if (drop.for_good) ended += dropped;
      }
    }
  }

  Rules rules_;
  std::vector<Block> blocks_;
  std::list<int> free_;
  std::map<Tokens, int> readable_;
  std::vector<Drop> drops_;
  int releases_ = 0;
};

}  // namespace inferscale
