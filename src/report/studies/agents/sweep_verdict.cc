#include "report/studies/agents/sweep_verdict.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/studies/agents/host_verdict.h"
#include "report/studies/agents/memory_verdict.h"
#include "report/studies/agents/verdict_parts.h"
#include "report/studies/comparison_text.h"
#include "report/studies/explore/explore_rows.h"
#include "report/text/number_words.h"

namespace inferscale {
namespace {

// What the recommended point saves, or gains, against the fastest.
std::string gain_text(const SweepRowFields& chosen, const SweepRowFields& fastest,
                      const std::string& against, double tolerance) {
  std::string text = " That is within " + fmt::format("{:.6g}", 100 * tolerance) +
                     " % of the least (" + ttft_text(fastest) + ", " + fastest.name + ")";
  const std::optional<double> own = chosen.mean(against);
  const std::optional<double> its = fastest.mean(against);
  if (!own || !its) return text + ".";
  if (against == kFound) return text + ", which finds " + percent(*its) + ".";
  return text + ", which keeps " + gigabytes(*its) + " of KV in HBM" +
         (*its > 0 ? fmt::format(": {}", signed_percent(*own / *its - 1)) : "") + ".";
}

std::string ends_text(const Rows& rows) {
  std::vector<std::string> ends;
  for (const char* policy : {"least_load", "session_affinity"}) {
    const SweepRowFields* end = first_of(rows, policy);
    if (end == nullptr || !end->mean(kFound)) continue;
    ends.push_back(end->name + " has a p95 turn TTFT of " + ttft_text(*end) + " and finds " +
                   percent(*end->mean(kFound)));
  }
  return ends.empty() ? "" : part("The ends", enumeration(ends) + ".");
}

// Where finding more stops being worth it.
std::string locality_text(const Rows& rows, const SweepRowFields& chosen) {
  const SweepRowFields* most = nullptr;
  for (const SweepRowFields& row : rows) {
    if (!row.mean(kFound) || !row.mean(kTtftP95)) continue;
    if (most == nullptr || *row.mean(kFound) > *most->mean(kFound)) most = &row;
  }
  if (most == nullptr || !chosen.mean(kFound)) return {};
  if (*most->mean(kFound) <= *chosen.mean(kFound)) {
    return part("More history", "no point finds more of it, whatever its locality.");
  }
  const double ratio = *most->mean(kTtftP95) / *chosen.mean(kTtftP95) - 1;
  return part("More history", most->name + " finds most, " + percent(*most->mean(kFound)) +
                                  ", and its p95 turn TTFT is " + ttft_text(*most) + " (" +
                                  signed_percent(ratio) +
                                  "): beyond the recommended point history is paid for with "
                                  "waiting.");
}

// Means over points say nothing about what did not finish.
std::string lost_text(const Rows& rows) {
  std::int64_t with_losses = 0;
  std::int64_t simulated = 0;
  const SweepRowFields* worst = nullptr;
  const auto lost = [](const SweepRowFields& row) {
    return row.mean("turns_failed").value_or(0) + row.incomplete.value_or(0);
  };
  for (const SweepRowFields& row : rows) {
    if (!row.simulated()) continue;
    ++simulated;
    if (lost(row) <= 0) continue;
    ++with_losses;
    if (worst == nullptr || lost(row) > lost(*worst)) worst = &row;
  }
  if (worst == nullptr) return {};
  const auto of = [&](const char* metric) { return count_text(worst->mean(metric).value_or(0)); };
  return part("But",
              fmt::format("at {} of {} points turns failed or sessions stayed incomplete (at "
                          "{}: {} of {} turns failed, {} of {} sessions incomplete). "
                          "Latencies are of the turns and sessions that finished, and make "
                          "such points look faster than they are.",
                          with_losses, simulated, worst->name, of("turns_failed"), of("turns"),
                          count_text(worst->incomplete.value_or(0)), of("sessions")));
}

// Of the recommended point when it is the fastest of those that are judged.
std::string fastest_words(const SweepWords& words, const Rows& rows, const SweepRowFields& chosen) {
  const bool beaten = std::ranges::any_of(rows, [&](const SweepRowFields& row) {
    return row.simulated() && row.is_choice && row.mean(kTtftP95) &&
           *row.mean(kTtftP95) < chosen.mean(kTtftP95);
  });
  if (beaten) {
    return " Points with a lower p95 turn TTFT leave more sessions incomplete, or fewer turns "
           "within the SLO.";
  }
  if (words.kind == "host_sweep") {
    return " None that the deployment's hardware allows has a lower p95 turn TTFT.";
  }
  return " No point has a lower p95 turn TTFT.";
}

// Means whose repetitions differ by more than what counts as equal.
std::string spread_text(const SweepRowFields& chosen, double tolerance) {
  const double sd = chosen.figure("turn_ttft_ms_p95.sd").value_or(0);
  const std::optional<double> mean = chosen.mean(kTtftP95);
  if (!mean || sd <= tolerance * *mean) return {};
  return part("Spread", "its p95 turn TTFT is " + milliseconds_text(*mean) + " ± " +
                            milliseconds_text(sd) + (in_seconds(sd) ? "" : " ms") +
                            " over the repetitions, more than the tolerance: which of several "
                            "close points comes first may be chance.");
}

std::string recommended_text(JsonFields& result, const SweepWords& words, const Rows& rows) {
  const SweepRowFields* chosen = row_at(result, "recommended", rows);
  const SweepRowFields* fastest = row_at(result, "least_ttft", rows);
  const double tolerance = result.number("tolerance");
  if (chosen == nullptr || fastest == nullptr) {
    return part("Recommended", "none: no turn finished, or nothing could be simulated.");
  }
  std::string text = chosen->name + ": " + described(*chosen) + ".";
  if (chosen == fastest) {
    text += fastest_words(words, rows, *chosen);
  } else {
    text += gain_text(*chosen, *fastest, words.against, tolerance);
  }
  std::string out = part("Recommended", text) + settings_line(*chosen);
  out += spread_text(*chosen, tolerance);
  out += within_slo_text(result, words, rows, chosen);
  if (words.kind == "affinity_sweep") out += locality_text(rows, *chosen) + ends_text(rows);
  return out;
}

}  // namespace

std::string sweep_verdict(JsonFields& result, const SweepWords& words, const Rows& rows) {
  if (words.kind == "memory_stress") return memory_verdict(result, words, rows);
  std::string text = recommended_text(result, words, rows);
  if (words.kind == "host_sweep") {
    text += host_verdict(result, rows);
  }
  return text + lost_text(rows);
}

}  // namespace inferscale
