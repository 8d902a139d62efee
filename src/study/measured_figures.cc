#include "study/measured_figures.h"

#include <algorithm>
#include <array>
#include <cmath>
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
    ScalarFigure{"output_tokens_per_s", Metric::kOutputTokensPerSecond},
    ScalarFigure{"goodput", Metric::kGoodput, true},
    ScalarFigure{"slo_attainment", Metric::kGoodput, true},
    ScalarFigure{"goodput_rps", Metric::kGoodputRps, true},
};

constexpr std::array<std::string_view, 4> kLatencies = {"ttft_ms", "tpot_ms", "itl_ms", "e2e_ms"};
constexpr std::array<std::string_view, 5> kStatistics = {"mean", "p50", "p90", "p95", "p99"};
constexpr std::string_view kStatisticNotSaid = "stat_unspecified";

// Said by sources, and not among the simulator's figures, or of another definition.
constexpr std::array<std::string_view, 7> kNotCompared = {
    "goodput_fraction_of_offered", "offered_attainment", "peak_concurrent_requests",
    "peak_output_tok_s",           "total_time_s",       "total_tok_s",
    "ttft_miss_pct_of_admitted"};

// More than what a host adds between the steps of a batch.
constexpr double kContradiction = 0.2;
constexpr std::string_view kUnreliableTier = "B-tpot-unreliable";

class FigureReader {
 public:
  FigureReader(std::string_view tier, bool has_slo) : tier_(tier), has_slo_(has_slo) {}

  void scalar(ConfigReader& measured, const ScalarFigure& figure) {
    const auto value = measured.optional_number(
        figure.key, {.min = 0, .doc = "as the simulator's figure of the same meaning"});
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
      if (value) statistic_of(*reader, family, statistic, *value);
    }
    if (reader->optional_number(kStatisticNotSaid, {.min = 0, .doc = "of unknown kind"})) {
      set_aside(std::string(family) + "." + std::string(kStatisticNotSaid),
                "the source does not say which statistic it is");
    }
    reader->finish();
  }

  void other(ConfigReader& measured, std::string_view key) {
    const ConfigNode* value = measured.raw(key, "any", "not compared");
    if (value != nullptr) set_aside(std::string(key), "not among the compared figures");
  }

  MeasuredFigures take() { return std::move(figures_); }

 private:
  void statistic_of(ConfigReader& reader, std::string_view family, std::string_view statistic,
                    double value) {
    const std::string name = std::string(family) + "_" + std::string(statistic);
    const std::string figure = std::string(family) + "." + std::string(statistic);
    if (tier_ == kUnreliableTier && family != "e2e_ms") {
      set_aside(figure, "the source's client times tokens wrongly (tier B-tpot-unreliable)");
      return;
    }
    const auto metric = metric_named(name);
    if (metric) {
      add(reader, statistic, *metric, value);
    } else {
      set_aside(figure, "not among the compared figures");
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

MeasuredFigures read_measured_figures(ConfigReader measured, std::string_view tier, bool has_slo) {
  FigureReader reader(tier, has_slo);
  for (const std::string_view family : kLatencies) reader.latency(measured, family);
  for (const ScalarFigure& figure : kScalars) reader.scalar(measured, figure);
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
