#include "validation/pools_campaign.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/check.h"
#include "base/config_reader.h"
#include "base/edge/yaml_config.h"
#include "catalog/models.h"
#include "sim/deployment.h"
#include "sim/run_config.h"
#include "workload/lengths.h"

namespace inferscale {
namespace {

// SGLang's defaults for this accelerator, whose places nobody came near to. With the cache on,
// sliding windows are kept, as that engine's split workers do.
std::string config_of(const MeasuredCase& measured, const PoolOptions& options) {
  return fmt::format(
      "deployment:\n"
      "  model: gpt-oss-120b\n"
      "  hardware: h200\n"
      "  parallel: {{tensor: {}}}\n"
      "  precision: {{weights: {}}}\n"
      "  engine: {{scheduler: sglang, max_num_seqs: 2048, max_num_batched_tokens: 8192,\n"
      "           prefix_caching: {}}}\n"
      "  latency: {{prefill_scale: {}, decode_scale: {}}}\n"
      "  router: {{policy: round_robin}}\n"
      "  disaggregation:\n"
      "    prefill: {{replicas: {}}}\n"
      "    decode: {{replicas: {}, router: {{policy: round_robin}}}}\n"
      "workload:\n"  // required, but the requests come from the loop
      "  arrivals: {{process: poisson, rate_rps: 1}}\n"
      "  prompt_tokens: {{distribution: constant, value: 1}}\n"
      "  output_tokens: {{distribution: constant, value: 1}}\n",
      options.tensor, measured.precision, options.prefix_caching, options.prefill_scale,
      options.decode_scale, *measured.prefill_workers, *measured.decode_workers);
}

Result<FleetDeployment> deployment_of(const std::string& text) {
  const Result<ConfigNode> tree = parse_yaml(text, "pools");
  if (!tree) return std::unexpected(tree.error());
  ConfigSession session;
  ConfigReader root(*tree, session);
  const RunConfig config = read_run_config(root, [](const std::string& name) -> Result<ModelSpec> {
    const auto model = find_model(name);
    if (!model) return fail(ErrorCode::kNotFound, "no such model", name);
    return *model;
  });
  root.finish();
  if (session.failed()) return std::unexpected(session.error());
  return derive_fleet(config);
}

// "2048x128": the most that was asked for is what stands behind the x.
std::uint32_t asked_for(const std::string& lengths) {
  return static_cast<std::uint32_t>(std::stoul(lengths.substr(lengths.find('x') + 1)));
}

ClosedStage stage_of(const MeasuredCase& measured, std::uint32_t most,
                     const std::vector<ContentPiece>& prompts, double output_cv) {
  ClosedStage stage{.in_flight = static_cast<std::size_t>(*measured.concurrency)};
  LengthSampler answers(
      {.shape = LognormalLength{.mean = *measured.output_tokens, .cv = output_cv}, .max = most},
      RandomStream(1, "pools.output"));
  for (const ContentPiece& prompt : prompts) {
    stage.requests.push_back({.prompt_tokens = prompt.tokens,
                              .output_tokens = answers.draw(),
                              .max_tokens = most,
                              .content = &prompt,
                              .content_pieces = 1});
  }
  return stage;
}

}  // namespace

Result<std::vector<PoolRow>> simulate_pools(const std::vector<MeasuredCase>& cases,
                                            const std::string& ratio, const std::string& lengths,
                                            const PoolOptions& options) {
  std::vector<PoolRow> rows;
  for (const MeasuredCase& measured : cases) {
    if (measured.id.starts_with("dstack/pd/" + ratio + "-c") &&
        measured.id.ends_with("-" + lengths)) {
      rows.push_back({.measured = measured, .ours = {}});
    }
  }
  CHECK(!rows.empty()) << "no rows of " << ratio << " with " << lengths;
  std::ranges::sort(rows, std::greater<>(),
                    [](const PoolRow& row) { return *row.measured.concurrency; });

  const MeasuredCase& first = rows.front().measured;
  const Result<FleetDeployment> deployment = deployment_of(config_of(first, options));
  if (!deployment) return std::unexpected(deployment.error());

  std::vector<ContentPiece> prompts;
  for (std::int64_t i = 0; i < *first.requests; ++i) {
    prompts.push_back({.key = static_cast<std::uint64_t>(i + 1),
                       .tokens = static_cast<std::uint32_t>(std::llround(*first.prompt_tokens))});
  }
  std::vector<ClosedStage> stages;
  for (const PoolRow& row : rows) {
    ClosedStage stage = stage_of(row.measured, asked_for(lengths), prompts, options.output_cv);
    stages.push_back({.requests = {stage.requests.front()}});
    stages.push_back(std::move(stage));
  }
  const auto results = run_closed_loop(deployment->fleet, std::move(stages));
  if (!results) return std::unexpected(results.error());
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i].ours = (*results)[2 * i + 1];
  return rows;
}

}  // namespace inferscale
