#include "cli/replay_text.h"

#include <fmt/format.h>

#include <set>
#include <vector>

#include "report/text/number_words.h"
#include "report/text/text_table.h"

namespace inferscale {
namespace {

std::string words(const DecisionKind& kind) {
  if (kind.verdict == Verdict::kAdmit) return "admit";
  return fmt::format("{} {}", verdict_name(kind.verdict), reason_name(kind.reason));
}

std::string waits(const Decision& decision) {
  if (!decision.retry_after) return words(kind_of(decision));
  return fmt::format("{} ({} s)", words(kind_of(decision)),
                     short_number(decision.retry_after->seconds()));
}

// A row for each recorded kind of decision, a column for each replayed one.
std::string cross_table(const OpenReplayFigures& figures) {
  std::set<DecisionKind> recorded;
  std::set<DecisionKind> replayed;
  for (const auto& [kinds, count] : figures.table) {
    recorded.insert(kinds.first);
    replayed.insert(kinds.second);
  }
  std::vector<std::string> columns = {"recorded \\ replayed"};
  for (const DecisionKind& kind : replayed) columns.push_back(">" + words(kind));
  TextTable table(columns);
  for (const DecisionKind& was : recorded) {
    std::vector<std::string> row = {words(was)};
    for (const DecisionKind& is : replayed) {
      const auto cell = figures.table.find({was, is});
      row.push_back(cell == figures.table.end() ? "" : fmt::format("{}", cell->second));
    }
    table.add(std::move(row));
  }
  return table.text();
}

// What the two policies read.
std::string readings_text(const DecisionRecord& record, SignalSet needed) {
  std::string text;
  for (const SignalSpec& spec : all_signals()) {
    const Reading& reading = record.readings[static_cast<std::size_t>(spec.signal)];
    if (!needed.has(spec.signal) || !reading.is_known()) continue;
    text +=
        fmt::format("{}{} {}", text.empty() ? "" : ", ", spec.name, short_number(reading.value));
  }
  return text;
}

std::string differences_text(const OpenReplayFigures& figures) {
  if (figures.first.empty()) return {};
  std::string text = "\nThe first that differ:\n";
  for (const OpenReplayFigures::Difference& each : figures.first) {
    const DecisionRecord& record = each.recorded;
    text += fmt::format("  at {:.9g} s, gate {}, decision {}, request {}, attempt {}: {} -> {}\n",
                        record.at.seconds(), record.gate, record.sequence, record.request.request,
                        record.request.attempt, waits(record.decided), waits(each.replayed));
    const std::string readings = readings_text(record, record.needed | figures.needed);
    if (!readings.empty()) text += fmt::format("    {}\n", readings);
  }
  return text;
}

std::string duty_text(const DutyCycle& duty) {
  const std::optional<double> share = duty.share();
  if (!share) return "none: it decided about no arrival itself";
  return fmt::format("{} of {}", percent(*share), duty.samples);
}

std::string share_or_none(std::optional<double> share) {
  return share ? percent(*share) : "not judged";
}

std::string ms_text(const ReplayedRun& run, double ms) {
  return run.ttft_ms.count > 0 ? short_number(ms) : "none";
}

}  // namespace

std::string open_replay_text(const OpenReplayFigures& figures) {
  std::string text = fmt::format(
      "Decisions  {} replayed: {} about attempts that were held, {} in shadow\n"
      "           {} taken by the stale rule when recorded, {} when replayed\n",
      figures.decisions, figures.held_again, figures.shadow, figures.recorded_stale,
      figures.replayed_stale);
  if (figures.of_the_gate > 0) {
    text += fmt::format(
        "           {} left out, which no policy took: held for too long, or the caller left\n",
        figures.of_the_gate);
  }
  if (figures.partly_old > 0) {
    text += fmt::format(
        "           {} left out: only some replicas' pages were too old, and the log's readings "
        "are "
        "of all\n",
        figures.partly_old);
  }
  text += fmt::format("{}\n", cross_table(figures));
  text += fmt::format("Differ     {} of {}", figures.differ, figures.decisions);
  if (figures.differ_else > 0) {
    text += fmt::format(", and {} more in the wait or in what becomes of those held",
                        figures.differ_else);
  }
  text += fmt::format(
      "\nDuty cycle recorded {}, replayed {}\n"
      "           (of the arrivals that the policy decided about, those that found it refusing;\n"
      "           not a refusal rate)\n",
      duty_text(figures.recorded_duty), duty_text(figures.replayed_duty));
  return text + differences_text(figures);
}

std::string closed_replay_text(const ReplayedRun& recorded, const ReplayedRun& replayed,
                               const PairedOutcomes& pairs) {
  TextTable table({"", ">recorded", ">re-simulated"});
  const auto row = [&](std::string name, std::string was, std::string is) {
    table.add({std::move(name), std::move(was), std::move(is)});
  };
  const auto count = [&](std::string name, std::int64_t was, std::int64_t is) {
    row(std::move(name), fmt::format("{}", was), fmt::format("{}", is));
  };
  row("policy", recorded.policy, replayed.policy);
  row("goodput, of all requests", share_or_none(recorded.goodput), share_or_none(replayed.goodput));
  row("attainment of those admitted", share_or_none(recorded.attainment_admitted),
      share_or_none(replayed.attainment_admitted));
  row("TTFT p50, ms", ms_text(recorded, recorded.ttft_ms.p50),
      ms_text(replayed, replayed.ttft_ms.p50));
  row("TTFT p95, ms", ms_text(recorded, recorded.ttft_ms.p95),
      ms_text(replayed, replayed.ttft_ms.p95));
  count("requests", recorded.requests, replayed.requests);
  count("attempts", recorded.attempts, replayed.attempts);
  count("attempts admitted", recorded.admitted, replayed.admitted);
  count("attempts deferred", recorded.deferred, replayed.deferred);
  count("attempts rejected", recorded.rejected, replayed.rejected);
  if (recorded.shadow_refusals + replayed.shadow_refusals > 0) {
    count("refusals in shadow", recorded.shadow_refusals, replayed.shadow_refusals);
  }
  const std::string_view what = pairs.of_sessions ? "Sessions that were completed"
                                : pairs.has_slo   ? "Requests that met the SLO"
                                                  : "Requests that finished";
  return table.text() +
         fmt::format(
             "\n{}, the same ones in both runs:\n"
             "  {} in both, {} as recorded only, {} re-simulated only, {} in neither\n",
             what, pairs.both, pairs.recorded_only, pairs.replayed_only, pairs.neither);
}

}  // namespace inferscale
