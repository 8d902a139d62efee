#include "report/studies/agents/sweep_table.h"

#include <algorithm>

#include "report/studies/comparison_text.h"
#include "report/studies/explore/explore_rows.h"
#include "report/text/number_words.h"
#include "report/text/text_table.h"

namespace inferscale {
namespace {

using Rows = std::vector<SweepRowFields>;

struct Column {
  const char* title;
  const char* metric;  // "incomplete": of the row itself
  std::string (*text)(double value);
  bool with_spread = false;
  bool may_be_zero = true;  // false: left out where it is 0 at all points
};

constexpr Column kTtft[] = {{">TTFT p50 ms", "turn_ttft_ms_p50", milliseconds_text},
                            {">TTFT p95 ms", "turn_ttft_ms_p95", milliseconds_text, true}};
constexpr Column kAttainment[] = {{">turns met", "turn_attainment", percent},
                                  {">sessions met", "session_attainment", percent}};
constexpr Column kFound = {">found", "history_hit_rate", percent};
constexpr Column kMeanKv = {">KV GB", "kv_gb_mean", short_number, true};
constexpr Column kPeakKv = {">peak GB", "kv_gb_peak_replica", short_number};
constexpr Column kRecompute = {">recompute s", "recompute_s", short_number};
constexpr Column kByTtl = {">by TTL", "evicted_ttl_tokens", count_text};
constexpr Column kPressure = {">by pressure", "evicted_pressure_tokens", count_text, false, false};
constexpr Column kMakespan[] = {{">makespan p50 s", "session_makespan_s_p50", short_number},
                                {">p95 s", "session_makespan_s_p95", short_number}};
constexpr Column kLost[] = {{">failed", "turns_failed", count_text},
                            {">incomplete", "incomplete", count_text}};

void append(std::vector<Column>& columns, std::initializer_list<Column> more) {
  columns.insert(columns.end(), more);
}

std::vector<Column> columns_of(const std::string& kind) {
  std::vector<Column> columns;
  if (kind == "memory_stress") {
    append(columns, {{">tokens", "tokens", count_text},
                     kAttainment[0],
                     kAttainment[1],
                     kLost[0],
                     {">unreached", "turns_unreached", count_text},
                     kLost[1],
                     kTtft[0],
                     kTtft[1],
                     kMakespan[1],
                     kFound,
                     kPressure});
    columns[8].title = ">makespan p95 s";
    return columns;
  }
  append(columns, {kTtft[1], kTtft[0]});
  if (kind == "ttl_sweep") {
    append(columns, {kMeanKv, kPeakKv, kFound, kRecompute, kByTtl, kPressure});
  } else if (kind == "affinity_sweep") {
    append(columns, {kFound,
                     {">locality", "routing_locality", percent},
                     {">recomputed", "history_recomputed_tokens", count_text},
                     kMeanKv,
                     kMakespan[0],
                     kMakespan[1]});
  } else {
    append(columns, {kMeanKv,
                     kFound,
                     kMakespan[0],
                     kMakespan[1],
                     kRecompute,
                     {">transfer s", "transfer_s", short_number},
                     {">exposed s", "exposed_s", short_number, false, false},
                     {">host GB", "host_gb_peak", short_number},
                     kPressure});
  }
  append(columns, {kAttainment[0], kLost[0], kLost[1]});
  return columns;
}

std::optional<double> value_in(const SweepRowFields& row, const Column& column) {
  const std::string metric = column.metric;
  if (metric == "incomplete") return row.incomplete;
  return metric == "tokens" ? mean_cache_tokens(row) : row.mean(metric);
}

std::string cell(const SweepRowFields& row, const Column& column) {
  const std::optional<double> value = value_in(row, column);
  if (!value) return "-";
  const std::optional<double> sd = row.figure(std::string(column.metric) + ".sd");
  const bool spread = column.with_spread && sd && *sd > 0;
  return column.text(*value) + (spread ? " ± " + column.text(*sd) : "");
}

std::string legend(const SweepWords& words, const std::vector<Column>& columns, const Rows& rows) {
  const auto shown = [&](const std::string& metric) {
    return std::any_of(columns.begin(), columns.end(),
                       [&](const Column& column) { return column.metric == metric; });
  };
  std::string text;
  if (!words.against.empty()) {
    const char* other = words.kind == "host_sweep" ? "no other choice with the configured bandwidth"
                                                   : "no other point";
    text += std::string("*: on the frontier: ") + other +
            " is at least as good in both p95 turn TTFT and " +
            std::string(words.kind == "affinity_sweep" ? "history found" : "mean KV in HBM") +
            ", and better in one. ";
  }
  text += "found: part of the turns' history that was not computed again. ";
  if (shown("routing_locality")) {
    text += "locality: turns served where their chain's previous turn was. ";
  }
  if (shown("kv_gb_mean")) text += "KV GB: of all replicas together, mean over the run's time. ";
  if (shown("kv_gb_peak_replica")) text += "peak GB: of the one replica that held most. ";
  if (shown("evicted_ttl_tokens")) {
    text += "by TTL, by pressure: tokens that were evicted. ";
  } else if (shown("evicted_pressure_tokens")) {
    text += "by pressure: tokens that were evicted for want of memory. ";
  }
  if (shown("transfer_s")) {
    text += "transfer: time that turns waited for restores";
    text += shown("exposed_s") ? " and for what was left of offloads (exposed). " : ". ";
  }
  if (shown("turn_attainment"))
    text += "turns met: within the SLO, of all turns of sessions that began. ";
  if (shown("session_attainment")) {
    text += "sessions met: complete, and within workload.sessions.makespan_s where that is set. ";
  }
  text += "failed: turns; incomplete: sessions.";
  const bool spread = std::any_of(rows.begin(), rows.end(), [](const SweepRowFields& row) {
    return row.figure("turn_ttft_ms_p95.sd").value_or(0) > 0;
  });
  if (spread) text += " ±: standard deviation of the repetitions.";
  return wrapped("  ", text);
}

}  // namespace

std::string sweep_table(const SweepWords& words, const Rows& rows) {
  std::vector<Column> columns = columns_of(words.kind);
  std::erase_if(columns, [&](const Column& column) {
    return std::none_of(rows.begin(), rows.end(), [&](const SweepRowFields& row) {
      const std::optional<double> value = value_in(row, column);
      return row.simulated() && value && (column.may_be_zero || *value != 0);
    });
  });
  const bool frontier = !words.against.empty();
  std::vector<std::string> titles = {words.point_column};
  if (frontier) titles.emplace_back();
  for (const Column& column : columns) titles.emplace_back(column.title);
  TextTable table(titles);
  for (const SweepRowFields& row : rows) {
    if (!row.simulated()) continue;
    std::vector<std::string> cells = {row.name};
    if (frontier) cells.emplace_back(row.on_frontier ? "*" : "");
    for (const Column& column : columns) cells.push_back(cell(row, column));
    table.add(std::move(cells));
  }
  return table.text() + legend(words, columns, rows);
}

}  // namespace inferscale
