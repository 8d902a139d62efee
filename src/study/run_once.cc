#include "study/run_once.h"

#include "study/simulated_run.h"

namespace inferscale {

std::optional<RunResult> run_once(const Scenario& scenario, const RunRequest& request,
                                  const std::atomic<bool>* stop) {
  // A short run ends before the simulator looks.
  if (stop != nullptr && stop->load()) return std::nullopt;
  const Result<PreparedRun> run = scenario.prepare(request);
  if (!run) return RunResult{.figures = {}, .failure = run.error().to_string()};
  const SimulatedRun simulated = simulate_run(*run, {}, {}, {.stop = stop, .progress = {}});
  const SimulationResult& result = simulated.result;
  if (result.interrupted) return std::nullopt;
  if (result.beyond_time) {
    return RunResult{.figures = {},
                     .failure = "the run would last beyond the end of simulated time"};
  }
  RunResult record{.figures = figures_of(*run, result), .failure = {}};
  set_door_figures(*run, simulated, record.figures);
  return record;
}

}  // namespace inferscale
