#include "report/time_plots.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "base/check.h"
#include "metrics/quantiles.h"

namespace inferscale {
namespace {

constexpr std::size_t kDrawnOfGroup = 4;

Instant last_event(std::span<const Outcome> outcomes) {
  Instant last;
  for (const Outcome& outcome : outcomes) {
    last = std::max(last, outcome.arrival);
    if (outcome.finished()) last = std::max(last, outcome.finish);
  }
  return last;
}

// What the replicas showed at one instant.
struct InstantState {
  Instant at;
  double queue_depth = 0;
  double running = 0;
  Spread kv = {std::numeric_limits<double>::infinity(), 0, 0};
  std::size_t kv_replicas = 0;

  void add(const SignalSample& sample) {
    queue_depth += static_cast<double>(sample.queue_depth);
    running += static_cast<double>(sample.running);
    if (std::isnan(sample.kv_used_fraction)) return;
    kv.min = std::min(kv.min, sample.kv_used_fraction);
    kv.max = std::max(kv.max, sample.kv_used_fraction);
    kv.mean += sample.kv_used_fraction;
    ++kv_replicas;
  }
};

std::vector<InstantState> instants_of(std::span<const SignalSample> signals) {
  std::vector<InstantState> instants;
  for (const SignalSample& sample : signals) {
    if (instants.empty() || instants.back().at != sample.at) {
      instants.push_back(InstantState{.at = sample.at});
    }
    instants.back().add(sample);
  }
  for (InstantState& instant : instants) {
    constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
    if (instant.kv_replicas == 0) instant.kv = {kNaN, kNaN, kNaN};
    instant.kv.mean /= static_cast<double>(std::max<std::size_t>(1, instant.kv_replicas));
  }
  return instants;
}

// The spread of a quantity over instants, each with a spread of its own.
template <typename SpreadOf>
Spread over(std::span<const InstantState> instants, SpreadOf spread_of) {
  Spread all = spread_of(instants.front());
  all.mean = 0;
  for (const InstantState& instant : instants) {
    const Spread one = spread_of(instant);
    all.min = std::min(all.min, one.min);
    all.max = std::max(all.max, one.max);
    all.mean += one.mean;
  }
  all.mean /= static_cast<double>(instants.size());
  return all;
}

// The indices to draw of the group of `candidates` [begin, end).
void pick_of_group(std::span<const Outcome> outcomes, std::span<const std::size_t> group,
                   std::vector<std::size_t>& picked) {
  const auto slower = [&](std::size_t a, std::size_t b) {
    return outcomes[a].ttft() < outcomes[b].ttft();
  };
  const auto [least, greatest] = std::minmax_element(group.begin(), group.end(), slower);
  const std::set<std::size_t> chosen = {*least, *greatest, group[group.size() / 3],
                                        group[group.size() * 2 / 3]};
  picked.insert(picked.end(), chosen.begin(), chosen.end());
}

}  // namespace

RateSeries rate_series(std::span<const Outcome> outcomes, std::size_t bins, Instant until) {
  CHECK(bins >= 1) << "rates need at least one bin";
  RateSeries series;
  const Instant end = std::min(last_event(outcomes), until);
  const std::int64_t end_ns = end.ns();
  if (end_ns == 0) return series;
  series.width_s = Duration::nanos(end_ns).seconds() / static_cast<double>(bins);
  series.arrived.assign(bins, 0);
  series.finished.assign(bins, 0);
  series.refused.assign(bins, 0);
  series.deferred.assign(bins, 0);
  const auto bin = [&](Instant at) {
    const double share = static_cast<double>(at.ns()) / static_cast<double>(end_ns);
    return std::min(bins - 1, static_cast<std::size_t>(share * static_cast<double>(bins)));
  };
  const double per_event = 1 / series.width_s;
  for (const Outcome& outcome : outcomes) {
    if (outcome.arrival > end) continue;
    series.arrived[bin(outcome.arrival)] += 1;
    if (outcome.finished() && outcome.finish <= end) series.finished[bin(outcome.finish)] += 1;
    if (outcome.status == OutcomeStatus::kRefused) series.refused[bin(outcome.arrival)] += 1;
    if (outcome.status == OutcomeStatus::kDeferred) series.deferred[bin(outcome.arrival)] += 1;
  }
  for (auto* counts : {&series.arrived, &series.finished, &series.refused, &series.deferred}) {
    for (double& count : *counts) count *= per_event;
  }
  return series;
}

std::vector<TtftBin> ttft_over_time(std::span<const Outcome> outcomes, std::size_t bins,
                                    std::size_t least) {
  CHECK(bins >= 1 && least >= 1) << "TTFT over time needs a bin and a request in it";
  std::vector<TtftBin> series;
  if (outcomes.empty()) return series;
  const double first_s = outcomes.front().arrival.seconds();
  const double width_s = (outcomes.back().arrival.seconds() - first_s) / static_cast<double>(bins);
  std::vector<double> ttft_ms;
  std::size_t next = 0;
  for (std::size_t bin = 0; bin < bins; ++bin) {
    const double end_s = first_s + width_s * static_cast<double>(bin + 1);
    const bool last = bin + 1 == bins;
    ttft_ms.clear();
    for (; next < outcomes.size() && (last || outcomes[next].arrival.seconds() < end_s); ++next) {
      if (outcomes[next].first_token == Instant::never()) continue;
      ttft_ms.push_back(outcomes[next].ttft().millis());
    }
    if (ttft_ms.size() < least) continue;
    std::sort(ttft_ms.begin(), ttft_ms.end());
    series.push_back(
        {end_s - width_s / 2, nearest_rank(ttft_ms, 0.5), nearest_rank(ttft_ms, 0.95)});
  }
  return series;
}

Timeline timeline(std::span<const SignalSample> signals, std::size_t max_points) {
  CHECK(max_points >= 1) << "a timeline needs at least one point";
  Timeline line;
  for (const SignalSample& sample : signals) {
    line.replicas = std::max(line.replicas, sample.replica + 1);
  }
  const std::vector<InstantState> instants = instants_of(signals);
  line.instants = instants.size();
  line.instants_per_point =
      std::max<std::size_t>(1, (instants.size() + max_points - 1) / max_points);
  for (std::size_t begin = 0; begin < instants.size(); begin += line.instants_per_point) {
    const std::size_t count = std::min(line.instants_per_point, instants.size() - begin);
    const auto part = std::span(instants).subspan(begin, count);
    const auto same = [](double value) { return Spread{value, value, value}; };
    line.points.push_back(
        {.t_s = part.front().at.seconds(),
         .queue_depth = over(part, [&](const auto& at) { return same(at.queue_depth); }),
         .running = over(part, [&](const auto& at) { return same(at.running); }),
         .kv_used_fraction = over(part, [](const auto& at) { return at.kv; })});
  }
  return line;
}

Scatter ttft_scatter(std::span<const Outcome> outcomes, std::size_t max_points) {
  CHECK(max_points >= kDrawnOfGroup) << "too few points to keep the extremes";
  Scatter scatter;
  std::vector<std::size_t> candidates;
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    if (outcomes[i].first_token != Instant::never()) candidates.push_back(i);
  }
  scatter.candidates = candidates.size();
  if (candidates.size() <= max_points) {
    scatter.indices = std::move(candidates);
    return scatter;
  }
  const std::size_t groups = max_points / kDrawnOfGroup;
  scatter.group = (candidates.size() + groups - 1) / groups;
  for (std::size_t begin = 0; begin < candidates.size(); begin += scatter.group) {
    const std::size_t count = std::min(scatter.group, candidates.size() - begin);
    pick_of_group(outcomes, std::span(candidates).subspan(begin, count), scatter.indices);
  }
  return scatter;
}

}  // namespace inferscale
