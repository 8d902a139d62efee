#include "cli/session_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "cli/run_figures.h"
#include "cli/terminal.h"
#include "report/session_json.h"
#include "report/text/session_text.h"
#include "report/text/text_table.h"
#include "study/run_figures.h"

namespace inferscale {
namespace {

std::optional<double> cost_per_hour(const PreparedRun& run, const SimulationResult& result) {
  const std::vector<GroupConfig>& groups = run.config.fleet.groups;
  const bool priced = std::ranges::any_of(groups, [](const GroupConfig& group) {
    return group.deployment.price_per_accelerator_hour.has_value();
  });
  if (!priced) return std::nullopt;
  return figures_of(run, result)[Metric::kCostPerHour];
}

SessionContext context_of_sessions(const PreparedRun& run, const SimulationResult& result,
                                   const RunSummary& summary) {
  const Programs& programs = *run.programs;
  const SessionOptions& options = *run.config.workload.sessions;
  const double last = programs.sessions.empty() ? 0 : programs.sessions.back().begin.seconds();
  std::string source = options.preset.empty() ? "generated" : "preset " + options.preset;
  if (options.trace) source = "of " + options.trace->file;
  SummaryContext context = context_of(run, result, summary);
  return {.title = std::move(context.title),
          .workload = fmt::format("{} sessions, {} turns ({}); they begin within {} s, as "
                                  "workload.arrivals says",
                                  programs.sessions.size(), programs.turns.size(), source,
                                  short_number(last)),
          .sessions_cut = programs.sessions_cut,
          .replicas = result.replicas.size(),
          .kv_tokens = context.kv_tokens,
          .kv_of_fleet =
              run.config.fleet.groups.size() > 1 ? std::move(context.kv_of_fleet) : std::string(),
          .cost_per_hour = cost_per_hour(run, result)};
}

}  // namespace

JsonValue sessions_json_of(const PreparedRun& run, const SimulationResult& result) {
  const SessionFacts facts = session_facts_of(run, result);
  return session_json(summarize_sessions(*result.programs, result.outcomes, facts), facts);
}

std::string session_text_of(const PreparedRun& run, const SimulationResult& result,
                            const RunSummary& summary) {
  const SessionFacts facts = session_facts_of(run, result);
  const SessionSummary sessions = summarize_sessions(*result.programs, result.outcomes, facts);
  const SessionContext context = context_of_sessions(run, result, summary);
  return session_text(sessions, facts, context) +
         session_deployment_text(summary, sessions, facts, context) +
         fleet_events_text(run, result) + "\n" +
         session_plots(*result.programs, result.outcomes, result.end, plot_glyphs());
}

}  // namespace inferscale
