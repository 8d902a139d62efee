#include "report/text/session_text.h"

#include <fmt/format.h>

#include "report/text/number_words.h"
#include "report/text/slo_words.h"
#include "report/text/text_table.h"

namespace inferscale {
namespace {

constexpr double kSecondsPerNano = 1e-9;

std::string percent_or_dash(const std::optional<double>& fraction) {
  return fraction ? percent(*fraction) : "-";
}

std::string seconds_of(double ns) {
  return short_number(ns * kSecondsPerNano);
}

// ", 3 failed, 2 never reached": of what there is some.
std::string others(std::initializer_list<std::pair<std::int64_t, const char*>> counts) {
  std::string text;
  for (const auto& [count, what] : counts) {
    if (count > 0) text += fmt::format(", {} {}", count, what);
  }
  return text;
}

std::string endings(const SessionSummary& s, const SessionContext& context) {
  if (s.sessions == 0) return "Sessions   none began\n";
  std::string out =
      fmt::format("Sessions   {} of {} complete{}\n", s.complete, s.sessions,
                  others({{s.failed, "failed"}, {s.unfinished, "unfinished at the end"}}));
  if (context.sessions_cut > 0) {
    out +=
        fmt::format("           {} of them were made to end before a call that would be too long\n",
                    context.sessions_cut);
  }
  out += fmt::format("Turns      {} of {} finished{}\n", s.turns_finished, s.turns,
                     others({{s.turns_failed, "failed"},
                             {s.turns_unfinished(), "unfinished at the end"},
                             {s.turns_unreached, "never reached"}}));
  if (s.turns_finished < s.turns || s.complete < s.sessions) {
    out += fmt::format(
        "           latencies are of the {} turns that finished, makespan and stretch of the {} "
        "complete sessions\n",
        s.turns_finished, s.complete);
  }
  if (s.attempts > s.turns_finished + s.turns_failed + s.turns_unfinished()) {
    out += fmt::format("           {} attempts in all; latencies count from a turn's first\n",
                       s.attempts);
  }
  return out;
}

std::string verdict(const SessionSummary& s, const SessionFacts& facts) {
  if (s.sessions == 0) return {};
  std::string out;
  if (facts.classes.any(facts.slo)) {
    out +=
        fmt::format("SLO        of a turn: {}\n",
                    facts.classes.exist() ? "that of its session's class" : target_text(facts.slo));
    out +=
        fmt::format("           met by {} of all {} turns{}\n", percent(s.turn_attainment), s.turns,
                    s.turns_finished < s.turns ? ": those that did not finish count against it"
                                               : std::string());
  } else {
    out += "SLO        none set: turns are not judged\n";
  }
  if (facts.makespan) {
    out += fmt::format("Budget     {} s for a session: {} of all {} were complete within it\n",
                       short_number(facts.makespan->seconds()), percent(s.session_attainment),
                       s.sessions);
  }
  return out;
}

void add_row(TextTable& table, const char* name, const PopulationSummary& p) {
  if (p.count == 0) {
    table.add({name, "-", "-", "-", "-", "-", "-"});
    return;
  }
  table.add({name, short_number(p.mean), short_number(p.p50), short_number(p.p90),
             short_number(p.p95), short_number(p.p99), short_number(p.max)});
}

std::string times_table(const SessionSummary& s) {
  TextTable table({"", ">mean", ">p50", ">p90", ">p95", ">p99", ">max"});
  add_row(table, "turn TTFT, ms", s.turn_ttft_ms);
  add_row(table, "turn E2E, ms", s.turn_e2e_ms);
  add_row(table, "session makespan, s", s.makespan_s);
  add_row(table, "session stretch", s.stretch);
  return table.text() + "\n";
}

std::string residency_table(const SessionSummary& s, const SessionFacts& facts,
                            const SessionContext& context) {
  const bool lasted = facts.end > Instant();
  const auto mean = [&](double gb_seconds) {
    return lasted ? short_number(gb_seconds / facts.end.seconds()) : "-";
  };
  const auto a_session = [&](double gb_seconds) {
    return short_number(gb_seconds / static_cast<double>(s.sessions));
  };
  TextTable table({"KV in HBM", context.replicas > 1 ? ">mean GB of all" : ">mean GB", ">GB x s",
                   ">GB x s a session", context.replicas > 1 ? ">peak GB of a replica" : ">peak GB",
                   ">peak tokens"});
  table.add({"resident", mean(s.hbm_gb_seconds), short_number(s.hbm_gb_seconds),
             a_session(s.hbm_gb_seconds), short_number(s.kv_gb_peak_replica),
             fmt::format("{}", s.retention.resident_peak)});
  table.add({"of it idle", mean(s.idle_gb_seconds), short_number(s.idle_gb_seconds),
             a_session(s.idle_gb_seconds), "", ""});
  return table.text() + "\n";
}

std::string evictions_table(const KvRetentionUsage& usage) {
  TextTable table({"KV dropped", ">tokens", ">times"});
  const auto add = [&](const char* cause, TokenCount tokens, std::string times) {
    table.add({cause, fmt::format("{}", tokens), std::move(times)});
  };
  add("TTL", usage.evicted_ttl, fmt::format("{}", usage.evictions_ttl));
  add("pressure", usage.evicted_pressure, fmt::format("{}", usage.evictions_pressure));
  add("end of its chain", usage.dropped_ended, "");
  if (usage.dropped_recompute > 0) add("not retained", usage.dropped_recompute, "");
  return table.text() + "\n";
}

std::string host_table(const SessionSummary& s) {
  const KvRetentionUsage& usage = s.retention;
  TextTable table({"host tier", ">times", ">tokens", ">s", ">waited for, s"});
  table.add({"offload", fmt::format("{}", usage.offloads), fmt::format("{}", usage.offloaded),
             seconds_of(usage.offload_ns), seconds_of(usage.exposed_ns)});
  table.add({"restore", fmt::format("{}", usage.restores), fmt::format("{}", usage.restored),
             seconds_of(usage.restore_ns), seconds_of(usage.restore_ns)});
  table.add({"dropped there", "", fmt::format("{}", usage.host_evicted), "", ""});
  return table.text() +
         fmt::format("  peak {} GB of a replica's host memory\n\n", short_number(s.host_gb_peak));
}

std::string reuse(const SessionSummary& s, const SessionContext& context) {
  std::string out;
  if (s.turns_with_history == 0) {
    out += "Reuse      no turn that finished had a history\n";
  } else {
    out += fmt::format(
        "Reuse      {} of history tokens were found ({} of {} turns found some); {} computed "
        "again\n",
        percent_or_dash(s.history_hit_rate), s.turns_hit, s.turns_with_history,
        s.history_recomputed);
    if (s.history_recomputed > 0) {
      out += fmt::format("           (dropped, {}or of a last block that was not full)\n",
                         context.replicas > 1 ? "left on another replica, " : "");
    }
  }
  if (s.prompt_hit_rate) {
    out += fmt::format("           {} of all prompt tokens, what sessions share included\n",
                       percent(*s.prompt_hit_rate));
  }
  out += fmt::format("Time lost  {} s to computing history again, {} s to transfers\n",
                     short_number(s.recompute_s), short_number(s.transfer_s));
  if (context.replicas > 1) {
    out += fmt::format(
        "Routing    {} of turns with a history went where their chain's last turn had been\n",
        percent_or_dash(s.locality));
  }
  return out;
}

std::string fairness(const SessionSummary& s) {
  std::string out = "Fairness   ";
  if (s.jain) {
    out +=
        fmt::format("Jain's index {} of progress, {} starved (stretch over 10 times the median), ",
                    short_number(*s.jain), s.starved);
  }
  return out + fmt::format("longest wait of a turn {} s\n", short_number(s.queue_s_max));
}

}  // namespace

std::string session_text(const SessionSummary& summary, const SessionFacts& facts,
                         const SessionContext& context) {
  std::string out;
  if (!context.title.empty()) out = fmt::format("{}\n{}\n\n", context.title, context.workload);
  out += endings(summary, context) + verdict(summary, facts);
  if (summary.sessions == 0) return out;
  out += "\n" + times_table(summary);
  out += residency_table(summary, facts, context);
  out += evictions_table(summary.retention);
  if (facts.host_tier) out += host_table(summary);
  return out + reuse(summary, context) + fairness(summary);
}

}  // namespace inferscale
