#include <fmt/format.h>

#include "report/text/number_words.h"
#include "report/text/session_text.h"
#include "report/text/text_table.h"

namespace inferscale {
namespace {

std::string time_text(const RunSummary& run, const SessionTimes& times) {
  std::string out = fmt::format("Time       {} s", short_number(run.duration_s));
  if (!times.long_tail()) return out + "\n";
  out += fmt::format(
      "; {} of it lies after the last session began, with {} sessions in progress on average: "
      "rates, costs and means over time are of that too\n",
      percent(times.after_share), short_number(times.after_sessions_mean));
  if (times.most_turns_output_tokens_per_s) {
    out += fmt::format("           99 % of the turns had finished by {} s: {} output tokens/s\n",
                       short_number(times.most_turns->seconds()),
                       short_number(*times.most_turns_output_tokens_per_s));
  }
  return out;
}

// In these runs the backlog is one of sessions (metrics/session_backlog.h).
std::string steady_text(const Backlog& backlog) {
  const std::string growth =
      fmt::format("sessions in progress grew by {} to {} sessions/s of {} that began",
                  short_number(backlog.growth_rps_low), short_number(backlog.growth_rps_high),
                  short_number(backlog.arrivals_rps));
  switch (backlog.verdict) {
    case BacklogVerdict::kStable:
      return fmt::format("Steady     yes: {}\n", growth);
    case BacklogVerdict::kSaturated:
      return fmt::format("Steady     no: {}, so with more sessions latencies are longer\n", growth);
    case BacklogVerdict::kUndecided:
      break;
  }
  if (backlog.doubt == BacklogDoubt::kFewArrivals) {
    return fmt::format("Steady     undecided: {} sessions are too few to judge\n",
                       backlog.arrivals);
  }
  return "Steady     undecided: more sessions at the same rate would tell\n";
}

std::string kv_text(const RunSummary& run, const SessionSummary& s, const SessionFacts& facts,
                    const SessionContext& context) {
  const std::string whole =
      context.kv_of_fleet.empty()
          ? fmt::format("{} GB, {} tokens{}",
                        short_number(1e-9 * facts.kv_bytes_per_token *
                                     static_cast<double>(context.kv_tokens)),
                        context.kv_tokens, context.replicas > 1 ? " a replica" : "")
          : context.kv_of_fleet;
  std::string out =
      fmt::format("KV cache   {}\n           turns that run hold {} of it on average, {} at most",
                  whole, percent(run.kv_used_mean), percent(run.kv_used_peak));
  // Of replicas that differ nobody knows whose the peak is.
  if (context.kv_of_fleet.empty() && context.kv_tokens > 0) {
    out += fmt::format("; with idle KV {} at most",
                       percent(static_cast<double>(s.retention.resident_peak) /
                               static_cast<double>(context.kv_tokens)));
  }
  return out + "\n";
}

}  // namespace

std::string session_deployment_text(const RunSummary& run, const SessionSummary& summary,
                                    const SessionFacts& facts, const SessionContext& context) {
  const bool fleet = context.replicas > 1;
  std::string out = time_text(run, summary.times) + steady_text(run.backlog) +
                    kv_text(run, summary, facts, context);
  out += fmt::format("Batch      mean {} turns{}, peak {}{}; {} {} of the time\n",
                     short_number(run.running_mean), fleet ? " in all" : "", run.running_peak,
                     fleet ? " in a replica" : "", fleet ? "replicas busy" : "busy",
                     percent(run.utilisation));
  if (run.duration_s <= 0) return out;
  const auto rate = [&](std::int64_t count) {
    return short_number(static_cast<double>(count) / run.duration_s);
  };
  out += fmt::format(
      "Throughput {} turns/s, {} output tokens/s; prompts of {} tokens/s, {} of them computed\n",
      rate(summary.turns_finished), short_number(run.output_tokens_per_s),
      rate(summary.prompt_tokens), rate(summary.prompt_tokens - summary.cached_tokens));
  out += fmt::format("Cost       {} accelerator-hours", short_number(run.accelerator_hours));
  if (run.accelerator_hours_per_million_output_tokens) {
    out += fmt::format(", {} for a million output tokens",
                       short_number(*run.accelerator_hours_per_million_output_tokens));
  }
  if (context.cost_per_hour) {
    const double cost = *context.cost_per_hour * run.duration_s / 3600;
    out += fmt::format("; price {} an hour, {} in all", short_number(*context.cost_per_hour),
                       short_number(cost));
    if (run.output_tokens > 0) {
      out += fmt::format(", {} for a million output tokens",
                         short_number(cost / (1e-6 * static_cast<double>(run.output_tokens))));
    }
  }
  return out + "\n";
}

}  // namespace inferscale
