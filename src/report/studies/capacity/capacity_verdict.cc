#include "report/studies/capacity/capacity_verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "base/number_text.h"
#include "report/text/number_words.h"
#include "report/text/text_table.h"

namespace inferscale {
namespace {

constexpr double kWindowServices = 10;  // in a shorter window the empty start weighs too much
constexpr double kSameShare = 1e-9;
constexpr int kMostDigits = 9;
constexpr std::string_view kRouterHint =
    "A router that scatters sessions over more prefix caches does that, for one: try another "
    "deployment.router.";

std::string joined(const std::vector<std::string>& parts, const std::string& last) {
  std::string text;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) text += i + 1 == parts.size() ? last : ", ";
    text += parts[i];
  }
  return text;
}

std::string slo_text(const ReadCapacity& result) {
  if (!result.slo_classes.empty()) return "the targets of their class (" + result.slo_classes + ")";
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

// `fraction` with as many digits as keep it from looking like the target that it is below.
std::string missed_share(double fraction, double target, int digits) {
  std::string text;
  do {
    text = fmt::format("{:.{}f}", 100 * fraction, digits++);
  } while (digits < kMostDigits && parse_finite(text).value_or(0) >= 100 * target - kSameShare);
  return text + " %";
}

double refused_share(const ReadProbe& probe) {
  if (!probe.refused || !probe.arrived || *probe.arrived <= 0) return 0;
  return *probe.refused / *probe.arrived;
}

// Whether the targets could not be met by enough even if every request that was served met them.
bool refusals_alone_fail(const ReadCapacity& result, const ReadProbe& probe) {
  return probe.missed_attainment > 0 && refused_share(probe) > 1 - result.attainment_target;
}

std::string refused_text(const ReadCapacity& result, const ReadProbe& probe) {
  const double share = refused_share(probe);
  const bool everywhere =
      result.probes.size() > 1 &&
      std::all_of(result.probes.begin(), result.probes.end(), [&](const ReadProbe& other) {
        return std::abs(refused_share(other) - share) < kSameShare;
      });
  return fmt::format(
      "{:.2f} % of all arrivals were refused{}, so {:g} % cannot be reached however fast the "
      "others are served ('inferscale simulate' counts refusals by reason; "
      "deployment.engine.max_model_len and max_queued are the bounds)",
      100 * share, everywhere ? ", as at every load that was tried" : "",
      100 * result.attainment_target);
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
  const double target_share = result.attainment_target;
  if (refusals_alone_fail(result, probe)) return refused_text(result, probe);
  std::vector<std::string> failing;
  const auto check = [&](const char* name, std::optional<double> target,
                         std::optional<double> met) {
    if (!target || !met || *met >= result.attainment_target) return;
    failing.push_back(
        fmt::format("{} met the {} target of {} ms",
                    *met == 0 ? "no request" : "only " + missed_share(*met, target_share, 2), name,
                    number_text(*target)));
  };
  check("TTFT", result.ttft_ms, probe.ttft_met);
  check("ITL", result.itl_ms, probe.itl_met);
  check("E2E", result.e2e_ms, probe.e2e_met);
  if (!failing.empty()) return joined(failing, " and ");
  if (probe.missed_attainment > 0) {
    return fmt::format("only {} met all targets in the worst repetition",
                       missed_share(probe.attainment_worst.value_or(0), target_share, 2));
  }
  return fmt::format(
      "{} s after the last arrival some requests were still being served, {} s is "
      "the bound",
      short_number(probe.drain_s.value_or(0)), short_number(probe.drain_bound_s.value_or(0)));
}

std::string fixed_load_text(const ReadCapacity& result) {
  if (!result.fixed_load) return "the trace";
  return number_text(*result.fixed_load) + " " + result.fixed_load_unit;
}

void say_found(const ReadCapacity& result, std::vector<std::string>& lines) {
  if (result.of_replicas()) {
    const std::string load = fixed_load_text(result);
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
  } else {
    lines.push_back(fmt::format("None is recommended: what leaves {:g} % headroom failed.",
                                100 * result.headroom));
  }
}

void say_no_fleet(const ReadCapacity& result, std::vector<std::string>& lines) {
  std::vector<std::string> sizes;
  sizes.reserve(result.probes.size());
  for (const ReadProbe& probe : result.probes) sizes.push_back(number_text(probe.load));
  lines.push_back(fmt::format("No fleet that was tried carries {}: {} replica{}.",
                              fixed_load_text(result), joined(sizes, " and "),
                              sizes.size() == 1 && sizes[0] == "1" ? "" : "s"));
  const double largest = *result.not_carried;
  const double best = result.best_tried.value_or(largest);
  if (const ReadProbe* probe = result.probe_of(best)) {
    lines.push_back(
        fmt::format("Best with {}: {}.", load_text(result, best), reason_at(result, *probe)));
  }
  const ReadProbe* last = result.probe_of(largest);
  if (best == largest || last == nullptr) {
    lines.emplace_back(
        "Larger fleets were not tried (study.capacity.max_replicas and max_probes bound the "
        "search).");
    return;
  }
  lines.push_back(fmt::format("More did worse, with {} {}. ", load_text(result, largest),
                              reason_at(result, *last)) +
                  std::string(kRouterHint));
}

void say_never_passed(const ReadCapacity& result, std::vector<std::string>& lines) {
  if (result.of_replicas()) {
    say_no_fleet(result, lines);
    return;
  }
  const double load = *result.not_carried;
  lines.push_back(
      fmt::format("Carries no load that was tried, down to {}.", load_text(result, load)));
  const ReadProbe* probe = result.probe_of(load);
  if (probe != nullptr) lines.push_back(fmt::format("There {}.", reason_at(result, *probe)));
  lines.emplace_back(
      "Lower loads were not tried (study.capacity.low and max_probes bound the search, and it ends "
      "at 1/1024 of where it began).");
}

bool too_short_to_fail(const ReadCapacity& result) {
  const ReadProbe* top = result.probe_of(result.carried);
  return result.verdict == "never_failed" && top != nullptr && top->saturated > 0;
}

void say_never_failed(const ReadCapacity& result, std::vector<std::string>& lines) {
  if (too_short_to_fail(result)) {
    const ReadProbe& top = *result.probe_of(result.carried);
    lines.push_back(
        fmt::format("The runs are too short to show a capacity: at {} the backlog grew until the "
                    "last arrival in {} of {} repetitions, yet they ended before it failed the "
                    "criterion. Take more workload.requests.",
                    load_text(result, top.load), top.saturated, top.repetitions));
    lines.push_back(
        fmt::format("Up to there, the highest load that was tried, {}.", criterion_text(result)));
    return;
  }
  lines.push_back(fmt::format("Carries every load that was tried, up to {}: {}.",
                              load_text(result, *result.carried), criterion_text(result)));
  lines.emplace_back(
      "The capacity is higher than that (study.capacity.high and max_probes bound the search), or "
      "the run is too short to overload anything (workload.requests).");
}

void say_not_judged(const ReadCapacity& result, std::vector<std::string>& lines) {
  const ReadProbe* probe = result.probe_of(result.not_judged);
  const std::string which =
      probe == nullptr ? "some repetition"
                       : fmt::format("{} of {} repetitions", probe->not_judged, probe->repetitions);
  lines.push_back(
      fmt::format("The capacity cannot be judged: at {} every request of {} came before the end of "
                  "the warm-up (measurement.warmup_s), so none counts.",
                  load_text(result, *result.not_judged), which));
  lines.push_back(std::string("Take a shorter warm-up or more workload.requests") +
                  (result.keeps_window || result.of_replicas() || result.search != "rate"
                       ? "."
                       : "; with study.capacity.keep: window they grow with the rate."));
  if (result.carried) {
    lines.push_back(fmt::format("Carried among the loads that were judged: {}.",
                                load_text(result, *result.carried)));
  }
}

}  // namespace

std::string attainment_text(double fraction, double target) {
  const std::string text = percent(fraction);
  if (fraction >= target) return text;
  const double shown = parse_finite(text.substr(0, text.find(' '))).value_or(0);
  return shown < 100 * target - kSameShare ? text : missed_share(fraction, target, 1);
}

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
  } else if (result.verdict == "not_judged") {
    say_not_judged(result, lines);
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
    if (result.of_replicas()) lines.back() += " " + std::string(kRouterHint);
  }
  const ReadProbe* at = result.probe_of(result.carried);
  if (at != nullptr && at->saturated > 0 && !too_short_to_fail(result)) {
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
