#include "report/studies/capacity_verdict.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/number_text.h"
#include "report/text/text_table.h"

namespace inferscale {
namespace {

constexpr double kWindowServices = 10;  // in a shorter window the empty start weighs too much

std::string joined(const std::vector<std::string>& parts, const std::string& last) {
  std::string text;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) text += i + 1 == parts.size() ? last : ", ";
    text += parts[i];
  }
  return text;
}

std::string slo_text(const ReadCapacity& result) {
  std::vector<std::string> targets;
  if (result.ttft_ms) targets.push_back("TTFT " + number_text(*result.ttft_ms) + " ms");
  if (result.itl_ms) targets.push_back("ITL " + number_text(*result.itl_ms) + " ms");
  if (result.e2e_ms) targets.push_back("E2E " + number_text(*result.e2e_ms) + " ms");
  return joined(targets, " and ");
}

std::string criterion_text(const ReadCapacity& result) {
  const std::string which = result.repetitions == 1
                                ? "in the one repetition"
                                : fmt::format("in each of {} repetitions", result.repetitions);
  return fmt::format("{} at least {:g} % of all arrivals met {}, and the queue drained", which,
                     100 * result.attainment_target, slo_text(result));
}

// Why the easiest load that was tried is not carried.
std::string reason_at(const ReadCapacity& result, const ReadProbe& probe) {
  if (probe.not_simulated > 0) {
    return fmt::format("{} of {} runs could not be simulated: {}", probe.not_simulated,
                       probe.repetitions, joined(probe.failures, "; "));
  }
  if (probe.not_judged > 0) {
    return "no request was left to be judged: all of them came before the end of the warm-up "
           "(measurement.warmup_s)";
  }
  if (probe.arrived && probe.refused && *probe.refused >= *probe.arrived) {
    return "every request was refused";
  }
  std::vector<std::string> failing;
  const auto check = [&](const char* name, std::optional<double> target,
                         std::optional<double> met) {
    if (!target || !met || *met >= result.attainment_target) return;
    failing.push_back(
        fmt::format("{} met the {} target of {} ms",
                    *met == 0 ? "no request" : fmt::format("only {:.2f} %", 100 * *met), name,
                    number_text(*target)));
  };
  check("TTFT", result.ttft_ms, probe.ttft_met);
  check("ITL", result.itl_ms, probe.itl_met);
  check("E2E", result.e2e_ms, probe.e2e_met);
  if (!failing.empty()) return joined(failing, " and ");
  if (probe.missed_attainment > 0) {
    return fmt::format("only {:.2f} % met all targets in the worst repetition",
                       100 * probe.attainment_worst.value_or(0));
  }
  return fmt::format(
      "{} s after the last arrival some requests were still being served, {} s is "
      "the bound",
      short_number(probe.drain_s.value_or(0)), short_number(probe.drain_bound_s.value_or(0)));
}

void say_found(const ReadCapacity& result, std::vector<std::string>& lines) {
  if (result.of_replicas()) {
    const std::string load =
        result.fixed_load
            ? fmt::format("{} {}", number_text(*result.fixed_load), result.fixed_load_unit)
            : std::string("the trace");
    lines.push_back(fmt::format("{} carr{} {}: {}.", load_text(result, *result.carried),
                                *result.carried == 1 ? "ies" : "y", load, criterion_text(result)));
  } else {
    lines.push_back(
        fmt::format("Carries {}: {}.", load_text(result, *result.carried), criterion_text(result)));
  }
  if (const ReadProbe* failed = result.probe_of(result.not_carried)) {
    lines.push_back(
        fmt::format("Not {}: {}.", load_text(result, failed->load), reason_at(result, *failed)));
  }
  if (!result.within_tolerance) {
    lines.emplace_back(
        "The search ended at max_probes before it reached its tolerance: the boundary lies between "
        "these two.");
  }
  if (result.recommended) {
    lines.push_back(fmt::format("Recommended: {}, with {:g} % headroom.",
                                load_text(result, *result.recommended), 100 * result.headroom));
  }
}

void say_never_passed(const ReadCapacity& result, std::vector<std::string>& lines) {
  const double load = *result.not_carried;
  lines.push_back(
      result.of_replicas()
          ? fmt::format("No fleet of up to {} carries the load.", load_text(result, load))
          : fmt::format("Carries no load: not even {}, the lowest that was tried.",
                        load_text(result, load)));
  const ReadProbe* probe = result.probe_of(load);
  if (probe != nullptr) lines.push_back(fmt::format("There {}.", reason_at(result, *probe)));
}

void say_never_failed(const ReadCapacity& result, std::vector<std::string>& lines) {
  lines.push_back(fmt::format("Carries every load that was tried, up to {}: {}.",
                              load_text(result, *result.carried), criterion_text(result)));
  lines.emplace_back(
      "The capacity is higher than that (study.capacity.high and max_probes bound the search), or "
      "the run is too short to overload anything (workload.requests).");
}

}  // namespace

std::string load_text(const ReadCapacity& result, double load) {
  std::string unit = result.unit;
  if (load == 1 && result.of_replicas()) unit = "replica";
  return number_text(load) + " " + unit;
}

std::string missed_text(const ReadProbe& probe) {
  std::vector<std::string> missed;
  const auto add = [&](const char* name, std::int64_t count) {
    if (count > 0) missed.push_back(fmt::format("{} {}", name, count));
  };
  add("attainment", probe.missed_attainment);
  add("drain", probe.not_drained);
  add("unfinished", probe.unfinished);
  add("not judged", probe.not_judged);
  add("not simulated", probe.not_simulated);
  return joined(missed, ", ");
}

std::vector<std::string> capacity_verdict(const ReadCapacity& result) {
  std::vector<std::string> lines;
  if (result.verdict == "never_passed") {
    say_never_passed(result, lines);
  } else if (result.verdict == "never_failed") {
    say_never_failed(result, lines);
  } else {
    say_found(result, lines);
  }
  return lines;
}

std::vector<std::string> capacity_cautions(const ReadCapacity& result) {
  std::vector<std::string> lines;
  if (!result.easier_failed.empty()) {
    std::vector<std::string> loads;
    loads.reserve(result.easier_failed.size());
    for (const double load : result.easier_failed) loads.push_back(load_text(result, load));
    lines.push_back(fmt::format(
        "Not monotone: {} failed, though {} passed. There is more than one boundary, or the runs "
        "are too short to tell: look at the table before you rely on a figure, and try more "
        "repeats or workload.requests.",
        joined(loads, " and "), load_text(result, *result.carried)));
  }
  const ReadProbe* at = result.probe_of(result.carried);
  if (at != nullptr && at->saturated > 0) {
    lines.push_back(
        fmt::format("Saturated: at {} the backlog grew until the last arrival in {} of {} "
                    "repetitions, although "
                    "they passed. A longer run (workload.requests) would carry less.",
                    load_text(result, at->load), at->saturated, at->repetitions));
  }
  if (at != nullptr && at->arrival_window_s && at->service_s_max &&
      *at->arrival_window_s < kWindowServices * *at->service_s_max) {
    lines.push_back(fmt::format(
        "Short run: at {} requests arrive for {} s, and the longest one takes {} s. The figures "
        "are "
        "largely of a system that fills up; a longer run (workload.requests) would carry less.",
        load_text(result, at->load), short_number(*at->arrival_window_s),
        short_number(*at->service_s_max)));
  }
  for (const std::string& change : result.workload_changes) {
    lines.push_back("Derived workload: " + change + ".");
  }
  if (result.repetitions_alike) {
    lines.emplace_back(
        "All repetitions of a load were the same: nothing in these runs is drawn at random, so "
        "they "
        "show no spread (repeats: 1 says as much).");
  }
  return lines;
}

}  // namespace inferscale
