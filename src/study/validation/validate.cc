#include "study/validation/validate.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "base/check.h"

namespace inferscale {
namespace {

// Requests of the run that tells the capacity, for each place in the batch: enough for its start
// and end, where the batch is not full, to weigh little.
constexpr std::int64_t kRequestsPerPlace = 8;

// Where the records of a case lie in the batch.
struct CaseRuns {
  std::size_t index = 0;
  std::size_t scenario = 0;
  std::size_t first = 0;
  std::int64_t repeats = 1;
  std::optional<std::size_t> capacity;
};

// The load factor is about open streams of requests that we can ask for anew, faster.
bool has_capacity_run(const ValidationCase& each, const PreparedRun& run) {
  if (each.load.batch || each.load.burst || run.trace) return false;
  const GeneratedOptions& generated = run.config.workload.generated;
  return !generated.conversations && !std::holds_alternative<PiecewiseArrivals>(generated.arrivals);
}

RunRequest capacity_request(std::size_t scenario, const PreparedRun& run) {
  std::int64_t places = 0;
  for (const GroupConfig& group : run.config.fleet.groups) {
    places += group.replicas * group.deployment.engine.max_num_seqs * group.deployment.shape.data;
  }
  const SourcePosition here{.source = "validate"};
  ConfigNode arrivals = ConfigNode::map(here);
  arrivals.append("process", ConfigNode::scalar("constant", false, here), here);
  arrivals.append("rate_rps", ConfigNode::scalar("1000000", false, here), here);
  const std::int64_t requests = kRequestsPerPlace * std::max<std::int64_t>(places, 1);
  return {.scenario = scenario,
          .settings = {{"workload.arrivals", std::move(arrivals)},
                       {"workload.requests",
                        ConfigNode::scalar(std::to_string(requests), false, here)}},
          .seed = run.config.seed,
          .scales = {}};
}

std::vector<CaseRuns> plan_runs(std::span<const ValidationCase> cases,
                                const std::vector<Scenario>& scenarios,
                                std::span<const std::optional<std::size_t>> scenario_of_case,
                                std::vector<RunRequest>& requests) {
  std::vector<CaseRuns> plan;
  for (std::size_t index = 0; index < cases.size(); ++index) {
    if (cases[index].not_simulated) continue;
    CHECK(scenario_of_case[index].has_value()) << "a case that is simulated has a scenario";
    const std::size_t scenario = *scenario_of_case[index];
    const PreparedRun& run = scenarios[scenario].base();
    CaseRuns runs{.index = index,
                  .scenario = scenario,
                  .first = requests.size(),
                  .repeats = run.study.repeats.value_or(1),
                  .capacity = {}};
    for (std::int64_t i = 0; i < runs.repeats; ++i) {
      requests.push_back({.scenario = scenario,
                          .settings = {},
                          .seed = repetition_seed(run.config.seed, i),
                          .scales = {}});
    }
    if (has_capacity_run(cases[index], run)) {
      runs.capacity = requests.size();
      requests.push_back(capacity_request(scenario, run));
    }
    plan.push_back(runs);
  }
  return plan;
}

// Mean and deviation of the repetitions' figures; nothing when one of them has none.
ComparedFigure compare(const MeasuredFigure& figure, std::span<const RunResult> records) {
  ComparedFigure compared{.metric = figure.metric,
                          .measured = figure.value,
                          .predicted = {},
                          .predicted_sd = {},
                          .relative_error = {}};
  double sum = 0;
  for (const RunResult& record : records) {
    const auto value = record.figures[figure.metric];
    if (!value) return compared;
    sum += *value;
  }
  const double n = static_cast<double>(records.size());
  const double mean = sum / n;
  compared.predicted = mean;
  if (records.size() > 1) {
    double squares = 0;
    for (const RunResult& record : records) {
      const double off = *record.figures[figure.metric] - mean;
      squares += off * off;
    }
    compared.predicted_sd = std::sqrt(squares / (n - 1));
  }
  if (figure.value > 0) compared.relative_error = (mean - figure.value) / figure.value;
  return compared;
}

RegimeFinding regime_of(const ValidationCase& each, const RunResult& run, const RunResult* capacity,
                        const ValidateOptions& options) {
  LoadEvidence evidence = each.load;
  if (!evidence.batch && !evidence.burst) {
    if (!evidence.offered_rps) evidence.offered_rps = run.figures[Metric::kOfferedRps];
    if (!evidence.requests) evidence.requests = run.figures[Metric::kArrived];
    evidence.service_s = run.figures[Metric::kServiceMax];
    evidence.saturated = run.figures[Metric::kSaturated];
    if (capacity != nullptr && capacity->simulated()) {
      evidence.capacity_rps = capacity->figures[Metric::kFinishedRps];
    }
  }
  return find_regime(evidence, options);
}

ComparedCase compared_case(const ValidationCase& each, const CaseRuns& runs,
                           std::span<const RunResult> records, const ValidateOptions& options) {
  const auto own = records.subspan(runs.first, static_cast<std::size_t>(runs.repeats));
  const RunResult* capacity = runs.capacity ? &records[*runs.capacity] : nullptr;
  ComparedCase compared{.index = runs.index,
                        .scenario = runs.scenario,
                        .repeats = runs.repeats,
                        .regime = regime_of(each, own.front(), capacity, options),
                        .refused = 0,
                        .figures = {}};
  compared.refused = std::llround(own.front().figures[Metric::kRefused].value_or(0));
  for (const MeasuredFigure& figure : each.measured) {
    compared.figures.push_back(compare(figure, own));
  }
  std::sort(compared.figures.begin(), compared.figures.end(),
            [](const ComparedFigure& a, const ComparedFigure& b) { return a.metric < b.metric; });
  return compared;
}

using GroupKey = std::tuple<ErrorsBy, std::string, std::string, Regime, Metric>;

std::vector<ErrorGroup> grouped_errors(std::span<const ComparedCase> compared,
                                       const std::vector<Scenario>& scenarios) {
  std::map<GroupKey, std::vector<double>> groups;
  for (const ComparedCase& each : compared) {
    const DeploymentConfig& deployment = scenarios[each.scenario].base().config.deployment;
    const std::string& hardware = deployment.hardware.name;
    const std::string& model = deployment.model.name;
    for (const ComparedFigure& figure : each.figures) {
      if (!figure.relative_error) continue;
      const auto add = [&](ErrorsBy by, const std::string& of, const std::string& with) {
        groups[{by, of, with, each.regime.regime, figure.metric}].push_back(*figure.relative_error);
      };
      add(ErrorsBy::kRegime, "", "");
      add(ErrorsBy::kHardware, hardware, "");
      add(ErrorsBy::kModel, "", model);
      add(ErrorsBy::kHardwareAndModel, hardware, model);
    }
  }
  std::vector<ErrorGroup> result;
  for (const auto& [key, errors] : groups) {
    const auto& [by, hardware, model, regime, metric] = key;
    result.push_back({by, hardware, model, regime, metric, error_statistics(errors)});
  }
  return result;
}

}  // namespace

std::string_view errors_by_name(ErrorsBy by) {
  constexpr std::array<std::string_view, 4> kNames = {"regime", "hardware", "model",
                                                      "hardware_and_model"};
  return kNames[static_cast<std::size_t>(by)];
}

std::string_view length_knowledge_name(LengthKnowledge knowledge) {
  constexpr std::array<std::string_view, 3> kNames = {"given", "fixed", "assumed"};
  return kNames[static_cast<std::size_t>(knowledge)];
}

Result<ValidateResult> validate(std::span<const ValidationCase> cases,
                                const std::vector<Scenario>& scenarios,
                                std::span<const std::optional<std::size_t>> scenario_of_case,
                                const ValidateOptions& options, RunExecutor& executor) {
  std::vector<RunRequest> requests;
  const std::vector<CaseRuns> plan = plan_runs(cases, scenarios, scenario_of_case, requests);
  const Result<std::vector<RunResult>> records = executor.run(requests);
  if (!records) return std::unexpected(records.error());

  ValidateResult result;
  auto next = plan.begin();
  for (std::size_t index = 0; index < cases.size(); ++index) {
    if (cases[index].not_simulated) {
      result.not_simulated.push_back({index, *cases[index].not_simulated});
      continue;
    }
    const CaseRuns& runs = *next++;
    const auto own =
        std::span(*records).subspan(runs.first, static_cast<std::size_t>(runs.repeats));
    const auto failed =
        std::find_if(own.begin(), own.end(), [](const RunResult& r) { return !r.simulated(); });
    if (failed != own.end()) {
      result.not_simulated.push_back({index, {"the run failed", failed->failure}});
      continue;
    }
    result.compared.push_back(compared_case(cases[index], runs, *records, options));
  }
  result.errors = grouped_errors(result.compared, scenarios);
  return result;
}

}  // namespace inferscale
