#include "validation/closed_loop.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/check.h"
#include "property/list_source.h"

namespace inferscale {
namespace {

// Between two stages: everything has ended, nothing has been forgotten.
constexpr Duration kPause = Duration::nanos(1'000'000'000);

// A stage within the list of all requests so far.
struct Span {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::size_t in_flight = 1;
  Instant start;
};

SimulationResult run(const FleetOptions& fleet, const std::vector<Request>& requests) {
  ListSource source(requests);
  return simulate_fleet(fleet, {}, source, {});
}

Result<void> all_finished(const SimulationResult& result) {
  for (std::size_t i = 0; i < result.outcomes.size(); ++i) {
    const Outcome& outcome = result.outcomes[i];
    if (outcome.finished()) continue;
    return fail(ErrorCode::kInvalidConfig, "request " + std::to_string(i) + " ended as " +
                                               std::string(status_name(outcome.status)) + ", " +
                                               std::string(reason_name(outcome.reason)) +
                                               ": expected it to finish");
  }
  return {};
}

std::vector<Instant> finishes(const SimulationResult& result, const Span& stage) {
  std::vector<Instant> times;
  for (std::size_t i = stage.begin; i < stage.end; ++i) {
    times.push_back(result.outcomes[i].finish);
  }
  std::ranges::sort(times);
  return times;
}

// Puts the finishes in as arrivals. Whether any changed.
bool close(const Span& stage, const std::vector<Instant>& times, std::vector<Request>& requests) {
  bool changed = false;
  for (std::size_t i = stage.begin + stage.in_flight; i < stage.end; ++i) {
    const Instant arrival = times[i - stage.begin - stage.in_flight];
    changed = changed || requests[i].arrival != arrival;
    requests[i].arrival = arrival;
  }
  return changed;
}

// Of the requests of a stage alone: `before` and `after` are runs up to and with it.
ClosedStageResult result_of(const Span& stage, const TransferFacts& before,
                            const SimulationResult& after) {
  ClosedStageResult result;
  double e2e_ms = 0;
  double prompts = 0;
  double cached = 0;
  double answers = 0;
  Instant end = stage.start;
  for (std::size_t i = stage.begin; i < stage.end; ++i) {
    const Outcome& outcome = after.outcomes[i];
    e2e_ms += outcome.e2e().seconds() * 1e3;
    prompts += outcome.prompt_tokens;
    cached += outcome.cached_tokens;
    answers += outcome.output_tokens;
    result.ttft_ms_mean += outcome.ttft().seconds() * 1e3;
    end = std::max(end, outcome.finish);
  }
  const auto count = static_cast<double>(stage.end - stage.begin);
  const double lasted_s = (end - stage.start).seconds();
  const auto moved = static_cast<double>(after.transfers.handed_over - before.handed_over);
  if (moved > 0) {
    result.hand_over_ms_mean = 1e-6 *
                               (after.transfers.reserving_ns - before.reserving_ns +
                                after.transfers.moving_ns - before.moving_ns) /
                               count;
  }
  result.ttft_ms_mean = result.ttft_ms_mean / count + result.hand_over_ms_mean;
  result.tpot_ms_mean = (e2e_ms / count - result.ttft_ms_mean) / (answers / count - 1);
  result.finished_rps = count / lasted_s;
  result.mean_in_flight = e2e_ms / 1e3 / lasted_s;
  result.cached_fraction = cached / prompts;
  return result;
}

}  // namespace

Result<std::vector<ClosedStageResult>> run_closed_loop(const FleetOptions& fleet,
                                                       std::vector<ClosedStage> stages,
                                                       int most_runs) {
  std::vector<Request> requests;
  std::vector<ClosedStageResult> results;
  TransferFacts before;
  Instant start;
  for (ClosedStage& added : stages) {
    CHECK(added.in_flight > 0 && !added.requests.empty()) << "an empty stage";
    Span stage{.begin = requests.size(), .in_flight = added.in_flight, .start = start};
    for (Request& request : added.requests) {
      request.id = static_cast<RequestId>(requests.size());
      request.arrival = start;
      requests.push_back(request);
    }
    stage.end = requests.size();
    for (int runs = 1;; ++runs) {
      const SimulationResult result = run(fleet, requests);
      const Result<void> all = all_finished(result);
      if (!all) return std::unexpected(all.error());
      const std::vector<Instant> times = finishes(result, stage);
      if (!close(stage, times, requests)) {
        results.push_back(result_of(stage, before, result));
        before = result.transfers;
        start = times.back() + kPause;
        break;
      }
      if (runs == most_runs) {
        return fail(ErrorCode::kInvalidConfig,
                    "no closed loop after " + std::to_string(runs) + " runs");
      }
    }
  }
  return results;
}

}  // namespace inferscale
