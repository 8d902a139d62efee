#include "cli/run_figures.h"

#include <fmt/format.h>

#include "report/summary_json.h"
#include "report/text/measurement_text.h"
#include "report/text/text_table.h"

namespace inferscale {
namespace {

double millis(double ns) {
  return 1e-6 * ns;
}

double each(double sum, std::int64_t count) {
  return count == 0 ? 0 : sum / static_cast<double>(count);
}

// "8 x h100-sxm", or one for each group of a fleet.
std::string hardware_of(const PreparedRun& run) {
  const FleetConfig& fleet = run.config.fleet;
  if (fleet.groups.size() == 1) {
    return fmt::format("{} x {}", run.deployment.accelerators(),
                       fleet.groups[0].deployment.hardware.name);
  }
  std::string text;
  for (std::size_t i = 0; i < fleet.groups.size(); ++i) {
    const GroupConfig& group = fleet.groups[i];
    text += fmt::format("{}{} {} x {}", i == 0 ? "" : " + ", group.name,
                        group.replicas * group.deployment.shape.accelerators(),
                        group.deployment.hardware.name);
  }
  return text;
}

// "28134 blocks (450144 tokens)", or one for each group of a fleet.
std::string kv_of_fleet(const PreparedRun& run) {
  const std::vector<GroupConfig>& groups = run.config.fleet.groups;
  std::string text;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const ReplicaOptions& replica = run.deployment.kinds[i].replica;
    text += fmt::format("{}{}{} blocks, {} tokens", i == 0 ? "" : "; ",
                        groups.size() == 1 ? std::string() : groups[i].name + " ",
                        replica.kv_blocks, kv_tokens(replica));
  }
  return text;
}

}  // namespace

SummaryContext context_of(const PreparedRun& run, const SimulationResult& result,
                          const RunSummary& summary) {
  const Deployment& kind = run.deployment.kinds.front();
  const std::string source = run.trace ? fmt::format("trace {} ({})", run.trace->file_name,
                                                     trace_format_name(run.trace->format))
                                       : std::string("generated requests");
  return {
      .title = fmt::format(
          "{}: {} on {}, {}, {} latency model (simulated)", run.config.name,
          run.config.deployment.model.name, hardware_of(run),
          kind.replica.serial ? "serial station" : scheduler_name(kind.replica.scheduler),
          kind.latency->name()),
      .workload = fmt::format(
          "{}: {} in {} s{}", source, summary.arrived, short_number(summary.arrival_window_s),
          summary.offered_rps ? fmt::format(" ({} requests/s)", short_number(*summary.offered_rps))
                              : std::string()),
      .slo = run.config.slo,
      .kv_blocks = kind.replica.kv_blocks,
      .kv_tokens = kv_tokens(kind.replica),
      .kv_of_fleet = kv_of_fleet(run),
      .max_num_seqs = kind.replica.max_num_seqs,
      .accelerators = run.deployment.accelerators(),
      .replicas = reported_replicas(run, result)};
}

JsonValue summary_json_of(const PreparedRun& run, const SimulationResult& result,
                          const RunSummary& summary) {
  JsonValue json = summary_json(summary, run.config.slo);
  if (result.replicas.size() > 1 || result.fleet.failures > 0) {
    json.add("fleet_events",
             JsonValue::object()
                 .add("failures", result.fleet.failures)
                 .add("retries", result.fleet.retries)
                 .add("lost", result.fleet.lost)
                 .add("waited_for_replica", result.fleet.waited_for_replica)
                 .add("waiting_for_replica_peak", result.fleet.waiting_for_replica_peak));
  }
  if (run.config.fleet.split) {
    const TransferFacts& t = result.transfers;
    json.add("transfers", JsonValue::object()
                              .add("handed_over", t.handed_over)
                              .add("completed", t.completed)
                              .add("cut", t.cut)
                              .add("bytes", t.bytes)
                              .add("resident_tokens", t.resident_tokens)
                              .add("link_busy_s", t.link_busy.seconds())
                              .add("reserving_ms_mean", millis(each(t.reserving_ns, t.started)))
                              .add("reserving_ms_max", JsonValue::millis(t.reserving_max))
                              .add("moving_ms_mean", millis(each(t.moving_ns, t.completed)))
                              .add("moving_ms_max", JsonValue::millis(t.moving_max)));
  }
  return json;
}

std::string fleet_events_text(const PreparedRun& run, const SimulationResult& result) {
  std::string out;
  if (run.config.fleet.split) {
    const TransferFacts& t = result.transfers;
    out += fmt::format(
        "Transfers  {} of {} GB in all; waited {} ms for a step boundary and room (mean; max {}), "
        "moved {} ms (mean; max {}); link busy {} s\n",
        t.completed, short_number(1e-9 * t.bytes),
        short_number(millis(each(t.reserving_ns, t.started))),
        short_number(millis(static_cast<double>(t.reserving_max.ns()))),
        short_number(millis(each(t.moving_ns, t.completed))),
        short_number(millis(static_cast<double>(t.moving_max.ns()))),
        short_number(t.link_busy.seconds()));
  }
  const FleetFacts& f = result.fleet;
  if (f.failures > 0) {
    out +=
        fmt::format("Failures   {}; {} retries, {} requests lost\n", f.failures, f.retries, f.lost);
  }
  if (f.waited_for_replica > 0) {
    out += fmt::format(
        "Door       {} times a request found no replica up, {} waited at once at most\n",
        f.waited_for_replica, f.waiting_for_replica_peak);
  }
  return out;
}

namespace {

// Whether the figures of sessions are those of a steady state.
std::string pile_up_note(const Backlog& backlog) {
  const std::string growth =
      fmt::format("the number in progress grew by {} to {} a second of {} that began",
                  short_number(backlog.growth_rps_low), short_number(backlog.growth_rps_high),
                  short_number(backlog.arrivals_rps));
  switch (backlog.verdict) {
    case BacklogVerdict::kStable:
      return {};
    case BacklogVerdict::kSaturated:
      return "Sessions begin faster than they end: " + growth +
             ". There is no steady state, so figures follow from how many sessions the run had.";
    case BacklogVerdict::kUndecided:
      break;
  }
  const std::string longer =
      " More sessions (workload.sessions.count) at the same rate would tell.";
  switch (backlog.doubt) {
    case BacklogDoubt::kFewArrivals:
      return fmt::format("{} sessions are too few to say whether they pile up.", backlog.arrivals) +
             longer;
    case BacklogDoubt::kFilling:
      return "The deployment was filling up with sessions, and hardly so towards the end of their "
             "beginnings: figures are partly of that time." +
             longer;
    default:
      return "Whether sessions pile up is not clear: " +
             (backlog.growth_rps_high == 0 ? "they last too long for the time in which they begin"
                                           : growth) +
             "." + longer;
  }
}

}  // namespace

std::vector<std::string> result_notes(const PreparedRun& run, const SimulationResult& result,
                                      const RunSummary& summary) {
  std::vector<std::string> notes;
  if (!result.stuck.empty()) notes.push_back("The run can't go on: " + result.stuck + ".");
  if (result.programs) {
    if (std::string note = pile_up_note(summary.backlog); !note.empty()) notes.push_back(note);
  } else {
    for (const std::string& note : measurement_notes(summary)) notes.push_back(note);
  }
  if (summary.arrived > 0 && summary.refused == summary.arrived) {
    notes.push_back("Every request was refused: there are no latencies to report.");
  }
  if (summary.refused_for(Reason::kExceedsModelLen) > 0) {
    std::string note =
        fmt::format("{} of {} requests were refused, being longer than the replica's max_model_len",
                    summary.refused_for(Reason::kExceedsModelLen), summary.arrived);
    if (run.config.workload.generated.conversations && !run.trace) {
      note += ": conversations grow up to workload.conversations.max_context_tokens";
    }
    if (const auto& sessions = run.config.workload.sessions) {
      note += std::string(", ") +
              std::to_string(run.deployment.kinds.front().replica.max_model_len) +
              ", and ended their sessions: workload.sessions." + (sessions->trace ? "trace." : "") +
              "max_context_tokens ends sessions before that";
    }
    notes.push_back(note + ".");
  }
  if (result.signals_thinned) {
    notes.push_back(
        fmt::format("The run is long: the state was sampled every {} s, not as often as asked for.",
                    short_number(result.signals_interval.seconds())));
  }
  if (result.signals_of_fleet) {
    notes.push_back("The fleet is large: rows of signals are of all replicas together.");
  }
  return notes;
}

}  // namespace inferscale
