#include "study/run_once.h"

namespace inferscale {

std::optional<RunResult> run_once(const Scenario& scenario, const RunRequest& request,
                                  const std::atomic<bool>* stop) {
  // A short run ends before the simulator looks.
  if (stop != nullptr && stop->load()) return std::nullopt;
  const Result<PreparedRun> run = scenario.prepare(request);
  if (!run) return RunResult{.figures = {}, .failure = run.error().to_string()};
  const std::unique_ptr<RequestSource> requests = run->requests();
  const SimulationResult result =
      simulate_fleet(run->deployment.fleet, {}, *requests, {.stop = stop, .progress = {}});
  if (result.interrupted) return std::nullopt;
  if (result.beyond_time) {
    return RunResult{.figures = {},
                     .failure = "the run would last beyond the end of simulated time"};
  }
  return RunResult{.figures = figures_of(*run, result), .failure = {}};
}

}  // namespace inferscale
