#include "metrics/backlog.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "metrics/student.h"

namespace inferscale {
namespace {

constexpr int kBlocks = 21;      // odd, as student.h wants it
constexpr int kLastBlocks = 10;  // in which the growth must go on
constexpr double kLeastShareOfLast = 0.25;
constexpr std::int64_t kLeastArrivals = 100;
constexpr double kLeastGrowth = 0.005;  // of the arrivals, to be called saturated
constexpr double kMostGrowth = 0.03;    // of the arrivals, at the interval's end, to be stable
constexpr double kRequestsInWindow = 4;
constexpr double kOverwhelming = 0.5;  // of the window: what late requests take in all
constexpr double kTimesEarly = 4;      // and against what early ones take

struct Window {
  Window(Instant first, Instant last)
      : begin(first),
        end(last),
        blocks_per_ns(kBlocks / static_cast<double>((last - first).ns())) {}

  Instant begin;
  Instant end;
  double blocks_per_ns;

  bool holds(Instant at) const { return at >= begin && at <= end; }
  // REQUIRES: holds(at). The last arrival belongs to the last block.
  std::size_t block_of(Instant at) const {
    const auto block =
        static_cast<std::size_t>(static_cast<double>((at - begin).ns()) * blocks_per_ns);
    return std::min<std::size_t>(block, kBlocks - 1);
  }
};

struct Growth {
  std::array<std::int64_t, kBlocks> came{};  // requests
  std::array<std::int64_t, kBlocks> left{};
  std::int64_t arrivals = 0;  // refused and lost ones included
  double early_batch_ns = 0;  // mean time from start to finish, of early requests
  double early_e2e_ns = 0;    // mean time from arrival to finish, of the first tenth
  double late_e2e_ns = 0;     // and of the last tenth
};

// The mean time from arrival to finish of those that arrived in [from, to].
double mean_e2e_ns(std::span<const Outcome> outcomes, Instant from, Instant to) {
  const auto first = std::ranges::lower_bound(outcomes, from, {}, &Outcome::arrival);
  const auto last = std::ranges::upper_bound(outcomes, to, {}, &Outcome::arrival);
  double sum = 0;
  double requests = 0;
  for (const Outcome& outcome : std::ranges::subrange(first, last)) {
    if (!outcome.finished()) continue;
    sum += static_cast<double>(outcome.e2e().ns());
    requests += 1;
  }
  return requests > 0 ? sum / requests : 0;
}

Growth growth_of(std::span<const Outcome> outcomes, const Window& window) {
  Growth growth;
  const Duration length = window.end - window.begin;
  const Instant early = window.begin + Duration::nanos(length.ns() / 10);
  double early_requests = 0;
  for (const Outcome& outcome : outcomes) {
    const bool inside = outcome.arrival >= window.begin;
    if (inside) ++growth.arrivals;
    const bool stays = outcome.finished() || outcome.status == OutcomeStatus::kUnfinished;
    if (!stays) continue;
    if (inside) ++growth.came[window.block_of(outcome.arrival)];
    if (!outcome.finished()) continue;
    if (window.holds(outcome.finish)) ++growth.left[window.block_of(outcome.finish)];
    if (!inside || outcome.arrival > early) continue;
    growth.early_batch_ns += static_cast<double>((outcome.finish - outcome.start).ns());
    early_requests += 1;
  }
  if (early_requests > 0) growth.early_batch_ns /= early_requests;
  growth.early_e2e_ns = mean_e2e_ns(outcomes, window.begin, early);
  growth.late_e2e_ns =
      mean_e2e_ns(outcomes, window.end - Duration::nanos(length.ns() / 10), window.end);
  return growth;
}

void decide(const Growth& growth, double window_ns, Backlog& backlog) {
  double sum = 0;
  std::array<double, kBlocks> blocks{};
  for (std::size_t j = 0; j < kBlocks; ++j) {
    blocks[j] = static_cast<double>(growth.came[j] - growth.left[j]);
    sum += blocks[j];
  }
  double last = 0;
  for (int j = kBlocks - kLastBlocks; j < kBlocks; ++j) {
    last += blocks[static_cast<std::size_t>(j)];
  }
  double squares = 0;
  for (const double block : blocks) {
    squares += (block - sum / kBlocks) * (block - sum / kBlocks);
  }
  // Of the growth over the whole window: sqrt(21) times that of a block.
  const double half_width = student_two_sided(Backlog::kLevel, kBlocks - 1) *
                            std::sqrt(squares / (kBlocks - 1) * kBlocks);
  const double window_s = window_ns * 1e-9;
  backlog.growth_rps = sum / window_s;
  backlog.growth_rps_low = (sum - half_width) / window_s;
  backlog.growth_rps_high = (sum + half_width) / window_s;

  const auto arrivals = static_cast<double>(growth.arrivals);
  const bool grew = sum > half_width && sum >= kLeastGrowth * arrivals;
  const bool can_be_stable = sum <= half_width && sum + half_width <= kMostGrowth * arrivals;
  const bool overwhelmed = growth.late_e2e_ns > kOverwhelming * window_ns &&
                           growth.late_e2e_ns > kTimesEarly * growth.early_e2e_ns;
  if (overwhelmed && sum > 0) {
    backlog.verdict = BacklogVerdict::kSaturated;
    backlog.doubt = BacklogDoubt::kNone;
  } else if (window_ns < kRequestsInWindow * growth.early_batch_ns) {
    backlog.doubt = BacklogDoubt::kLongRequests;
  } else if (grew && last < kLeastShareOfLast * sum) {
    backlog.doubt = BacklogDoubt::kFilling;
  } else if (!grew && !can_be_stable) {
    backlog.doubt = BacklogDoubt::kWideInterval;
  } else {
    backlog.verdict = grew ? BacklogVerdict::kSaturated : BacklogVerdict::kStable;
    backlog.doubt = BacklogDoubt::kNone;
  }
}

}  // namespace

std::string_view verdict_name(BacklogVerdict verdict) {
  switch (verdict) {
    case BacklogVerdict::kStable:
      return "stable";
    case BacklogVerdict::kSaturated:
      return "saturated";
    case BacklogVerdict::kUndecided:
      return "undecided";
  }
  return "unknown";
}

Backlog judge_backlog(std::span<const Outcome> outcomes, Instant warmup) {
  Backlog backlog;
  if (outcomes.empty() || outcomes.back().arrival <= warmup) return backlog;
  const Window window(std::max(warmup, outcomes.front().arrival), outcomes.back().arrival);
  const Growth growth = growth_of(outcomes, window);
  const auto window_ns = static_cast<double>((window.end - window.begin).ns());
  backlog.arrivals = growth.arrivals;
  if (growth.arrivals < kLeastArrivals || window_ns == 0) return backlog;
  backlog.arrivals_rps = static_cast<double>(growth.arrivals) / (window_ns * 1e-9);
  decide(growth, window_ns, backlog);
  return backlog;
}

}  // namespace inferscale
