#include "report/text/summary_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "report/text/text_table.h"

namespace inferscale {
namespace {

constexpr int kPlotColumns = 64;

std::string percent(double fraction) {
  // Never rounds to "all" what is not all, nor to "none" what is some.
  if (fraction > 0 && fraction < 0.0005) return "< 0.1 %";
  if (fraction < 1 && fraction > 0.9999) return "99.99 %";
  return fmt::format("{:.{}f} %", 100.0 * fraction, fraction > 0.99 && fraction < 1 ? 2 : 1);
}

std::string percent_of(std::int64_t part, std::int64_t whole) {
  return percent(static_cast<double>(part) / static_cast<double>(whole));
}

std::string target_text(const Slo& slo) {
  std::string text;
  const auto add = [&](std::string_view name, const std::optional<Duration>& limit) {
    if (!limit) return;
    text +=
        fmt::format("{}{} <= {} ms", text.empty() ? "" : ", ", name, short_number(limit->millis()));
  };
  add("TTFT", slo.ttft);
  add(slo.itl_rule == ItlRule::kP95 ? "each request's p95 ITL" : "each request's longest ITL",
      slo.itl);
  add("E2E", slo.e2e);
  return text;
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
  std::string out = fmt::format("SLO        {}\n", target_text(context.slo));
  out += fmt::format("Goodput    {} of all {} arrivals met it: {} requests/s\n", percent(s.goodput),
                     s.arrived, short_number(s.goodput_rps));
  if (s.arrived == 0) return out;
  std::string parts;
  const auto add = [&](const char* name, bool judged, std::int64_t met) {
    if (!judged) return;
    parts += fmt::format("{}{} {}", parts.empty() ? "" : ", ", name, percent_of(met, s.arrived));
  };
  add("TTFT", context.slo.ttft.has_value(), s.ttft_met);
  add("ITL", context.slo.itl.has_value(), s.itl_met);
  add("E2E", context.slo.e2e.has_value(), s.e2e_met);
  out += fmt::format("           by target: {}\n", parts);
  if (s.refused > 0) {
    out += fmt::format("           of those admitted: {}\n", percent(s.attainment_admitted));
  }
  return out;
}

std::string endings(const RunSummary& s) {
  std::string out = fmt::format("Requests   {} arrived, {} finished", s.arrived, s.finished);
  if (s.refused > 0) {
    out += fmt::format(", {} refused (", s.refused);
    std::string reasons;
    const auto add = [&](std::string_view name, std::int64_t count) {
      if (count == 0) return;
      reasons += fmt::format("{}{} {}", reasons.empty() ? "" : ", ", name, count);
    };
    add(reason_name(RefusalReason::kExceedsKvCache), s.refused_kv);
    add(reason_name(RefusalReason::kExceedsModelLen), s.refused_model_len);
    add(reason_name(RefusalReason::kQueueFull), s.refused_queue_full);
    out += reasons + ")";
  }
  if (s.unfinished > 0) out += fmt::format(", {} unfinished", s.unfinished);
  return out + "\n";
}

std::string usage(const RunSummary& s, const SummaryContext& context) {
  std::string out =
      fmt::format("Throughput {} requests/s, {} output tokens/s, {} tokens/s with prompts\n",
                  short_number(s.finished_rps), short_number(s.output_tokens_per_s),
                  short_number(s.total_tokens_per_s));
  out += fmt::format("KV cache   mean {}, peak {} of {} blocks ({} tokens)\n",
                     percent(s.kv_used_mean), percent(s.kv_used_peak), context.kv_blocks,
                     context.kv_blocks * context.kv_block_tokens);
  out += fmt::format("Batch      mean {}, peak {} of {} sequences; busy {} of the time\n",
                     short_number(s.running_mean), s.running_peak, context.max_num_seqs,
                     percent(s.utilisation));
  if (s.preemptions > 0) {
    out += fmt::format("Preempted  {} times, {} tokens computed again\n", s.preemptions,
                       s.recomputed_tokens);
  }
  if (s.accelerator_hours_per_million_output_tokens) {
    out += fmt::format("Cost       {} accelerator-hours per million output tokens ({} x {} s)\n",
                       short_number(*s.accelerator_hours_per_million_output_tokens),
                       context.accelerators, short_number(s.duration_s));
  }
  return out;
}

}  // namespace

std::string summary_text(const RunSummary& summary, const SummaryContext& context) {
  std::string out = fmt::format("{}\n{}\n\n", context.title, context.workload);
  TextTable table({"ms", ">mean", ">p50", ">p90", ">p95", ">p99", ">max"});
  add_row(table, "TTFT", summary.ttft_ms);
  add_row(table, "ITL (all gaps)", summary.itl_ms);
  add_row(table, "TPOT", summary.tpot_ms);
  add_row(table, "E2E", summary.e2e_ms);
  add_row(table, "queue time", summary.queue_ms);
  add_row(table, "longest stall", summary.itl_ms_max);
  out += table.text() + "\n";
  out += verdict(summary, context);
  out += endings(summary);
  out += usage(summary, context);
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
  if (signals.size() < 2) return out;
  out += fmt::format("\nOver {} s, left to right\n", short_number(signals.back().at.seconds()));
  const auto row = [&](const char* name, auto figure, double top) {
    std::vector<double> values;
    for (const SignalSample& sample : signals) values.push_back(figure(sample));
    const double highest = *std::max_element(values.begin(), values.end());
    out += fmt::format(
        "  {:<8}{} {}\n", name, sparkline(values, top > 0 ? top : highest, kPlotColumns, glyphs),
        fmt::format("sampled peak {}", short_number(top > 0 ? 100 * highest : highest)) +
            (top > 0 ? " %" : ""));
  };
  row("queue", [](const SignalSample& s) { return static_cast<double>(s.queue_depth); }, 0);
  row("batch", [](const SignalSample& s) { return static_cast<double>(s.running); }, 0);
  row("KV use", [](const SignalSample& s) { return s.kv_used_fraction; }, 1);
  return out;
}

}  // namespace inferscale
