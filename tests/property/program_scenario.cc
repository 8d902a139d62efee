// Scenarios of agent programs: chains of calls that share a system prompt, and plain requests.
//
// Calls arrive when they arrive: a call may overlap with the one before it, which real chains never
// do and replicas must stand.

#include <algorithm>
#include <array>
#include <utility>

#include "property/dice.h"
#include "property/scenario.h"

namespace inferscale {
namespace {

// The prompt of a chain's next call, but for what it adds.
struct Chain {
  std::vector<ContentPiece> pieces;
  std::uint32_t number = 0;
  std::uint32_t history = 0;
  std::uint32_t system_pieces = 0;
};

class Programs {
 public:
  Programs(Dice& dice, Scenario& scenario) : dice_(dice), scenario_(scenario) {
    for (ContentPiece& piece : system_) piece = new_piece(dice_.between(1, 200));
    chains_.resize(static_cast<std::size_t>(dice_.between(1, 12)));
    for (Chain& chain : chains_) begin(chain);
  }

  void fill() {
    scenario_.content.clear();
    scenario_.content.reserve(scenario_.requests.size());
    for (Request& request : scenario_.requests) {
      if (dice_.chance(0.15)) {
        make_plain(request);
      } else {
        make_call(request, chains_[static_cast<std::size_t>(
                               dice_.between(0, static_cast<std::int64_t>(chains_.size()) - 1))]);
      }
    }
  }

 private:
  static constexpr TokenCount kLongest = 2500;

  ContentPiece new_piece(std::int64_t tokens) {
    const std::int64_t block = scenario_.options.layout.block_tokens;
    if (dice_.chance(0.3)) tokens = (tokens / block + 1) * block;
    return {.key = 0x9e3779b97f4a7c15U * ++keys_, .tokens = static_cast<std::uint32_t>(tokens)};
  }

  void begin(Chain& chain) {
    chain = {.number = next_chain_++};
    chain.system_pieces = static_cast<std::uint32_t>(dice_.between(0, 2));
    chain.pieces.assign(system_.begin(), system_.begin() + chain.system_pieces);
  }

  void give_content(Request& request, std::vector<ContentPiece> pieces, std::uint32_t own) {
    request.content_pieces = static_cast<std::uint32_t>(pieces.size());
    request.prompt_tokens = own;
    for (const ContentPiece& piece : pieces) request.prompt_tokens += piece.tokens;
    request.output_is_content = own == 0;
    if (own == 0) pieces.push_back(new_piece(request.output_tokens));
    if (own == 0) pieces.back().tokens = request.output_tokens;
    scenario_.content.push_back(std::move(pieces));
    request.content = scenario_.content.back().data();
  }

  void make_plain(Request& request) {
    std::vector<ContentPiece> pieces(system_.begin(), system_.begin() + dice_.between(0, 2));
    give_content(request, std::move(pieces), request.prompt_tokens);
    request.program = nullptr;
  }

  void make_call(Request& request, Chain& chain) {
    std::vector<ContentPiece> pieces = chain.pieces;
    const std::int64_t added = dice_.one_of<std::int64_t>({1, 10, 100, request.prompt_tokens});
    if (pieces.empty() || dice_.chance(0.8)) pieces.push_back(new_piece(dice_.between(1, added)));
    const bool own_tail = dice_.chance(0.15);
    give_content(request, pieces, own_tail ? static_cast<std::uint32_t>(added) : 0);
    ProgramCall& call = scenario_.calls.emplace_back();
    call = {.chain = chain.number,
            .history_tokens = std::min(chain.history, request.prompt_tokens),
            .own_pieces_from = chain.system_pieces,
            .ends_chain = dice_.chance(0.08)};
    request.program = &call;
    const std::size_t left = request.content_pieces + (request.output_is_content ? 1U : 0U);
    chain.pieces.assign(request.content, request.content + left);
    chain.history = request.prompt_tokens + (own_tail ? 0 : request.output_tokens);
    if (call.ends_chain || request.prompt_tokens > kLongest) {
      begin(chain);
    } else if (dice_.chance(0.05)) {
      // It forgets what was said last.
      chain.pieces.resize(std::max<std::size_t>(chain.system_pieces, left / 2));
      chain.history = 0;
      for (const ContentPiece& piece : chain.pieces) chain.history += piece.tokens;
    }
  }

  Dice& dice_;
  Scenario& scenario_;
  std::uint64_t keys_ = 0;
  std::uint32_t next_chain_ = 0;
  std::array<ContentPiece, 2> system_;
  std::vector<Chain> chains_;
};

void choose_retention(Dice& dice, double gap_ns, TokenCount longest, Scenario& scenario) {
  KvRetentionOptions& retention = scenario.options.retention.emplace();
  retention.idle = dice.one_of(
      {IdleKv::kRetain, IdleKv::kRetain, IdleKv::kRecompute, IdleKv::kOffload, IdleKv::kOffload});
  if (dice.chance(0.6)) {
    // On the grid of the arrivals, so that a TTL often ends at a boundary.
    const double ns = gap_ns * dice.one_of({0.0, 0.1, 1.0, 3.0, 20.0});
    retention.ttl = Duration::nanos(static_cast<std::int64_t>(ns) / 1000 * 1000);
  }
  retention.keep_ended = dice.chance(0.3);
  retention.kv_bytes_per_token = dice.one_of({1.0, 1.5, 4096.0});
  const double entry = static_cast<double>(longest) * retention.kv_bytes_per_token;
  const double transfer_ns = gap_ns * dice.one_of({0.01, 0.3, 1.0, 5.0});
  retention.host = {.capacity_bytes = entry * dice.one_of({0.0, 0.3, 1.5, 4.0, 1e6}),
                    .base_latency = Duration::nanos(dice.one_of<std::int64_t>({0, 1000, 7777})),
                    .bytes_per_ns = entry / transfer_ns};
}

}  // namespace

Scenario make_program_scenario(std::uint64_t seed) {
  Scenario scenario = make_full_scenario(seed);
  Dice dice(seed, "programs");
  scenario.decode.reset();
  ReplicaOptions& options = scenario.options;
  options.role = ReplicaRole::kWhole;
  options.shared_prefix_tokens = 0;
  options.prefix_caching = dice.chance(0.95);
  options.layout.full_groups = dice.one_of<std::int64_t>({1, 1, 2});
  options.layout.window_groups = 0;
  for (Request& request : scenario.requests) {
    request.shared_prefix_tokens = 0;
    request.max_tokens = std::max(request.max_tokens, request.output_tokens);
  }
  Programs(dice, scenario).fill();
  TokenCount longest = 1;
  for (const Request& r : scenario.requests) {
    longest = std::max(longest, static_cast<TokenCount>(r.prompt_tokens) + r.max_tokens);
  }
  const double factor = dice.one_of({0.9, 1.1, 1.5, 2.0, 4.0, 10.0});
  options.kv_blocks =
      1 + static_cast<BlockCount>(factor * static_cast<double>(options.layout.blocks_for(longest)));
  const double span = static_cast<double>(
      (scenario.requests.back().arrival - scenario.requests.front().arrival).ns());
  const double gap_ns = std::max(1000.0, span / static_cast<double>(scenario.requests.size()));
  choose_retention(dice, gap_ns, longest, scenario);
  return scenario;
}

}  // namespace inferscale
