#include "report/text/measurement_text.h"

#include <fmt/format.h>

#include "report/text/text_table.h"

namespace inferscale {
namespace {

std::string growth_text(const Backlog& backlog) {
  return fmt::format("{} to {} requests/s of {} that arrived", short_number(backlog.growth_rps_low),
                     short_number(backlog.growth_rps_high), short_number(backlog.arrivals_rps));
}

std::string doubt_text(const Backlog& backlog) {
  switch (backlog.doubt) {
    case BacklogDoubt::kFewArrivals:
      return fmt::format("{} arrivals in the window: too few to judge", backlog.arrivals);
    case BacklogDoubt::kLongRequests:
      return "the window is too short: less than four times what a request takes in the batch";
    case BacklogDoubt::kFilling:
      return "the system filled up, and hardly so towards the end: a longer run would tell";
    case BacklogDoubt::kWideInterval:
      return fmt::format("a longer run would tell: the backlog grew by {}", growth_text(backlog));
    case BacklogDoubt::kNone:
      break;
  }
  return {};
}

std::string steady_line(const Backlog& backlog) {
  switch (backlog.verdict) {
    case BacklogVerdict::kStable:
      return fmt::format("Steady     yes: the backlog grew by {}\n", growth_text(backlog));
    case BacklogVerdict::kSaturated:
      return fmt::format("Steady*    no: the backlog grew by {}\n", growth_text(backlog));
    case BacklogVerdict::kUndecided:
      break;
  }
  return fmt::format("Steady     undecided: {}\n", doubt_text(backlog));
}

// "TTFT mean 10.1 to 10.9, p95 20.1 to 23.0 ms"; empty when neither interval exists.
std::string between(const char* name, const ConfidenceInterval& mean,
                    const ConfidenceInterval& p95) {
  std::string text;
  const auto add = [&](const char* statistic, const ConfidenceInterval& interval) {
    if (!interval.exists()) return;
    text += fmt::format("{} {} {} to {}", text.empty() ? name : ",", statistic,
                        short_number(interval.low), short_number(interval.high));
  };
  add("mean", mean);
  add("p95", p95);
  return text.empty() ? text : text + " ms";
}

std::string confidence_lines(const RunSummary& summary) {
  const RunConfidence& confidence = summary.confidence;
  std::string text;
  for (const std::string& part : {between("TTFT", confidence.ttft_ms_mean, confidence.ttft_ms_p95),
                                  between("TPOT", confidence.tpot_ms_mean, {}),
                                  between("E2E", confidence.e2e_ms_mean, confidence.e2e_ms_p95),
                                  between("queue time", confidence.queue_ms_mean, {})}) {
    if (part.empty()) continue;
    text += fmt::format("{}{}\n", text.empty() ? "95 % CI    " : "           ", part);
  }
  if (!text.empty()) return text;
  if (summary.ttft_ms.count == 0 || summary.steady() == false) return {};
  return "95 % CI    none: requests that follow each other are too alike for so short a run\n";
}

}  // namespace

std::vector<std::string> measurement_notes(const RunSummary& summary) {
  std::vector<std::string> notes;
  if (summary.backlog.verdict == BacklogVerdict::kSaturated) {
    notes.push_back(fmt::format(
        "Requests came faster than they were served: the backlog grew by {}. There is no steady "
        "state, so latencies and goodput follow from how long the run was.",
        growth_text(summary.backlog)));
  }
  if (summary.warmup_auto && !summary.warmup_found) {
    notes.push_back(
        "measurement.warmup_s: auto found no end of the warm-up: the run is too short, or goes on "
        "changing. Nothing was left out.");
  }
  return notes;
}

std::string measurement_text(const RunSummary& summary) {
  std::string out;
  if (summary.arrived > 0) out += steady_line(summary.backlog);
  if (summary.warmup_excluded > 0) {
    out += fmt::format(
        "Warm-up    {} that arrived before {} s are left out of latency (but ITL) and goodput\n",
        summary.warmup_excluded, short_number(summary.warmup_s));
  }
  return out + confidence_lines(summary);
}

}  // namespace inferscale
