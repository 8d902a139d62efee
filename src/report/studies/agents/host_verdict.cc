#include "report/studies/agents/host_verdict.h"

#include <algorithm>

#include "base/number_text.h"
#include "report/studies/comparison_text.h"

namespace inferscale {
namespace {

// "recomputing (3255 ms) from 5 GB/s on (1910 ms)".
std::string beaten_text(const Rows& rows, const std::string& what, const SweepRowFields& other,
                        double capacity, std::optional<double> bandwidth) {
  const std::string its = what + " (" + ttft_text(other) + ")";
  const auto at = std::find_if(rows.begin(), rows.end(), [&](const SweepRowFields& row) {
    return row.simulated() && row.strategy == "offload" && row.capacity_gb == capacity &&
           row.value == bandwidth;
  });
  if (!bandwidth || at == rows.end()) return its + " at no bandwidth that was tried";
  return its + " from " + number_text(*bandwidth) + " GB/s on (" + ttft_text(*at) + ")";
}

std::string offload_text(JsonFields& result, const Rows& rows) {
  const SweepRowFields* recompute = first_of(rows, "recompute");
  const SweepRowFields* retain = first_of(rows, "retain");
  std::string text;
  each_member(result, "crossovers", [&](JsonFields& member) {
    const double capacity = member.number("capacity_gb");
    const auto over_recompute = member.optional_number("beats_recompute_gb_s");
    const auto over_retain = member.optional_number("beats_retain_gb_s");
    const bool tried = std::ranges::any_of(rows, [&](const SweepRowFields& row) {
      return row.simulated() && row.strategy == "offload" && row.capacity_gb == capacity;
    });
    if (!tried) return;
    std::vector<std::string> beaten;
    if (recompute != nullptr) {
      beaten.push_back(beaten_text(rows, "recomputing", *recompute, capacity, over_recompute));
    }
    if (retain != nullptr) {
      beaten.push_back(beaten_text(rows, "keeping it in HBM", *retain, capacity, over_retain));
    }
    if (beaten.empty()) return;
    text += part("Offload", "with " + gigabytes(capacity) +
                                " of host memory a replica its p95 turn TTFT beats " +
                                enumeration(beaten) + ".");
  });
  return text;
}

// Neighbouring bandwidths with one answer.
struct Answers {
  std::string strategy;
  double first = 0;
  double last = 0;
};

std::string answers_words(const std::vector<Answers>& ranges) {
  const auto gb_s = [](double value) { return number_text(value) + " GB/s"; };
  if (ranges.size() == 1) {
    return ranges[0].strategy + " with every bandwidth that was tried (" +
           number_text(ranges[0].first) + " to " + gb_s(ranges[0].last) + ")";
  }
  std::vector<std::string> words;
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    const Answers& range = ranges[i];
    std::string where = " from " + gb_s(range.first) + " on";
    if (i == 0) {
      where = " up to " + gb_s(range.last);
    } else if (i + 1 < ranges.size()) {
      where = range.first == range.last
                  ? " at " + gb_s(range.first)
                  : " from " + number_text(range.first) + " to " + gb_s(range.last);
    }
    words.push_back(range.strategy + where);
  }
  return enumeration(words);
}

// What the recommendation would be with another bandwidth, for each capacity.
std::string bandwidth_text(JsonFields& result) {
  const double configured = result.number("configured_bandwidth_gb_s");
  std::vector<std::pair<double, std::vector<Answers>>> by_capacity;
  each_member(result, "answers", [&](JsonFields& member) {
    const double capacity = member.number("capacity_gb");
    const double bandwidth = member.number("bandwidth_gb_s");
    const std::string strategy = member.text("strategy");
    if (by_capacity.empty() || by_capacity.back().first != capacity) {
      by_capacity.emplace_back(capacity, std::vector<Answers>());
    }
    std::vector<Answers>& ranges = by_capacity.back().second;
    if (ranges.empty() || ranges.back().strategy != strategy) {
      ranges.push_back({strategy, bandwidth, bandwidth});
    }
    ranges.back().last = bandwidth;
  });
  std::string text;
  for (const auto& [capacity, ranges] : by_capacity) {
    text += part("Bandwidth", "host memory has " + number_text(configured) +
                                  " GB/s as configured. With " + gigabytes(capacity) +
                                  " of it a replica the answer is " + answers_words(ranges) + ".");
  }
  return text;
}

std::string retain_text(const Rows& rows) {
  const SweepRowFields* retain = first_of(rows, "retain");
  const SweepRowFields* recompute = first_of(rows, "recompute");
  const SweepRowFields* offload = nullptr;
  for (const SweepRowFields& row : rows) {
    if (row.strategy == "offload" && row.is_choice && row.simulated()) offload = &row;
  }
  if (retain == nullptr || !retain->mean(kKvMean)) return {};
  std::string text = "keeping idle KV in HBM takes " + gigabytes(*retain->mean(kKvMean)) +
                     " of it on average, for a p95 turn TTFT of " + ttft_text(*retain);
  for (const SweepRowFields* other : {recompute, offload}) {
    if (other == nullptr || !other->mean(kKvMean)) continue;
    text += "; " + other->name + " " + gigabytes(*other->mean(kKvMean)) + ", " + ttft_text(*other);
  }
  return part("Retain", text + ".");
}

}  // namespace

std::string host_verdict(JsonFields& result, const Rows& rows) {
  return bandwidth_text(result) + offload_text(result, rows) + retain_text(rows);
}

}  // namespace inferscale
