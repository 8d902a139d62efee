#include "study/explore/explore.h"

#include <algorithm>
#include <array>
#include <tuple>

#include "base/check.h"
#include "base/config_json.h"
#include "study/explore/pareto.h"
#include "study/explore/unlike_candidates.h"

namespace inferscale {
namespace {

constexpr std::int64_t kRepeats = 3;

constexpr std::array kMetrics = {Metric::kGoodputRps,
                                 Metric::kGoodput,
                                 Metric::kTtftP50,
                                 Metric::kTtftP95,
                                 Metric::kTtftP99,
                                 Metric::kTpotP95,
                                 Metric::kItlP95,
                                 Metric::kE2eP50,
                                 Metric::kE2eP95,
                                 Metric::kOfferedRps,
                                 Metric::kFinishedRps,
                                 Metric::kOutputTokensPerSecond,
                                 Metric::kPrefixHitRate,
                                 Metric::kKvUsedMean,
                                 Metric::kKvUsedPeak,
                                 Metric::kUtilisation,
                                 Metric::kPreemptions,
                                 Metric::kRefused,
                                 Metric::kUnfinished,
                                 Metric::kAccelerators,
                                 Metric::kGoodputRpsPerAccelerator,
                                 Metric::kCostPerHour,
                                 Metric::kGoodRequestsPerCost,
                                 Metric::kCostPerMillionOutputTokens};

RunRequest request_of(const Candidate& candidate, std::uint64_t base_seed,
                      std::int64_t repetition) {
  return {.scenario = 0,
          .settings = candidate.settings,
          .seed = repetition_seed(base_seed, repetition),
          .scales = {}};
}

ExploredCandidate explored(Candidate candidate, std::span<const RunResult> records) {
  ExploredCandidate result{.candidate = std::move(candidate)};
  for (const RunResult& record : records) {
    if (!record.simulated() && result.failure.empty()) result.failure = record.failure;
  }
  result.figures.resize(kMetrics.size());
  if (!result.simulated()) return result;
  for (std::size_t i = 0; i < kMetrics.size(); ++i) {
    result.figures[i] = spread_of(records, kMetrics[i]);
  }
  for (const RunResult& record : records) {
    const std::optional<double> saturated = record.figures[Metric::kSaturated];
    if (!saturated) ++result.undecided;
    if (saturated == 1) ++result.saturated;
  }
  return result;
}

void mark_frontier(std::vector<ExploredCandidate>& candidates, Metric gain,
                   bool ExploredCandidate::* on) {
  std::vector<std::size_t> judged;
  std::vector<ParetoPoint> points;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const std::optional<Spread>& gained = candidates[i][gain];
    const std::optional<Spread>& ttft = candidates[i][Metric::kTtftP95];
    if (!gained || !ttft) continue;
    judged.push_back(i);
    points.push_back({.gain = gained->mean, .loss = ttft->mean});
  }
  const std::vector<bool> frontier = pareto_frontier(points);
  for (std::size_t k = 0; k < judged.size(); ++k) candidates[judged[k]].*on = frontier[k];
}

// The first of the least by `rank`; nothing when no candidate has a rank.
template <typename Rank>
std::optional<std::size_t> least_by(const std::vector<ExploredCandidate>& candidates, Rank rank) {
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const auto own = rank(candidates[i]);
    if (own && (!best || *own < *rank(candidates[*best]))) best = i;
  }
  return best;
}

using Ranking = std::optional<std::tuple<double, double, double>>;

Ranking ranking(const ExploredCandidate& candidate, Metric first, Metric second, Metric third) {
  std::array<double, 3> ranks{};
  std::size_t at = 0;
  for (const Metric metric : {first, second, third}) {
    const std::optional<Spread>& figure = candidate[metric];
    if (!figure) return std::nullopt;
    ranks[at++] = info_of(metric).better == Better::kHigher ? -figure->mean : figure->mean;
  }
  return std::tuple(ranks[0], ranks[1], ranks[2]);
}

bool reaches(const ExploredCandidate& candidate, double attainment) {
  const std::optional<Spread>& goodput = candidate[Metric::kGoodput];
  return goodput && goodput->min >= attainment;
}

void choose_best(ExploreResult& result) {
  const std::vector<ExploredCandidate>& candidates = result.candidates;
  result.most_goodput = least_by(candidates, [](const ExploredCandidate& one) {
    return ranking(one, Metric::kGoodputRps, Metric::kTtftP95, Metric::kAccelerators);
  });
  result.least_ttft = least_by(candidates, [](const ExploredCandidate& one) {
    return ranking(one, Metric::kTtftP95, Metric::kGoodputRps, Metric::kAccelerators);
  });
  bool all_priced = true;
  for (const ExploredCandidate& one : candidates) {
    if (!reaches(one, result.attainment)) continue;
    all_priced &= one[Metric::kCostPerHour].has_value();
  }
  result.cheapest_by = all_priced ? Metric::kCostPerHour : Metric::kAccelerators;
  result.cheapest = least_by(candidates, [&](const ExploredCandidate& one) -> Ranking {
    if (!reaches(one, result.attainment)) return std::nullopt;
    return ranking(one, result.cheapest_by, Metric::kTtftP95, Metric::kGoodputRps);
  });
}

// Where some prices are known, and the cheapest is still not by cost.
void note_unpriced(ExploreResult& result) {
  constexpr std::size_t kMostNamed = 5;
  std::size_t priced = 0;
  std::vector<std::string> without;
  for (const ExploredCandidate& one : result.candidates) {
    if (!reaches(one, result.attainment)) continue;
    if (one[Metric::kCostPerHour]) ++priced;
    if (!one[Metric::kCostPerHour]) without.push_back(one.candidate.name);
  }
  if (priced == 0 || without.empty()) return;
  std::string names;
  for (std::size_t i = 0; i < std::min(without.size(), kMostNamed); ++i) {
    names += (i > 0 ? ", " : "") + without[i];
  }
  if (without.size() > kMostNamed) {
    names += " and " + std::to_string(without.size() - kMostNamed) + " more";
  }
  result.notes.push_back(
      "Not all candidates that could be the cheapest have a price, so it is the one with the "
      "fewest "
      "accelerators, whatever it costs. Without deployment.price_per_accelerator_hour: " +
      names + ".");
}

// Repetitions of a trace are often one run over again: their spread is then not an uncertainty.
bool all_repetitions_alike(const ExploreResult& result) {
  bool any = false;
  for (const ExploredCandidate& one : result.candidates) {
    for (const std::optional<Spread>& figure : one.figures) {
      if (!figure) continue;
      any = true;
      if (figure->min != figure->max) return false;
    }
  }
  return any && result.repeats > 1;
}

// "null" for what the configuration does not have.
std::string configured_value(const ConfigNode& effective, const std::string& key) {
  const ConfigNode* node = &effective;
  std::string_view rest = key;
  while (node != nullptr && !rest.empty()) {
    const std::size_t dot = rest.find('.');
    node = node->is_map() ? node->find(rest.substr(0, dot)) : nullptr;
    rest = dot == std::string_view::npos ? std::string_view() : rest.substr(dot + 1);
  }
  return node == nullptr ? "null" : to_json_text(*node);
}

}  // namespace

std::span<const Metric> explored_metrics() {
  return kMetrics;
}

const std::optional<Spread>& ExploredCandidate::operator[](Metric metric) const {
  const auto found = std::find(kMetrics.begin(), kMetrics.end(), metric);
  CHECK(found != kMetrics.end()) << info_of(metric).name << " is not among a candidate's figures";
  return figures[static_cast<std::size_t>(found - kMetrics.begin())];
}

Result<ExploreResult> explore(const Scenario& scenario, const CandidateList& list,
                              RunExecutor& executor) {
  const PreparedRun& base = scenario.base();
  ExploreResult result{.name = base.config.name,
                       .slo = base.config.slo,
                       .attainment = base.study.capacity.attainment,
                       .repeats = base.study.repeats.value_or(kRepeats),
                       .seed = base.config.seed,
                       .bounded_grid = list.bounded_grid,
                       .keys = list.keys,
                       .notes = list.notes};
  for (const std::string& key : result.keys) {
    result.as_configured.push_back(configured_value(base.effective, key));
  }
  for (const UnlikeSection& section : unlike_sections(list, result.as_configured)) {
    result.unlike.push_back(section.name);
    result.notes.push_back(section.note);
  }
  std::vector<RunRequest> requests;
  for (const Candidate& candidate : list.candidates) {
    for (std::int64_t i = 0; i < result.repeats; ++i) {
      requests.push_back(request_of(candidate, result.seed, i));
    }
  }
  const Result<std::vector<RunResult>> records = executor.run(requests);
  if (!records) return std::unexpected(records.error());

  const auto each = static_cast<std::size_t>(result.repeats);
  for (std::size_t i = 0; i < list.candidates.size(); ++i) {
    result.candidates.push_back(
        explored(list.candidates[i], std::span(*records).subspan(i * each, each)));
  }
  mark_frontier(result.candidates, Metric::kGoodputRps,
                &ExploredCandidate::on_performance_frontier);
  mark_frontier(result.candidates, Metric::kGoodputRpsPerAccelerator,
                &ExploredCandidate::on_efficiency_frontier);
  mark_frontier(result.candidates, Metric::kGoodRequestsPerCost,
                &ExploredCandidate::on_cost_frontier);
  choose_best(result);
  note_unpriced(result);
  if (all_repetitions_alike(result)) {
    result.notes.emplace_back(
        "All repetitions gave the same figures: nothing in these runs is drawn "
        "at random, and repeats: 1 would say as much.");
  }
  return result;
}

}  // namespace inferscale
