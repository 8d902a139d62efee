#include "study/tune/tune_loads.h"

#include "base/config_json.h"
#include "base/number_text.h"
#include "study/capacity/capacity.h"

namespace inferscale {
namespace {

std::unexpected<Error> refuse(const Scenario& scenario, const std::string& message) {
  return fail(ErrorCode::kInvalidConfig, message, scenario.label());
}

// Whether the loads are settings of one key that is plainly proportional to them.
bool is_one_key(const PreparedRun& run) {
  return run.programs || (run.trace && run.study.tune.capacity_rps);
}

std::string key_of(const PreparedRun& run) {
  return run.programs ? "workload.arrivals.rate_rps" : "workload.trace.rate_scale";
}

// Requests/s of the trace as its file has it.
double trace_rate(const PreparedRun& run) {
  const std::vector<std::int64_t>& arrivals = run.trace->arrival_ns;
  if (arrivals.size() < 2 || arrivals.back() == arrivals.front()) return 0;
  const double span_s = 1e-9 * static_cast<double>(arrivals.back() - arrivals.front());
  const double scaled = static_cast<double>(arrivals.size() - 1) / span_s;
  return scaled / run.config.workload.trace->rate_scale;
}

TuneLoads loads_of_key(const PreparedRun& run) {
  TuneLoads result{.capacity = *run.study.tune.capacity_rps};
  result.unit = run.programs ? "sessions/s" : "requests/s";
  const double one = run.programs ? 1 : trace_rate(run);
  for (const double factor : run.study.tune.load_factors) {
    const double load = factor * result.capacity;
    result.loads.push_back({factor, load, {{key_of(run), number_node(load / one, "study.tune")}}});
  }
  return result;
}

// Whether the scenario takes what is set at each load.
Result<void> check_settings(const Scenario& bare, const TuneLoads& loads) {
  for (const TuneLoad& load : loads.loads) {
    const Result<void> right = bare.check(
        {.scenario = 0, .settings = load.settings, .seed = bare.base().config.seed, .scales = {}});
    if (right) continue;
    return refuse(bare, "study.tune: at load factor " + number_text(load.factor) + ": " +
                            right.error().message);
  }
  return {};
}

TuneLoads loads_on_axis(const CapacityAxis& axis, double capacity, const PreparedRun& run) {
  TuneLoads result{.capacity = capacity, .unit = axis.unit()};
  for (const double factor : run.study.tune.load_factors) {
    const double load = factor * capacity;
    result.loads.push_back({factor, load, axis.settings(load)});
  }
  return result;
}

std::string why_no_capacity(const CapacityResult& found) {
  switch (found.verdict) {
    case CapacityVerdict::kNeverFailed:
      return "every load up to the highest one tried is carried";
    case CapacityVerdict::kNeverPassed:
      return "no load down to the lowest one tried is carried";
    case CapacityVerdict::kNotJudged:
      return "the warm-up left no request of some load to judge";
    case CapacityVerdict::kFound:
      break;
  }
  return "none was found";
}

}  // namespace

Result<void> check_tune_loads(const Scenario& bare) {
  const PreparedRun& run = bare.base();
  if (!run.config.has_targets()) {
    return refuse(bare,
                  "slo: expected at least one target (ttft_ms, itl_ms or e2e_ms): goodput "
                  "counts the requests that met theirs");
  }
  if (run.programs && !run.study.tune.capacity_rps) {
    return refuse(bare,
                  "study.tune.capacity_rps: missing: expected it with agent sessions, whose "
                  "capacity is not searched in this version (in sessions/s)");
  }
  if (is_one_key(run)) {
    if (!run.programs && trace_rate(run) <= 0) {
      return refuse(bare,
                    "workload.trace: expected rows that arrive at different times: the load "
                    "is scaled by its rate");
    }
    return check_settings(bare, loads_of_key(run));
  }
  const Result<CapacityAxis> axis = CapacityAxis::make(bare);
  if (!axis) return std::unexpected(axis.error());
  if (axis->falls()) {
    return refuse(bare,
                  "study.capacity.search: 'replicas': expected rate or trace_rate_scale: a "
                  "policy is tuned over loads of one fleet");
  }
  const std::optional<double>& given = run.study.tune.capacity_rps;
  if (!given) return {};
  return check_settings(bare, loads_on_axis(*axis, *given, run));
}

Result<TuneLoads> tune_loads(const Scenario& bare, std::size_t index, RunExecutor& executor) {
  const PreparedRun& run = bare.base();
  if (is_one_key(run)) return loads_of_key(run);
  const Result<CapacityAxis> axis = CapacityAxis::make(bare);
  if (!axis) return std::unexpected(axis.error());
  if (run.study.tune.capacity_rps) {
    return loads_on_axis(*axis, *run.study.tune.capacity_rps, run);
  }
  const Result<CapacityResult> found = find_capacity(bare, index, executor);
  if (!found) return std::unexpected(found.error());
  if (found->verdict != CapacityVerdict::kFound) {
    return refuse(bare, "the capacity without a policy: " + why_no_capacity(*found) +
                            ": expected study.tune.capacity_rps, the load that counts as 1");
  }
  TuneLoads loads = loads_on_axis(*axis, *found->carried, run);
  loads.measured = true;
  if (const Result<void> right = check_settings(bare, loads); !right) {
    return std::unexpected(right.error());
  }
  return loads;
}

}  // namespace inferscale
