#include "study/validation/measured_figures.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <string>

namespace inferscale {
namespace {

// A figure that is one number, under our name for it and those of others.
struct ScalarFigure {
  std::string_view key;
  Metric metric;
  bool needs_slo = false;
};

constexpr std::array kScalars = {
    ScalarFigure{"request_throughput", Metric::kFinishedRps},
    ScalarFigure{"finished_rps", Metric::kFinishedRps},
    ScalarFigure{"output_tok_s", Metric::kOutputTokensPerSecond},
    ScalarFigure{"output_throughput", Metric::kOutputTokensPerSecond},
    ScalarFigure{"output_tokens_per_s", Metric::kOutputTokensPerSecond},
    ScalarFigure{"goodput", Metric::kGoodput, true},
    ScalarFigure{"slo_attainment", Metric::kGoodput, true},
    ScalarFigure{"goodput_rps", Metric::kGoodputRps, true},
    ScalarFigure{"request_goodput", Metric::kGoodputRps, true},
};

constexpr std::array<std::string_view, 4> kLatencies = {"ttft_ms", "tpot_ms", "itl_ms", "e2e_ms"};
constexpr std::array<std::string_view, 5> kStatistics = {"mean", "p50", "p90", "p95", "p99"};
constexpr std::string_view kMedian = "median";
constexpr std::string_view kDeviation = "std";
constexpr std::string_view kStatisticNotSaid = "stat_unspecified";
constexpr std::string_view kNotAmong = "not among the compared figures";

// "mean_ttft_ms", as the result files of `vllm bench serve` have it, e2el for the whole answer.
struct FlatName {
  std::string_view statistic;
  std::string_view family;
};

std::optional<FlatName> flat_name(std::string_view key) {
  const std::size_t end = key.find('_');
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view statistic = key.substr(0, end);
  const std::string_view rest = key.substr(end + 1);
  const bool known =
      statistic == kMedian || statistic == kDeviation ||
      std::find(kStatistics.begin(), kStatistics.end(), statistic) != kStatistics.end();
  if (!known) return std::nullopt;
  if (rest == "e2el_ms") return FlatName{statistic, "e2e_ms"};
  const auto family = std::find(kLatencies.begin(), kLatencies.end(), rest);
  if (family == kLatencies.end()) return std::nullopt;
  return FlatName{statistic, *family};
}

// Said by sources, and not among the simulator's figures, or of another definition.
constexpr std::array<std::string_view, 10> kNotCompared = {"goodput_fraction_of_offered",
                                                           "max_concurrent_requests",
                                                           "max_output_tokens_per_s",
                                                           "offered_attainment",
                                                           "peak_concurrent_requests",
                                                           "peak_output_tok_s",
                                                           "total_time_s",
                                                           "total_tok_s",
                                                           "total_token_throughput",
                                                           "ttft_miss_pct_of_admitted"};

constexpr double kUnbounded = std::numeric_limits<double>::infinity();
// More than what a host adds between the steps of a batch.
constexpr double kContradiction = 0.2;
constexpr std::string_view kUnreliableTier = "B-tpot-unreliable";

class FigureReader {
 public:
  FigureReader(std::string_view tier, bool has_slo) : tier_(tier), has_slo_(has_slo) {}

  void scalar(ConfigReader& measured, const ScalarFigure& figure) {
    const double most = figure.metric == Metric::kGoodput ? 1 : kUnbounded;
    const auto value = measured.optional_number(
        figure.key,
        {.min = 0, .max = most, .doc = "as the simulator's figure of the same meaning"});
    if (!value) return;
    if (figure.needs_slo && !has_slo_) {
      measured.fail(figure.key, "expected an slo beside it: goodput is judged by its targets");
    }
    add(measured, figure.key, figure.metric, *value);
  }

  void latency(ConfigReader& measured, std::string_view family) {
    auto reader = measured.optional_map(family, "milliseconds");
    if (!reader) return;
    for (const std::string_view statistic : kStatistics) {
      const auto value = reader->optional_number(
          statistic, {.min = 0, .unit = "ms", .doc = "over the finished requests"});
      if (value) statistic_of(*reader, statistic, family, statistic, *value);
    }
    for (const std::string_view statistic : {kMedian, kDeviation}) {
      const auto value = reader->optional_number(statistic, {.min = 0, .unit = "ms", .doc = "ms"});
      if (value) statistic_of(*reader, statistic, family, statistic, *value);
    }
    if (reader->optional_number(kStatisticNotSaid, {.min = 0, .doc = "of unknown kind"})) {
      set_aside(std::string(family) + "." + std::string(kStatisticNotSaid),
                "the source does not say which statistic it is");
    }
    reader->finish();
  }

  void flat(ConfigReader& measured, std::string_view key, const FlatName& name) {
    const auto value = measured.optional_number(key, {.min = 0, .unit = "ms", .doc = "ms"});
    if (value) statistic_of(measured, key, name.family, name.statistic, *value);
  }

  void other(ConfigReader& measured, std::string_view key) {
    const ConfigNode* value = measured.raw(key, "any", "not compared");
    if (value != nullptr) set_aside(std::string(key), std::string(kNotAmong));
  }

  MeasuredFigures take() { return std::move(figures_); }

 private:
  // `key` is where the reader has it.
  void statistic_of(ConfigReader& reader, std::string_view key, std::string_view family,
                    std::string_view written, double value) {
    const std::string_view statistic = written == kMedian ? "p50" : written;
    const std::string name = std::string(family) + "_" + std::string(statistic);
    const std::string figure = std::string(family) + "." + std::string(statistic);
    if (tier_ == kUnreliableTier && family != "e2e_ms") {
      set_aside(figure, "the source's client times tokens wrongly (tier B-tpot-unreliable)");
      return;
    }
    const auto metric = metric_named(name);
    if (metric) {
      add(reader, key, *metric, value);
    } else {
      set_aside(figure, std::string(kNotAmong));
    }
  }

  void add(ConfigReader& reader, std::string_view key, Metric metric, double value) {
    const bool twice =
        std::any_of(figures_.compared.begin(), figures_.compared.end(),
                    [&](const MeasuredFigure& figure) { return figure.metric == metric; });
    if (twice) {
      reader.fail(key, "the same figure as another key: expected one of them");
      return;
    }
    figures_.compared.push_back({metric, value});
  }

  void set_aside(std::string figure, std::string reason) {
    figures_.unscored.push_back({std::move(figure), std::move(reason)});
  }

  std::string_view tier_;
  bool has_slo_;
  MeasuredFigures figures_;
};

}  // namespace

MeasuredFigures read_measured_figures(ConfigReader measured, const ConfigNode& written,
                                      std::string_view tier, bool has_slo) {
  FigureReader reader(tier, has_slo);
  for (const std::string_view family : kLatencies) reader.latency(measured, family);
  for (const ScalarFigure& figure : kScalars) reader.scalar(measured, figure);
  for (const ConfigNode::Entry& entry : written.entries()) {
    if (const auto name = flat_name(entry.key)) reader.flat(measured, entry.key, *name);
  }
  for (const std::string_view key : kNotCompared) reader.other(measured, key);
  measured.finish();
  return reader.take();
}

bool contradict_one_batch(std::span<const MeasuredFigure> figures, double answer_tokens) {
  const auto value_of = [&](Metric metric) -> std::optional<double> {
    for (const MeasuredFigure& figure : figures) {
      if (figure.metric == metric) return figure.value;
    }
    return std::nullopt;
  };
  struct Statistic {
    Metric ttft;
    Metric tpot;
    Metric e2e;
  };
  constexpr std::array kAlike = {
      Statistic{Metric::kTtftMean, Metric::kTpotMean, Metric::kE2eMean},
      Statistic{Metric::kTtftP50, Metric::kTpotP50, Metric::kE2eP50},
  };
  for (const Statistic& statistic : kAlike) {
    const auto ttft = value_of(statistic.ttft);
    const auto tpot = value_of(statistic.tpot);
    const auto e2e = value_of(statistic.e2e);
    if (!ttft || !tpot || !e2e) continue;
    const double expected = *ttft + (answer_tokens - 1) * *tpot;
    if (std::fabs(*e2e - expected) > kContradiction * expected) return true;
  }
  return false;
}

}  // namespace inferscale
