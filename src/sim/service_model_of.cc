#include "sim/service_model_of.h"

#include <algorithm>

#include "base/check.h"
#include "base/straight_line.h"
#include "replica/latency/lone_service.h"

namespace inferscale {
namespace {

constexpr int kProbes = 8;

double decode_step_ns(const LatencyModel& latency, std::int64_t sequences, TokenCount context,
                      TokenCount window) {
  const bool grows = window == 0 || context < window;
  const TokenCount seen = grows ? context : window;
  return latency
      .cost({.decode_sequences = sequences,
             .decode_context = sequences * context,
             .decode_window_context = sequences * seen,
             .decode_growing = grows ? sequences : 0})
      .first_ns;
}

// Whole numbers at even distances, the last one being `most`; fewer where `most` is small.
template <typename Probe>
void for_each_probe(std::int64_t most, const Probe& probe) {
  std::int64_t last = 0;
  for (int i = 1; i <= kProbes; ++i) {
    const std::int64_t at = std::max<std::int64_t>(1, most * i / kProbes);
    if (at != last) probe(at);
    last = at;
  }
}

}  // namespace

ServiceModel service_model_of(const LatencyModel& latency, const ReplicaOptions& replica,
                              std::int64_t replicas, const TypicalRequest& typical) {
  CHECK(replicas >= 1 && typical.context >= 1) << replicas << ", " << typical.context;
  const KvLayout& layout = replica.layout;
  const TokenCount window = layout.window_tokens;
  const TokenCount longest = std::max<TokenCount>(
      1, replica.max_model_len > 0 ? replica.max_model_len : replica.max_num_batched_tokens);
  const TokenCount context = std::min(typical.context, longest);
  ServiceModel model{
      .chunk_tokens = replica.max_num_batched_tokens,
      .kv_capacity_tokens =
          replica.kv_blocks / (layout.full_groups + layout.window_groups) * layout.block_tokens,
      .max_num_seqs = replica.serial ? 1 : replica.max_num_seqs,
      .replicas = replicas,
      .provenance = ServiceProvenance::kCatalogue,
      .confidence = 1};

  // A batch of one has no slope: two sequences are asked about even where one is the most.
  StraightLine decode;
  const auto ask = [&](std::int64_t sequences) {
    decode.add(static_cast<double>(sequences), decode_step_ns(latency, sequences, context, window));
  };
  ask(1);
  for_each_probe(std::max<std::int64_t>(2, model.max_num_seqs), [&](std::int64_t sequences) {
    if (sequences > 1) ask(sequences);
  });
  const bool goes_through_origin = decode.intercept() < 0;
  model.decode_ns_per_sequence =
      std::max(0.0, goes_through_origin ? decode.slope_through_origin() : decode.slope());
  model.step_ns = std::max(0.0, decode.mean_y() - model.decode_ns_per_sequence * decode.mean_x());
  if (goes_through_origin) model.step_ns = 0;

  StraightLine prefill;
  const LoneService lone(latency, model.chunk_tokens, window);
  for_each_probe(std::min(model.chunk_tokens, longest), [&](std::int64_t tokens) {
    prefill.add(static_cast<double>(tokens), lone.prefill_ns(0, tokens) - model.step_ns);
  });
  model.prefill_ns_per_token = std::max(0.0, prefill.slope_through_origin());
  return model;
}

}  // namespace inferscale
