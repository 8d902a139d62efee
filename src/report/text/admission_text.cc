#include "report/text/admission_text.h"

#include <fmt/format.h>

#include "report/text/number_words.h"
#include "report/text/text_table.h"

namespace inferscale {
namespace {

std::string count_or_blank(std::int64_t count) {
  return count == 0 ? std::string() : fmt::format("{}", count);
}

std::string counted(std::int64_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

// ", 3 rejected": of what there is some.
std::string others(std::initializer_list<std::pair<std::int64_t, const char*>> counts) {
  std::string text;
  for (const auto& [count, what] : counts) {
    if (count > 0) text += fmt::format(", {} {}", count, what);
  }
  return text;
}

std::string head(const AdmissionSummary& s, const AdmissionContext& context) {
  std::string out =
      fmt::format("Admission  policy {}{}", s.policy, context.simulated ? ", simulated" : "");
  if (s.decisions && s.enforce <= 0) out += "; in shadow: nothing was enforced";
  if (s.decisions && s.enforce > 0 && s.enforce < 1) {
    out += fmt::format("; enforced on {} of the traffic, the rest in shadow", percent(s.enforce));
  }
  return out + "\n";
}

std::string reasons_table(const DecisionFigures& decisions) {
  const bool with_held = decisions.held > 0;
  const bool with_shadow = decisions.shadow > 0;
  std::vector<std::string> columns = {"attempts", ">deferred", ">rejected"};
  if (with_held) columns.emplace_back(">held");
  if (with_shadow) {
    columns.emplace_back(">in shadow: deferred");
    columns.emplace_back(">rejected");
  }
  TextTable table(columns);
  bool any = false;
  for (std::size_t i = 0; i < kReasonCount; ++i) {
    const ReasonCounts& counts = decisions.by_reason[i];
    if (!counts.any()) continue;
    any = true;
    std::vector<std::string> row = {std::string(reason_name(static_cast<Reason>(i))),
                                    count_or_blank(counts.deferred),
                                    count_or_blank(counts.rejected)};
    if (with_held) row.push_back(count_or_blank(counts.held));
    if (with_shadow) {
      row.push_back(count_or_blank(counts.shadow_deferred));
      row.push_back(count_or_blank(counts.shadow_rejected));
    }
    table.add(std::move(row));
  }
  return any ? table.text() : std::string();
}

std::string decisions_text(const DecisionFigures& d) {
  const std::int64_t at_door = d.presented - d.admitted - d.deferred - d.rejected - d.left;
  std::string out = fmt::format("Decisions  {} presented: {} admitted{}\n",
                                counted(d.presented, "attempt"), d.admitted,
                                others({{d.deferred, "deferred"},
                                        {d.rejected, "rejected"},
                                        {d.left, "left while held"},
                                        {at_door, "held until they left or the run ended"}}));
  if (d.rerouted > 0) {
    out += fmt::format("           {} to another replica's door, since their own had failed\n",
                       counted(d.rerouted, "re-route"));
  }
  if (d.shadow > 0) {
    out += fmt::format("           in shadow: {}, of which the policy would have refused {}\n",
                       counted(d.shadow, "attempt"), d.shadow_refusals);
  }
  if (d.stale_decisions > 0) {
    out += fmt::format("           {} taken by the stale rule: a signal was too old\n",
                       counted(d.stale_decisions, "decision"));
  }
  return out;
}

std::string failures_text(const AdmissionSummary& s) {
  if (s.decisions->policy_failures == 0) return {};
  return fmt::format("           {} in which the policy failed{}{}\n",
                     counted(s.decisions->policy_failures, "decision"),
                     s.policy_failure.empty() ? "" : ", first since ", s.policy_failure);
}

std::string goodput_text(const AdmissionSummary& s) {
  if (!s.has_slo) return "Goodput    not judged: no SLO is set\n";
  if (!s.goodput) return "Goodput    none: no request counts\n";
  std::string out = fmt::format("Goodput    {} of all {} that arrived", percent(*s.goodput),
                                counted(s.counted, "request"));
  out += s.attainment_admitted ? fmt::format("; {} of the {} that were admitted\n",
                                             percent(*s.attainment_admitted), s.admitted)
                               : std::string("; none was admitted\n");
  if (s.never_made > 0) {
    out += fmt::format("           {} were never made: their sessions had ended\n",
                       counted(s.never_made, "further call"));
  }
  if (s.goodput_rps) {
    out += fmt::format("           {} requests/s of {} offered, over the {} s of arrivals\n",
                       short_number(*s.goodput_rps), short_number(*s.offered_rps),
                       short_number(s.arrival_window_s));
  }
  return out;
}

std::string attempts_text(const AdmissionSummary& s) {
  if (!s.amplification) return {};
  std::string out = fmt::format("Attempts   {} of {}: {} a request{}\n", s.attempts,
                                counted(s.requests, "request"), short_number(*s.amplification),
                                others({{s.engine_refusals, "refused by an engine"}}));
  const std::string ends = others({{s.gave_up, "gave up"},
                                   {s.left, "left before the end"},
                                   {s.elsewhere, "went to another provider"}});
  if (!ends.empty()) out += fmt::format("           of the requests {}\n", ends.substr(2));
  return out;
}

std::string waste_text(const TokenUse& use) {
  const std::optional<double> share = use.wasted_share();
  if (!share) return {};
  std::string out = fmt::format("Wasted     {} of all tokens: {} prompt and {} output tokens\n",
                                percent(*share), use.wasted().prompt, use.wasted().output);
  const std::string causes = others({{use.missed.all(), "of answers that missed the SLO"},
                                     {use.gone.all(), "of clients that had gone"},
                                     {use.repeated.all(), "done again or for nobody"}});
  if (!causes.empty()) out += fmt::format("           {}\n", causes.substr(2));
  return out;
}

std::string wait_line(const char* name, const char* what, const PopulationSummary& wait) {
  if (wait.count == 0) return {};
  return fmt::format("{}mean {} s, p50 {}, p95 {}, max {} ({} {})\n", name, short_number(wait.mean),
                     short_number(wait.p50), short_number(wait.p95), short_number(wait.max),
                     wait.count, what);
}

std::string fairness_text(const AdmissionSummary& s) {
  const TenantFairness& fairness = s.fairness;
  std::string out;
  if (fairness.tenants.size() > 1) {
    std::string indices;
    const auto add = [&](const char* name, std::optional<double> jain) {
      if (!jain) return;
      indices += fmt::format("{}{} {}", indices.empty() ? "" : ", ", name, short_number(*jain));
    };
    add("goodput", fairness.goodput_jain);
    add("served tokens", fairness.tokens_jain);
    add("p95 latency", fairness.latency_jain);
    out = fmt::format("Fairness   Jain's index over {} tenants: {}\n", fairness.tenants.size(),
                      indices.empty() ? "nobody was served" : indices);
    if (fairness.without_latency > 0) {
      out += fmt::format("           nothing finished of {}\n",
                         counted(fairness.without_latency, "tenant"));
    }
  }
  if (s.completion) {
    out += fmt::format("Agents     {} of {} complete: {}\n", s.sessions_complete,
                       counted(*s.sessions, "session"), percent(*s.completion));
  }
  return out;
}

std::string signals_table(const DecisionFigures& decisions) {
  if (decisions.signals.empty()) return {};
  TextTable table({"signal at decisions", ">known", ">min", ">p50", ">p95", ">max", "unit"});
  for (const SignalFigures& signal : decisions.signals) {
    const SignalSpec& spec = spec_of(signal.signal);
    const auto figure = [&](double value) {
      return signal.known == 0 ? std::string("-") : short_number(value);
    };
    table.add({std::string(spec.name), percent(signal.known_share().value_or(0)),
               figure(signal.min), figure(signal.p50), figure(signal.p95), figure(signal.max),
               std::string(spec.unit)});
  }
  return table.text();
}

std::string reached_text(const AdmissionSummary& s) {
  if (!s.threshold) return {};
  const auto line = [&](const char* verdict) {
    return fmt::format("Signal     {}: {} {} its threshold of {}\n",
                       liveness_name(s.signal_reached), spec_of(s.threshold->signal).name, verdict,
                       short_number(s.threshold->value));
  };
  switch (s.signal_reached) {
    case Liveness::kLive:
      return line("reached");
    case Liveness::kMarginal:
      return line("came within a tenth of");
    case Liveness::kInert:
      return line("never came near");
    case Liveness::kUnknown:
      break;
  }
  return line("was never known beside");
}

std::string acted_text(const AdmissionSummary& s) {
  const DecisionFigures& d = *s.decisions;
  if (s.admits_all) return "Policy     admits everybody, by design\n";
  switch (s.policy_acted) {
    case Liveness::kLive:
      return fmt::format("Policy     live: put off or refused in {} of its {} enforced decisions\n",
                         d.policy_refusals, d.policy_decisions);
    case Liveness::kInert:
      return fmt::format(
          "Policy     inert: refused nobody in {} enforced decisions, so this run does not show "
          "what it does\n",
          d.policy_decisions);
    case Liveness::kMarginal:
    case Liveness::kUnknown:
      break;
  }
  return "Policy     unknown: no decision of its own was enforced\n";
}

}  // namespace

std::string admission_text(const AdmissionSummary& summary, const AdmissionContext& context) {
  std::string out = head(summary, context);
  if (summary.decisions) {
    out += decisions_text(*summary.decisions) + failures_text(summary) +
           reasons_table(*summary.decisions);
  }
  out += goodput_text(summary) + attempts_text(summary) + waste_text(summary.tokens);
  if (summary.decisions) {
    const DecisionFigures& d = *summary.decisions;
    out += wait_line("Put off    ", "requests, from the first defer on", d.defer_s);
    out += wait_line("Held       ", "attempts at the door", d.hold_s);
  }
  out += fairness_text(summary);
  if (!summary.decisions) return out;
  out += signals_table(*summary.decisions) + reached_text(summary);
  return out + acted_text(summary);
}

}  // namespace inferscale
