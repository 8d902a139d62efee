#include "cli/admission_figures.h"

#include <vector>

#include "base/config_json.h"
#include "report/admission_json.h"
#include "workload/tenant_prompts.h"
#include "workload/workload_source.h"

namespace inferscale {
namespace {

std::vector<std::uint32_t> tenants_of(const PreparedRun& run, const SimulatedRun& simulated) {
  if (run.programs) return {};  // rows of calls; their tenants are those of sessions
  if (run.trace) return run.trace->tenant;
  return generated_columns(run.config.workload.generated, run.config.seed,
                           simulated.result.outcomes.size())
      .tenant;
}

}  // namespace

std::optional<AdmissionSummary> admission_summary_of(const PreparedRun& run,
                                                     const SimulatedRun& simulated,
                                                     const RunSummary& summary) {
  if (!has_admission(run)) return std::nullopt;
  const std::vector<std::uint32_t> tenants = tenants_of(run, simulated);
  // A run that was interrupted has fewer requests than its workload has rows.
  const std::size_t requests = simulated.result.outcomes.size();
  const std::size_t rows = tenants.size() < requests ? 0 : requests;
  return admission_of(run, simulated, Instant() + Duration::from_seconds(summary.warmup_s),
                      std::span(tenants).first(rows));
}

JsonValue admission_json_of(const PreparedRun& run, const AdmissionSummary& admission) {
  std::vector<std::string> names;
  if (run.trace) {
    names = run.trace->tenant_names;
  } else if (run.config.workload.generated.prefixes) {
    for (std::uint32_t i = 0; i < run.config.workload.generated.prefixes->tenants; ++i) {
      names.push_back(tenant_name(i));
    }
  }
  return admission_json(admission, names);
}

JsonValue decision_log_facts_of(const PreparedRun& run) {
  const ConfigNode* admission = run.effective.find("admission");
  const ConfigNode* signals = run.effective.find("signals");
  JsonValue facts = JsonValue::object();
  facts.add("seed", run.config.seed);
  if (admission != nullptr) facts.add("admission", JsonValue::raw(to_json_text(*admission)));
  if (signals != nullptr) facts.add("signals", JsonValue::raw(to_json_text(*signals)));
  return facts;
}

}  // namespace inferscale
