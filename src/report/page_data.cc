#include "report/page_data.h"

#include <algorithm>
#include <span>
#include <string_view>
#include <vector>

#include "base/json_writer.h"
#include "metrics/fleet_summary.h"
#include "report/distribution_plots.h"
#include "report/page.h"
#include "report/page_numbers.h"
#include "report/session_page_data.h"
#include "report/time_plots.h"

namespace inferscale {
namespace {

// Enough for a screen, few enough for a page that opens at once.
constexpr std::size_t kScatterPoints = 20000;
constexpr std::size_t kTimelinePoints = 1500;
constexpr std::size_t kHistogramBars = 48;
constexpr std::size_t kMostRateBins = 240;
constexpr std::size_t kLeastRateBins = 10;
constexpr std::size_t kRequestsPerRateBin = 50;  // or the rates would be noise
constexpr std::size_t kTtftBins = 60;
constexpr std::size_t kRequestsPerTtftBin = 20;

// The distribution of one latency over the finished requests with at least `least_tokens`, those of
// the warm-up left out as in the summary.
template <typename Nanos>
JsonValue latency_cdf(const RunFolder& run, std::uint32_t least_tokens, Nanos nanos) {
  std::vector<double> values_ms;
  for (const Outcome& outcome : std::span(run.outcomes).subspan(run.warmup_excluded)) {
    if (outcome.finished() && outcome.output_tokens >= least_tokens) {
      values_ms.push_back(static_cast<double>(nanos(outcome)) * 1e-6);
    }
  }
  return cdf_json(std::move(values_ms));
}

JsonValue cdfs_json(const RunFolder& run) {
  return JsonValue::object()
      .add("ttft", latency_cdf(run, 1, [](const Outcome& o) { return o.ttft().ns(); }))
      .add("tpot", latency_cdf(run, 2, [](const Outcome& o) { return o.tpot_ns(); }))
      .add("e2e", latency_cdf(run, 1, [](const Outcome& o) { return o.e2e().ns(); }))
      .add("itl_max", latency_cdf(run, 2, [](const Outcome& o) { return o.itl_max.ns(); }));
}

char verdict_letter(SloVerdict verdict) {
  switch (verdict) {
    case SloVerdict::kMet:
      return '+';
    case SloVerdict::kMissed:
      return '-';
    case SloVerdict::kNotJudged:
      break;
  }
  return '.';
}

// Those that arrived in the part of the run that plots over time show.
std::span<const Outcome> shown_outcomes(const RunFolder& run) {
  const Instant until = shown_until(run).value_or(Instant::never());
  const auto behind =
      std::partition_point(run.outcomes.begin(), run.outcomes.end(),
                           [until](const Outcome& outcome) { return outcome.arrival <= until; });
  return {run.outcomes.begin(), behind};
}

std::span<const SignalSample> shown_signals(const RunFolder& run) {
  const Instant until = shown_until(run).value_or(Instant::never());
  const auto behind =
      std::partition_point(run.signals.begin(), run.signals.end(),
                           [until](const SignalSample& sample) { return sample.at <= until; });
  return {run.signals.begin(), behind};
}

JsonValue scatter_json(const RunFolder& run) {
  const Scatter scatter = ttft_scatter(shown_outcomes(run), kScatterPoints);
  std::string verdicts;
  for (const std::size_t i : scatter.indices) verdicts += verdict_letter(run.verdicts[i]);
  const auto at = [&](std::size_t i) -> const Outcome& { return run.outcomes[i]; };
  return JsonValue::object()
      .add("candidates", scatter.candidates)
      .add("group", scatter.group)
      .add("t_s", numbers(scatter.indices, kTimeDigits,
                          [&](std::size_t i) { return at(i).arrival.seconds(); }))
      .add("ms", numbers(scatter.indices, kValueDigits,
                         [&](std::size_t i) { return at(i).ttft().millis(); }))
      .add("verdict", verdicts);
}

JsonValue ttft_over_time_json(const RunFolder& run) {
  const auto bins = ttft_over_time(shown_outcomes(run), kTtftBins, kRequestsPerTtftBin);
  return JsonValue::object()
      .add("t_s", numbers(bins, kTimeDigits, [](const TtftBin& bin) { return bin.t_s; }))
      .add("p50", numbers(bins, kValueDigits, [](const TtftBin& bin) { return bin.p50_ms; }))
      .add("p95", numbers(bins, kValueDigits, [](const TtftBin& bin) { return bin.p95_ms; }));
}

JsonValue rates_json(const RunFolder& run) {
  const std::size_t bins =
      std::clamp(shown_outcomes(run).size() / kRequestsPerRateBin, kLeastRateBins, kMostRateBins);
  const RateSeries series =
      rate_series(run.outcomes, bins, shown_until(run).value_or(Instant::never()));
  return JsonValue::object()
      .add("width_s", series.width_s)
      .add("arrived", numbers(series.arrived, kValueDigits))
      .add("finished", numbers(series.finished, kValueDigits))
      .add("refused", numbers(series.refused, kValueDigits))
      .add("deferred", numbers(series.deferred, kValueDigits));
}

JsonValue lengths_json(const RunFolder& run, std::uint32_t Outcome::* length) {
  std::vector<std::uint32_t> values;
  values.reserve(run.outcomes.size());
  for (const Outcome& outcome : run.outcomes) values.push_back(outcome.*length);
  const LengthHistogram histogram = length_histogram(std::move(values), kHistogramBars);
  JsonValue counts = JsonValue::array();
  for (const std::uint64_t count : histogram.counts) counts.append(count);
  return JsonValue::object()
      .add("first", histogram.first)
      .add("width", histogram.width)
      .add("counts", std::move(counts))
      .add("open_ended", histogram.open_ended)
      .add("min", histogram.min)
      .add("max", histogram.max);
}

JsonValue spread_json(const Timeline& line, Spread TimelinePoint::* quantity, double scale) {
  const auto part = [&](double Spread::* member) {
    return numbers(line.points, kValueDigits,
                   [&](const TimelinePoint& point) { return (point.*quantity).*member * scale; });
  };
  // Where each point is one sample of one replica the three are the same: written once.
  const bool spread = line.instants_per_point > 1 || line.replicas > 1;
  return JsonValue::object()
      .add("min", spread ? part(&Spread::min) : JsonValue())
      .add("mean", part(&Spread::mean))
      .add("max", spread ? part(&Spread::max) : JsonValue());
}

JsonValue timeline_json(const RunFolder& run) {
  const Timeline line = timeline(shown_signals(run), kTimelinePoints);
  constexpr double kPercent = 100;
  return JsonValue::object()
      .add("instants", line.instants)
      .add("instants_per_point", line.instants_per_point)
      .add("replicas", line.replicas)
      .add("t_s", numbers(line.points, kTimeDigits, [](const auto& point) { return point.t_s; }))
      .add("queue", spread_json(line, &TimelinePoint::queue_depth, 1))
      .add("running", spread_json(line, &TimelinePoint::running, 1))
      .add("kv", spread_json(line, &TimelinePoint::kv_used_fraction, kPercent));
}

JsonValue fleet_json(const RunFolder& run) {
  if (run.replicas.size() < 2) return {};
  JsonValue rows = JsonValue::array();
  for (const FleetRow& row : fleet_rows(run.replicas)) {
    rows.append(JsonValue::object()
                    .add("pool", row.pool)
                    .add("replica", row.replica)
                    .add("up_s", row.up_s)
                    .add("busy_fraction", row.busy_fraction)
                    .add("finished", row.finished)
                    .add("preemptions", row.preemptions)
                    .add("prefix_hit_rate", row.prefix_hit_rate)
                    .add("kv_used_mean", row.kv_used_mean)
                    .add("kv_used_peak", row.kv_used_peak)
                    .add("queue_peak", row.queue_peak));
  }
  return JsonValue::object()
      .add("replicas", run.replicas.size())
      .add("quantiles", run.replicas.size() > kMostFleetRows)
      .add("rows", std::move(rows));
}

}  // namespace

std::string page_data_json(const RunFolder& run) {
  JsonValue series = JsonValue::object();
  series.add("timeline", timeline_json(run));
  if (run.has_outcomes) {
    series.add("cdf", cdfs_json(run))
        .add("scatter", scatter_json(run))
        .add("ttft_over_time", ttft_over_time_json(run))
        .add("rates", rates_json(run))
        .add("lengths", JsonValue::object()
                            .add("prompt", lengths_json(run, &Outcome::prompt_tokens))
                            .add("output", lengths_json(run, &Outcome::output_tokens)));
  }
  const JsonValue page = JsonValue::object()
                             .add("manifest", JsonValue::raw(run.manifest_json))
                             .add("summary", JsonValue::raw(run.summary_json))
                             .add("fleet", fleet_json(run))
                             .add("sessions", session_page_json(run))
                             .add("series", std::move(series));
  return without_less_than(page.text());
}

}  // namespace inferscale
