// What a full scenario has beyond a plain one (scenario.h).

#include <algorithm>
#include <utility>

#include "property/dice.h"
#include "property/scenario.h"
#include "property/shape_probe.h"

namespace inferscale {
namespace {

TokenCount longest_of(const std::vector<Request>& requests) {
  TokenCount longest = 1;
  for (const Request& r : requests) {
    longest = std::max(longest, static_cast<TokenCount>(r.prompt_tokens) + r.max_tokens);
  }
  return longest;
}

void choose_scheduler(Dice& dice, double service_ns, bool in_split, ReplicaOptions& options) {
  options.scheduler = dice.one_of({SchedulerKind::kContinuousFcfs, SchedulerKind::kStaticFcfs,
                                   SchedulerKind::kContinuousSjf, SchedulerKind::kContinuousSlo,
                                   SchedulerKind::kChunkedSlo, SchedulerKind::kChunkedSlo,
                                   SchedulerKind::kVllm, SchedulerKind::kVllm, SchedulerKind::kVllm,
                                   SchedulerKind::kSglang, SchedulerKind::kSglang});
  if (in_split && options.scheduler == SchedulerKind::kStaticFcfs) {
    options.scheduler = SchedulerKind::kContinuousFcfs;
  }
  const SchedulerRules& rules = rules_of(options.scheduler);
  options.by_priority = rules.knows_priority && dice.chance(0.5);
  if (rules.needs_deadline || dice.chance(0.2)) {
    options.e2e_limit = Duration::nanos(
        static_cast<std::int64_t>(service_ns * dice.one_of({0.5, 3.0, 10.0, 100.0})) + 1);
  }
  // Equal keys must occur, and keys that lie nanoseconds apart.
  options.service = {.prefill_ns_per_token = dice.one_of({0.0, 1.0, 1000.0, 1234.5}),
                     .decode_ns_per_token = dice.one_of({0.0, 1.0, 7000.0, 12345.6})};
  if (rules.expects_output) {
    options.max_num_batched_tokens = std::max<TokenCount>(
        options.layout.block_tokens, dice.one_of<TokenCount>({16, 60, 300, 2048}));
  }
  if (rules.mixed) {
    options.max_num_batched_tokens = dice.one_of<TokenCount>({1, 4, 16, 60, 300, 2048});
    options.max_num_batched_tokens = std::max(options.max_num_batched_tokens, options.max_num_seqs);
    options.long_prefill_token_threshold = dice.one_of<TokenCount>({0, 0, 1, 5, 33, 200});
  }
}

void choose_layout(Dice& dice, ReplicaOptions& options) {
  if (dice.chance(0.35)) {
    options.prefix_caching = true;
    options.layout.full_groups = dice.one_of<std::int64_t>({1, 1, 2});
    if (dice.chance(0.2)) options.layout.window_tokens = dice.between(1, 200);
    return;
  }
  if (dice.chance(0.25)) {
    options.shared_prefix_tokens = dice.one_of<TokenCount>({1, 15, 16, 50, 333});
    options.layout.full_groups = dice.one_of<std::int64_t>({1, 1, 3});
    return;
  }
  if (dice.chance(0.5)) return;
  options.layout.full_groups = dice.between(0, 3);
  options.layout.window_groups = dice.between(options.layout.full_groups == 0 ? 1 : 0, 3);
  options.layout.window_tokens = dice.one_of<TokenCount>({1, 5, 16, 50, 128});
}

// From a cache that is never full to one that hardly holds the longest request.
void choose_blocks(Dice& dice, TokenCount longest, ReplicaOptions& options) {
  const BlockCount one = options.layout.blocks_for(longest);
  const double factor = dice.one_of({0.8, 1.0, 1.0, 1.3, 2.0, 4.0, 1e4});
  const auto some = static_cast<BlockCount>(factor * static_cast<double>(one)) + 1;
  const std::int64_t block = options.layout.block_tokens;
  options.kv_blocks =
      some + options.layout.blocks_for(options.shared_prefix_tokens / block * block);
  if (dice.chance(0.4)) options.watermark_blocks = dice.between(1, one / 8 + 1);
}

// Chains of content: new ones, longer ones, and the same again.
class Chains {
 public:
  Chains(Dice& dice, std::int64_t block_tokens) : dice_(dice), block_tokens_(block_tokens) {}

  // A chain for a request whose prompt is to have about `tokens` tokens of its own.
  std::vector<ContentPiece> draw(std::int64_t tokens) {
    std::vector<ContentPiece> chain;
    if (!known_.empty() && dice_.chance(0.75)) {
      chain = known_[static_cast<size_t>(
          dice_.between(0, static_cast<std::int64_t>(known_.size()) - 1))];
      const auto keep =
          static_cast<size_t>(dice_.between(0, static_cast<std::int64_t>(chain.size())));
      if (dice_.chance(0.3)) chain.resize(keep);
    }
    for (std::int64_t i = dice_.between(0, 2); i > 0; --i) {
      chain.push_back(new_piece(1 + dice_.between(0, tokens)));
    }
    if (length(chain) > kLongest) chain.resize(1);
    return chain;
  }
  ContentPiece new_piece(std::int64_t tokens) {
    if (dice_.chance(0.3)) tokens = (tokens / block_tokens_ + 1) * block_tokens_;
    return {.key = 0x9e3779b97f4a7c15U * ++keys_, .tokens = static_cast<std::uint32_t>(tokens)};
  }
  ContentPiece answer(std::uint32_t tokens) {
    return {.key = 0x9e3779b97f4a7c15U * ++keys_, .tokens = tokens};
  }
  void remember(const std::vector<ContentPiece>& chain) {
    if (!chain.empty()) known_.push_back(chain);
  }
  static TokenCount length(const std::vector<ContentPiece>& chain) {
    TokenCount sum = 0;
    for (const ContentPiece& piece : chain) sum += piece.tokens;
    return sum;
  }

 private:
  static constexpr TokenCount kLongest = 3000;

  Dice& dice_;
  std::int64_t block_tokens_;
  std::uint64_t keys_ = 0;
  std::vector<std::vector<ContentPiece>> known_;
};

void draw_content(Dice& dice, Scenario& scenario) {
  Chains chains(dice, scenario.options.layout.block_tokens);
  scenario.content.reserve(scenario.requests.size());
  for (Request& request : scenario.requests) {
    std::vector<ContentPiece> chain = chains.draw(request.prompt_tokens);
    const bool own_tail = chain.empty() || dice.chance(0.4);
    request.prompt_tokens = static_cast<std::uint32_t>(
        Chains::length(chain) + (own_tail ? dice.between(1, request.prompt_tokens) : 0));
    request.content_pieces = static_cast<std::uint32_t>(chain.size());
    request.output_is_content = !own_tail && dice.chance(0.6);
    if (request.output_is_content) chain.push_back(chains.answer(request.output_tokens));
    chains.remember(chain);
    scenario.content.push_back(std::move(chain));
    request.content = scenario.content.back().data();
  }
}

void draw_request_features(Dice& dice, Scenario& scenario) {
  const bool asks_for_more = dice.chance(0.5);
  const TokenCount prefix = std::max(scenario.options.shared_prefix_tokens,
                                     scenario.decode ? scenario.decode->shared_prefix_tokens : 0);
  for (Request& request : scenario.requests) {
    request.priority = dice.one_of({-1, 0, 0, 1, 7});
    if (prefix > 0 && dice.chance(0.6)) {
      // An answer's content follows the prompt's, which then has no tokens besides.
      if (!request.output_is_content) {
        request.prompt_tokens += static_cast<std::uint32_t>(prefix / 2);
      }
      request.shared_prefix_tokens = static_cast<std::uint32_t>(std::clamp<TokenCount>(
          prefix + dice.between(-5, 5), 0, static_cast<TokenCount>(request.prompt_tokens)));
    }
    if (asks_for_more && dice.chance(0.7)) {
      request.max_tokens += static_cast<std::uint32_t>(dice.between(0, 2 * request.output_tokens));
    }
  }
}

double mean_gap_ns(const std::vector<Request>& requests) {
  const double span = static_cast<double>((requests.back().arrival - requests[0].arrival).ns());
  return std::max(1000.0, span / static_cast<double>(requests.size()));
}

void split_roles(Dice& dice, Scenario& scenario, double gap_ns) {
  ReplicaOptions& prefill = scenario.options;
  prefill.role = ReplicaRole::kPrefill;
  ReplicaOptions decode = prefill;
  decode.role = ReplicaRole::kDecode;
  decode.index = 1;
  decode.max_queued.reset();
  decode.max_num_seqs =
      dice.chance(0.15) ? 1 : static_cast<std::int64_t>(dice.log_between(1, 60.99));
  decode.layout = {.block_tokens = dice.one_of<std::int64_t>({1, 3, 16, 16})};
  choose_scheduler(dice, gap_ns, true, decode);
  decode.prefix_caching = false;
  decode.shared_prefix_tokens = 0;
  choose_layout(dice, decode);
  scenario.decode = decode;
  scenario.mean_transfer_ns = gap_ns * dice.one_of({0.0, 0.1, 1.0, 10.0});
}

}  // namespace

Scenario make_full_scenario(std::uint64_t seed) {
  Scenario scenario = make_scenario(seed);
  Dice dice(seed, "features");
  const double gap_ns = mean_gap_ns(scenario.requests);
  const bool in_split = dice.chance(0.35);
  choose_scheduler(dice, gap_ns, in_split, scenario.options);
  choose_layout(dice, scenario.options);
  if (in_split) split_roles(dice, scenario, gap_ns);
  const bool caches =
      scenario.options.prefix_caching || (scenario.decode && scenario.decode->prefix_caching);
  if (caches) draw_content(dice, scenario);
  draw_request_features(dice, scenario);
  const TokenCount longest = longest_of(scenario.requests);
  choose_blocks(dice, longest, scenario.options);
  if (scenario.decode) choose_blocks(dice, longest, *scenario.decode);
  if (scenario.options.max_model_len < 1'000'000) {
    scenario.options.max_model_len = dice.between(longest / 2 + 1, longest);
    if (scenario.decode) scenario.decode->max_model_len = scenario.options.max_model_len;
  }
  if (dice.chance(0.6)) {
    scenario.latency = make_shape_probe(std::move(scenario.latency), seed,
                                        scenario.family == ScenarioFamily::kWhole);
  }
  draw_classes(scenario);
  return scenario;
}

}  // namespace inferscale
