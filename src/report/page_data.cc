#include "report/page_data.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <span>
#include <string_view>
#include <vector>

#include "base/json_writer.h"
#include "metrics/fleet_summary.h"
#include "report/distribution_plots.h"
#include "report/page.h"
#include "report/time_plots.h"

namespace inferscale {
namespace {

// Enough for a screen, few enough for a page that opens at once.
constexpr std::size_t kCdfPoints = 900;
constexpr std::size_t kScatterPoints = 20000;
constexpr std::size_t kTimelinePoints = 1500;
constexpr std::size_t kHistogramBars = 48;
constexpr std::size_t kMostRateBins = 240;
constexpr std::size_t kLeastRateBins = 10;
constexpr std::size_t kRequestsPerRateBin = 50;  // or the rates would be noise
constexpr std::size_t kTtftBins = 60;
constexpr std::size_t kRequestsPerTtftBin = 20;

// Digits that a plot can show; a time on a zoomed axis needs more.
constexpr int kValueDigits = 4;
constexpr int kTimeDigits = 7;

void append_rounded(std::string& out, double value, int digits) {
  if (!std::isfinite(value)) {
    out += "null";
    return;
  }
  std::array<char, 40> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                                 std::chars_format::general, digits)
                       .ptr;
  out.append(buffer.data(), end);
}

// The numbers `number(item)` of all items as a JSON array.
template <typename Items, typename Number>
JsonValue numbers(const Items& items, int digits, Number number) {
  std::string text = "[";
  for (const auto& item : items) {
    if (text.size() > 1) text += ',';
    append_rounded(text, static_cast<double>(number(item)), digits);
  }
  return JsonValue::raw(text + "]");
}

template <typename Items>
JsonValue numbers(const Items& items, int digits) {
  return numbers(items, digits, [](auto item) { return item; });
}

// The distribution of one latency over the finished requests with at least `least_tokens`, those of
// the warm-up left out as in the summary.
template <typename Nanos>
JsonValue cdf_json(const RunFolder& run, std::uint32_t least_tokens, Nanos nanos) {
  std::vector<double> values_ms;
  for (const Outcome& outcome : std::span(run.outcomes).subspan(run.warmup_excluded)) {
    if (outcome.finished() && outcome.output_tokens >= least_tokens) {
      values_ms.push_back(static_cast<double>(nanos(outcome)) * 1e-6);
    }
  }
  const std::size_t count = values_ms.size();
  const std::vector<CdfPoint> points = cdf_points(std::move(values_ms), kCdfPoints);
  constexpr int kMsDigits = 5;
  constexpr int kPercentDigits = 6;
  return JsonValue::object()
      .add("count", count)
      .add("ms", numbers(points, kMsDigits, [](const CdfPoint& p) { return p.value; }))
      .add("percent",
           numbers(points, kPercentDigits, [](const CdfPoint& p) { return p.share * 100; }));
}

JsonValue cdfs_json(const RunFolder& run) {
  return JsonValue::object()
      .add("ttft", cdf_json(run, 1, [](const Outcome& o) { return o.ttft().ns(); }))
      .add("tpot", cdf_json(run, 2, [](const Outcome& o) { return o.tpot_ns(); }))
      .add("e2e", cdf_json(run, 1, [](const Outcome& o) { return o.e2e().ns(); }))
      .add("itl_max", cdf_json(run, 2, [](const Outcome& o) { return o.itl_max.ns(); }));
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

JsonValue scatter_json(const RunFolder& run) {
  const Scatter scatter = ttft_scatter(run.outcomes, kScatterPoints);
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
  const auto bins = ttft_over_time(run.outcomes, kTtftBins, kRequestsPerTtftBin);
  return JsonValue::object()
      .add("t_s", numbers(bins, kTimeDigits, [](const TtftBin& bin) { return bin.t_s; }))
      .add("p50", numbers(bins, kValueDigits, [](const TtftBin& bin) { return bin.p50_ms; }))
      .add("p95", numbers(bins, kValueDigits, [](const TtftBin& bin) { return bin.p95_ms; }));
}

JsonValue rates_json(const RunFolder& run) {
  const std::size_t bins =
      std::clamp(run.outcomes.size() / kRequestsPerRateBin, kLeastRateBins, kMostRateBins);
  const RateSeries series = rate_series(run.outcomes, bins);
  return JsonValue::object()
      .add("width_s", series.width_s)
      .add("arrived", numbers(series.arrived, kValueDigits))
      .add("finished", numbers(series.finished, kValueDigits))
      .add("refused", numbers(series.refused, kValueDigits));
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
  const Timeline line = timeline(run.signals, kTimelinePoints);
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
                             .add("series", std::move(series));
  return without_less_than(page.text());
}

}  // namespace inferscale
