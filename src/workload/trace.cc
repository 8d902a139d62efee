#include "workload/trace.h"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <utility>

#include "base/check.h"
#include "base/number_text.h"

namespace inferscale {
namespace {

constexpr std::array<std::pair<TraceFormat, std::string_view>, 4> kFormatNames = {{
    {TraceFormat::kInferscale, "inferscale"},
    {TraceFormat::kAzure2023, "azure2023"},
    {TraceFormat::kMooncake, "mooncake"},
    {TraceFormat::kBurstGpt, "burstgpt"},
}};

template <typename T>
void reorder(std::vector<T>& column, const std::vector<std::size_t>& order) {
  if (column.empty()) return;
  std::vector<T> reordered;
  reordered.reserve(order.size());
  for (std::size_t row : order) reordered.push_back(column[row]);
  column = std::move(reordered);
}

void reorder_blocks(Trace& trace, const std::vector<std::size_t>& order) {
  if (!trace.has_block_hashes()) return;
  std::vector<std::uint64_t> offsets = {0};
  std::vector<std::uint64_t> hashes;
  offsets.reserve(order.size() + 1);
  hashes.reserve(trace.block_hashes.size());
  for (std::size_t row : order) {
    for (std::uint64_t i = trace.block_offsets[row]; i < trace.block_offsets[row + 1]; ++i) {
      hashes.push_back(trace.block_hashes[i]);
    }
    offsets.push_back(hashes.size());
  }
  trace.block_offsets = std::move(offsets);
  trace.block_hashes = std::move(hashes);
}

template <typename T>
void cut(std::vector<T>& column, std::size_t rows) {
  if (column.size() > rows) column.resize(rows);
}

}  // namespace

std::string_view trace_format_name(TraceFormat format) {
  for (const auto& [candidate, name] : kFormatNames) {
    if (candidate == format) return name;
  }
  return "";
}

std::optional<TraceFormat> trace_format_named(std::string_view name) {
  for (const auto& [format, candidate] : kFormatNames) {
    if (candidate == name) return format;
  }
  return std::nullopt;
}

CarriedColumns Trace::carried() const {
  return {.tenant = tenant,
          .tenant_names = tenant_names,
          .session = session,
          .session_names = session_names,
          .priority = priority,
          .deadline_ms = deadline_ms};
}

std::uint64_t sort_by_arrival(Trace& trace) {
  std::uint64_t earlier = 0;
  for (std::size_t i = 1; i < trace.rows(); ++i) {
    if (trace.arrival_ns[i] < trace.arrival_ns[i - 1]) ++earlier;
  }
  if (earlier == 0) return 0;
  std::vector<std::size_t> order(trace.rows());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return trace.arrival_ns[a] < trace.arrival_ns[b];
  });
  reorder(trace.arrival_ns, order);
  reorder(trace.prompt_tokens, order);
  reorder(trace.output_tokens, order);
  reorder(trace.tenant, order);
  reorder(trace.session, order);
  reorder(trace.priority, order);
  reorder(trace.deadline_ms, order);
  reorder_blocks(trace, order);
  return earlier;
}

void keep_first_rows(Trace& trace, std::uint64_t limit) {
  if (limit >= trace.rows()) return;
  trace.rows_beyond_limit += trace.rows() - limit;
  cut(trace.arrival_ns, limit);
  cut(trace.prompt_tokens, limit);
  cut(trace.output_tokens, limit);
  cut(trace.tenant, limit);
  cut(trace.session, limit);
  cut(trace.priority, limit);
  cut(trace.deadline_ms, limit);
  if (trace.has_block_hashes()) {
    trace.block_offsets.resize(limit + 1);
    trace.block_hashes.resize(trace.block_offsets.back());
  }
  trace.changes.push_back("only the first " + std::to_string(limit) + " rows are used, " +
                          std::to_string(trace.rows_beyond_limit) + " are left out");
}

void jitter_arrivals(Trace& trace, Duration jitter, RandomStream stream) {
  CHECK(jitter.ns() >= 0) << "jitter " << jitter.ns() << " ns";
  if (jitter.ns() == 0) return;
  for (std::int64_t& arrival : trace.arrival_ns) {
    arrival += static_cast<std::int64_t>(stream.below(static_cast<std::uint64_t>(jitter.ns())));
  }
  sort_by_arrival(trace);
  trace.changes.push_back("each arrival is moved later by up to " + number_text(jitter.millis()) +
                          " ms at random");
}

TraceSource::TraceSource(const Trace& trace) : trace_(trace) {
  CHECK(std::is_sorted(trace.arrival_ns.begin(), trace.arrival_ns.end())) << trace.file_name;
  CHECK(trace.rows() <= std::numeric_limits<RequestId>::max()) << trace.rows() << " rows";
}

bool TraceSource::next(Request& request) {
  if (row_ == trace_.rows()) return false;
  request.id = static_cast<RequestId>(row_);
  request.arrival = Instant::nanos(trace_.arrival_ns[row_]);
  request.prompt_tokens = trace_.prompt_tokens[row_];
  request.output_tokens = trace_.output_tokens[row_];
  request.max_tokens = request.output_tokens;
  ++row_;
  return true;
}

}  // namespace inferscale
