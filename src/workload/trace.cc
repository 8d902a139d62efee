#include "workload/trace.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "base/check.h"
#include "base/number_text.h"

namespace inferscale {
namespace {

static_assert(CarriedColumns::kNoName == Request::kNobody);

constexpr std::array<std::pair<TraceFormat, std::string_view>, 6> kFormatNames = {{
    {TraceFormat::kInferscale, "inferscale"},
    {TraceFormat::kAzure2023, "azure2023"},
    {TraceFormat::kMooncake, "mooncake"},
    {TraceFormat::kBurstGpt, "burstgpt"},
    {TraceFormat::kClaudeCodeCsv, "claude_code_csv"},
    {TraceFormat::kClaudeCodeJsonl, "claude_code_jsonl"},
}};

template <typename T>
void reorder(std::vector<T>& column, const std::vector<std::size_t>& order) {
  if (column.empty()) return;
  std::vector<T> reordered;
  reordered.reserve(order.size());
  for (std::size_t row : order) reordered.push_back(column[row]);
  column = std::move(reordered);
}

void reorder_content(TraceContent& content, const std::vector<std::size_t>& order) {
  if (!content.any()) return;
  std::vector<std::uint64_t> offsets = {0};
  std::vector<ContentPiece> pieces;
  offsets.reserve(order.size() + 1);
  pieces.reserve(content.pieces.size());
  for (std::size_t row : order) {
    const std::span<const ContentPiece> chain = content.of(row);
    pieces.insert(pieces.end(), chain.begin(), chain.end());
    offsets.push_back(pieces.size());
  }
  content.offsets = std::move(offsets);
  content.pieces = std::move(pieces);
}

// When the session of each row began; a row without a session begins its own.
std::vector<std::int64_t> session_begins(const Trace& trace) {
  if (!trace.session_begin_ns.empty()) return trace.session_begin_ns;
  if (trace.session.empty()) return trace.arrival_ns;
  std::vector<std::int64_t> begins;
  begins.reserve(trace.rows());
  std::vector<std::optional<std::int64_t>> first(trace.session_names.size());
  for (std::size_t i = 0; i < trace.rows(); ++i) {
    const std::uint32_t session = trace.session[i];
    const std::int64_t arrival = trace.arrival_ns[i];
    begins.push_back(session == CarriedColumns::kNoName ? arrival
                                                        : first[session].value_or(arrival));
    if (session != CarriedColumns::kNoName && !first[session]) first[session] = arrival;
  }
  return begins;
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

bool has_session_times(TraceFormat format) {
  return format == TraceFormat::kClaudeCodeCsv || format == TraceFormat::kClaudeCodeJsonl;
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
  reorder(trace.session_begin_ns, order);
  reorder_content(trace.content, order);
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
  cut(trace.session_begin_ns, limit);
  if (trace.content.any()) {
    trace.content.offsets.resize(limit + 1);
    trace.content.pieces.resize(trace.content.offsets.back());
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

bool scale_arrivals(Trace& trace, double rate_scale) {
  CHECK(rate_scale > 0) << "rate_scale " << rate_scale;
  if (rate_scale == 1) return true;
  const std::vector<std::int64_t> begins = session_begins(trace);
  std::vector<std::int64_t> scaled;
  scaled.reserve(trace.rows());
  for (std::size_t i = 0; i < trace.rows(); ++i) {
    const double begin_ns = static_cast<double>(begins[i]) / rate_scale;
    const std::int64_t gap_ns = trace.arrival_ns[i] - begins[i];
    if (begin_ns > static_cast<double>(kLatestArrival.ns() - gap_ns)) return false;
    scaled.push_back(std::llround(begin_ns) + gap_ns);
  }
  trace.arrival_ns = std::move(scaled);
  sort_by_arrival(trace);
  const std::string divided = " are divided by " + number_text(rate_scale);
  trace.changes.push_back(trace.session.empty() ? "arrival times" + divided
                                                : "the times at which sessions begin" + divided +
                                                      ", the gaps inside a session stay");
  return true;
}

TraceSource::TraceSource(const Trace& trace) : trace_(trace) {
  CHECK(std::is_sorted(trace.arrival_ns.begin(), trace.arrival_ns.end())) << trace.file_name;
  CHECK(trace.rows() <= std::numeric_limits<RequestId>::max()) << trace.rows() << " rows";
}

bool TraceSource::next(Request& request) {
  if (row_ == trace_.rows()) return false;
  request = Request();
  request.id = static_cast<RequestId>(row_);
  request.arrival = Instant::nanos(trace_.arrival_ns[row_]);
  request.prompt_tokens = trace_.prompt_tokens[row_];
  request.output_tokens = trace_.output_tokens[row_];
  request.max_tokens = request.output_tokens;
  if (!trace_.tenant.empty()) request.tenant = trace_.tenant[row_];
  if (!trace_.session.empty()) request.session = trace_.session[row_];
  if (!trace_.priority.empty() && trace_.priority[row_] != CarriedColumns::kNoPriority) {
    request.priority = static_cast<std::int32_t>(trace_.priority[row_]);
  }
  if (trace_.content.any()) {
    const std::span<const ContentPiece> pieces = trace_.content.of(row_);
    request.content = pieces.data();
    request.content_pieces = static_cast<std::uint32_t>(pieces.size());
  }
  ++row_;
  return true;
}

}  // namespace inferscale
