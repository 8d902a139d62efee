#include "workload/trace_summary.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_set>

#include "base/check.h"
#include "base/number_text.h"

namespace inferscale {
namespace {

// `parts`: 10 for one decimal, 1000 for three.
std::string rounded_text(double value, double parts) {
  return number_text(std::round(value * parts) / parts);
}

LengthSummary summarize_lengths(std::vector<std::uint32_t> lengths) {
  std::sort(lengths.begin(), lengths.end());
  const std::uint64_t count = lengths.size();
  // The nearest rank ceil(percent n / 100), in whole numbers.
  const auto percentile = [&](std::uint64_t percent) {
    return lengths[(percent * count + 99) / 100 - 1];
  };
  LengthSummary summary;
  for (std::uint32_t length : lengths) summary.total += length;
  summary.mean = static_cast<double>(summary.total) / static_cast<double>(count);
  summary.p10 = percentile(10);
  summary.p50 = percentile(50);
  summary.p90 = percentile(90);
  summary.p99 = percentile(99);
  summary.max = lengths.back();
  return summary;
}

// Names are counted in the rows: a limit leaves names in the table that no row has.
std::optional<NameSummary> summarize_names(const std::vector<std::uint32_t>& column) {
  if (column.empty()) return std::nullopt;
  NameSummary summary;
  std::vector<std::uint32_t> sorted = column;
  std::sort(sorted.begin(), sorted.end());
  const auto without = std::lower_bound(sorted.begin(), sorted.end(), CarriedColumns::kNoName);
  summary.rows_without = static_cast<std::uint64_t>(sorted.end() - without);
  summary.names = static_cast<std::uint64_t>(std::unique(sorted.begin(), without) - sorted.begin());
  return summary;
}

std::optional<PrefixSummary> summarize_prefixes(const TraceContent& content, std::size_t rows) {
  if (!content.any()) return std::nullopt;
  const auto blocks_of = [&](const ContentPiece& piece) {
    return (piece.tokens + content.block_tokens - 1) / content.block_tokens;
  };
  PrefixSummary summary;
  std::unordered_set<std::uint64_t> seen;  // asked only: its order reaches nobody
  for (std::size_t row = 0; row < rows; ++row) {
    bool hit = true;
    for (const ContentPiece& piece : content.of(row)) {
      hit = hit && seen.contains(piece.key);
      if (hit) {
        summary.blocks_hit += blocks_of(piece);
      } else {
        seen.insert(piece.key);
      }
      summary.blocks += blocks_of(piece);
    }
  }
  if (summary.blocks > 0) {
    summary.hit_rate =
        static_cast<double>(summary.blocks_hit) / static_cast<double>(summary.blocks);
  }
  return summary;
}

// Fills the figures about time; returns the median gap between timestamps that differ, in ns.
std::int64_t summarize_arrivals(const std::vector<std::int64_t>& arrivals, TraceSummary& summary) {
  std::vector<std::int64_t> steps;
  const double gaps = static_cast<double>(arrivals.size() - 1);
  const double span_ns = static_cast<double>(arrivals.back() - arrivals.front());
  const double mean_gap_ns = gaps > 0 ? span_ns / gaps : 0;
  double squares = 0;
  for (std::size_t i = 1; i < arrivals.size(); ++i) {
    const std::int64_t gap = arrivals[i] - arrivals[i - 1];
    if (gap > 0) steps.push_back(gap);
    const double off = static_cast<double>(gap) - mean_gap_ns;
    squares += off * off;
  }
  summary.first_arrival_s = static_cast<double>(arrivals.front()) * 1e-9;
  summary.span_s = span_ns * 1e-9;
  summary.distinct_timestamps = steps.size() + 1;
  if (span_ns > 0) {
    summary.mean_rate_rps = 1e9 / mean_gap_ns;
    summary.gap_cv = std::sqrt(squares / gaps) / mean_gap_ns;
  }
  if (steps.empty()) return 0;
  const auto middle = steps.begin() + static_cast<std::ptrdiff_t>((steps.size() - 1) / 2);
  std::nth_element(steps.begin(), middle, steps.end());
  return *middle;
}

void add_warnings(TraceSummary& summary, std::int64_t tick_ns) {
  constexpr double kBurstyCv = 2;
  const std::uint64_t shared = summary.rows - summary.distinct_timestamps;
  if (shared * 10 > summary.rows) {
    std::string text = std::to_string(shared) + " of " + std::to_string(summary.rows) +
                       " arrivals have the timestamp of the row above them";
    if (tick_ns > 0) {
      const std::string tick_ms = rounded_text(static_cast<double>(tick_ns) * 1e-6, 1000);
      text += "; timestamps mostly step by " + tick_ms +
              " ms. Where that was the clock's tick, the bursts are not real: "
              "workload.trace.jitter_ms: " +
              tick_ms + " spreads them (a derived workload)";
    }
    summary.warnings.push_back(std::move(text));
  } else if (summary.gap_cv && *summary.gap_cv > kBurstyCv) {
    summary.warnings.push_back("arrivals are bursty: the gaps' coefficient of variation is " +
                               rounded_text(*summary.gap_cv, 10) +
                               " (Poisson: 1). A Poisson process of the same rate is a much easier "
                               "load");
  }
  if (summary.first_arrival_s > std::max(summary.span_s, 60.0)) {
    summary.warnings.push_back("the first arrival is at " +
                               rounded_text(summary.first_arrival_s, 1000) +
                               " s, later than the trace is long: a replay is idle until then");
  }
}

}  // namespace

TraceSummary summarize_trace(const Trace& trace) {
  CHECK(trace.rows() > 0) << trace.file_name;
  TraceSummary summary;
  summary.rows = trace.rows();
  const std::int64_t tick_ns = summarize_arrivals(trace.arrival_ns, summary);
  summary.prompt_tokens = summarize_lengths(trace.prompt_tokens);
  summary.output_tokens = summarize_lengths(trace.output_tokens);
  summary.tenants = summarize_names(trace.tenant);
  summary.sessions = summarize_names(trace.session);
  summary.prefix = summarize_prefixes(trace.content, trace.rows());
  if (has_session_times(trace.format)) {
    summary.warnings.push_back(
        "times count from each session's own beginning. Unless workload.trace.session_arrivals "
        "spreads "
        "them, "
        "all sessions begin together, and the rate, the gaps and shared timestamps follow from "
        "that");
  }
  add_warnings(summary, tick_ns);
  return summary;
}

}  // namespace inferscale
