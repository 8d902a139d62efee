#include "report/text/summary_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "report/text/class_text.h"
#include "report/text/fleet_text.h"
#include "report/text/measurement_text.h"
#include "report/text/number_words.h"
#include "report/text/slo_words.h"
#include "report/text/text_table.h"

namespace inferscale {
namespace {

constexpr int kPlotColumns = 64;

std::string percent_of(std::int64_t part, std::int64_t whole) {
  return percent(static_cast<double>(part) / static_cast<double>(whole));
}

void add_row(TextTable& table, const char* name, const PopulationSummary& p) {
  if (p.count == 0) {
    table.add({name, "-", "-", "-", "-", "-", "-"});
    return;
  }
  table.add({name, short_number(p.mean), short_number(p.p50), short_number(p.p90),
             short_number(p.p95), short_number(p.p99), short_number(p.max)});
}

std::string verdict(const RunSummary& s, const SummaryContext& context) {
  if (!s.has_slo) return "SLO        none set: goodput is not judged\n";
  std::string out =
      fmt::format("SLO        {}\n", s.classes.empty() ? target_text(context.slo)
                                                       : "of each request that of its class");
  if (s.counted == 0) return out + "Goodput    none: no request arrived after the warm-up\n";
  const ConfidenceInterval& interval = s.confidence.goodput;
  out += fmt::format(
      "Goodput    {} of all {} arrivals{} met it{}: {} requests/s\n", percent(s.goodput), s.counted,
      s.warmup_excluded > 0 ? " after the warm-up" : "",
      interval.exists()
          ? fmt::format(" (95 % CI {} to {})", percent(interval.low), percent(interval.high))
          : std::string(),
      short_number(s.goodput_rps));
  std::string parts;
  const auto add = [&](const char* name, bool judged, std::int64_t met) {
    if (!judged) return;
    parts += fmt::format("{}{} {}", parts.empty() ? "" : ", ", name, percent_of(met, s.counted));
  };
  add("TTFT", s.judges(context.slo, &Slo::ttft), s.ttft_met);
  add("ITL", s.judges(context.slo, &Slo::itl), s.itl_met);
  add("E2E", s.judges(context.slo, &Slo::e2e), s.e2e_met);
  out += fmt::format("           by target: {}\n", parts);
  if (s.admitted < s.counted) {
    out += fmt::format("           of those admitted: {}\n", percent(s.attainment_admitted));
  }
  return out;
}

std::string endings(const RunSummary& s) {
  std::string out = fmt::format("Requests   {} arrived, {} finished", s.arrived, s.finished);
  if (s.refused > 0) {
    out += fmt::format(", {} refused (", s.refused);
    std::string reasons;
    for (std::size_t i = 0; i < kReasonCount; ++i) {
      if (s.refused_by[i] == 0) continue;
      reasons += fmt::format("{}{} {}", reasons.empty() ? "" : ", ",
                             reason_name(static_cast<Reason>(i)), s.refused_by[i]);
    }
    out += reasons + ")";
  }
  if (s.deferred > 0) out += fmt::format(", {} deferred", s.deferred);
  if (s.abandoned > 0) out += fmt::format(", {} left before the end", s.abandoned);
  if (s.lost > 0) out += fmt::format(", {} lost with a replica", s.lost);
  if (s.unfinished > 0) out += fmt::format(", {} unfinished", s.unfinished);
  return out + "\n";
}

std::string usage(const RunSummary& s, const SummaryContext& context) {
  std::string out =
      fmt::format("Throughput {} requests/s, {} output tokens/s, {} tokens/s with prompts\n",
                  short_number(s.finished_rps), short_number(s.output_tokens_per_s),
                  short_number(s.total_tokens_per_s));
  if (s.fleet.replicas > 1) {
    out += fmt::format("KV cache   mean {} of all blocks, peak {} of a replica's ({})\n",
                       percent(s.kv_used_mean), percent(s.kv_used_peak), context.kv_of_fleet);
    out += fmt::format(
        "Batch      mean {} sequences in all, peak {} in a replica; replicas busy {} of the time\n",
        short_number(s.running_mean), s.running_peak, percent(s.utilisation));
  } else {
    out += fmt::format("KV cache   mean {}, peak {} of {} blocks ({} tokens)\n",
                       percent(s.kv_used_mean), percent(s.kv_used_peak), context.kv_blocks,
                       context.kv_tokens);
    out += fmt::format("Batch      mean {}, peak {} of {} sequences; busy {} of the time\n",
                       short_number(s.running_mean), s.running_peak, context.max_num_seqs,
                       percent(s.utilisation));
  }
  if (s.prefix_hit_rate) {
    out +=
        fmt::format("Prefixes   {} of the prompt tokens of finished requests were in the cache\n",
                    percent(*s.prefix_hit_rate));
  }
  if (s.preemptions > 0) {
    out += fmt::format("Preempted  {} times, {} tokens computed again\n", s.preemptions,
                       s.recomputed_tokens);
  }
  if (s.accelerator_hours_per_million_output_tokens) {
    out += fmt::format(
        "Cost       {} accelerator-hours per million output tokens ({})\n",
        short_number(*s.accelerator_hours_per_million_output_tokens),
        s.fleet.replicas > 0
            ? fmt::format("{} in all", short_number(s.accelerator_hours))
            : fmt::format("{} x {} s", context.accelerators, short_number(s.duration_s)));
  }
  return out;
}

// The state of all replicas together, one value an instant.
struct FleetSeries {
  std::vector<double> queue;
  std::vector<double> running;
  std::vector<double> kv_used;  // mean over the replicas that keep a KV cache
};

FleetSeries series_of(std::span<const SignalSample> signals) {
  FleetSeries series;
  std::size_t next = 0;
  while (next < signals.size()) {
    const Instant at = signals[next].at;
    double queue = 0;
    double running = 0;
    double kv_used = 0;
    double kv_replicas = 0;
    for (; next < signals.size() && signals[next].at == at; ++next) {
      queue += static_cast<double>(signals[next].queue_depth);
      running += static_cast<double>(signals[next].running);
      if (std::isnan(signals[next].kv_used_fraction)) continue;
      kv_used += signals[next].kv_used_fraction;
      kv_replicas += 1;
    }
    series.queue.push_back(queue);
    series.running.push_back(running);
    if (kv_replicas > 0) series.kv_used.push_back(kv_used / kv_replicas);
  }
  return series;
}

}  // namespace

std::string summary_text(const RunSummary& summary, const SummaryContext& context) {
  std::string out = fmt::format("{}\n{}\n\n", context.title, context.workload);
  // Figures of a run without a steady state bear a mark, which the line below explains.
  const std::string mark = summary.steady() == false ? "*" : "";
  TextTable table({"ms", ">mean" + mark, ">p50" + mark, ">p90" + mark, ">p95" + mark, ">p99" + mark,
                   ">max" + mark});
  add_row(table, "TTFT", summary.ttft_ms);
  add_row(table, "ITL (all gaps)", summary.itl_ms);
  add_row(table, "TPOT", summary.tpot_ms);
  add_row(table, "E2E", summary.e2e_ms);
  add_row(table, "queue time", summary.queue_ms);
  add_row(table, "longest stall", summary.itl_ms_max);
  out += table.text() + "\n";
  out += measurement_text(summary);
  out += verdict(summary, context);
  out += endings(summary);
  out += usage(summary, context);
  if (!summary.classes.empty()) out += "\n" + class_text(summary.classes, "requests");
  out += fleet_text(summary.fleet, context.replicas);
  return out;
}

std::string summary_plots(std::span<const Outcome> outcomes, std::span<const SignalSample> signals,
                          PlotGlyphs glyphs) {
  std::string out;
  std::vector<double> ttft;
  for (const Outcome& outcome : outcomes) {
    if (outcome.finished()) ttft.push_back(outcome.ttft().millis());
  }
  std::sort(ttft.begin(), ttft.end());
  if (!ttft.empty()) {
    out += "Share of requests with at most this TTFT\n";
    out += cdf_plot(ttft, "ms", kPlotColumns, 5, glyphs);
  }
  const FleetSeries series = series_of(signals);
  if (series.queue.size() < 2) return out;
  out += fmt::format("\nOver {} s, left to right\n", short_number(signals.back().at.seconds()));
  const auto row = [&](const char* name, const std::vector<double>& values, bool fraction) {
    if (values.empty()) return;
    const double highest = *std::max_element(values.begin(), values.end());
    out += fmt::format("  {:<8}{} sampled peak {}{}\n", name,
                       sparkline(values, fraction ? 1 : highest, kPlotColumns, glyphs),
                       short_number(fraction ? 100 * highest : highest), fraction ? " %" : "");
  };
  row("queue", series.queue, false);
  row("batch", series.running, false);
  row("KV use", series.kv_used, true);
  return out;
}

}  // namespace inferscale
