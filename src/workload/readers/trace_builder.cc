#include "workload/readers/trace_builder.h"

#include <limits>
#include <utility>

#include "base/random.h"
#include "workload/arrivals.h"
#include "workload/generated_source.h"
#include "workload/readers/csv_rows.h"

namespace inferscale {
namespace {

std::string seconds_text(std::int64_t ns) {
  std::string text = std::to_string(ns / 1'000'000'000);
  const std::string fraction = std::to_string(1'000'000'000 + ns % 1'000'000'000).substr(1);
  return text + "." + fraction + " s";
}

}  // namespace

TraceBuilder::TraceBuilder(TraceFormat format, const TraceOptions& options)
    : options_(options),
      scope_(stable_hash("trace " + std::string(trace_format_name(format)))),
      tree_(scope_) {
  trace_.format = format;
}

void TraceBuilder::set_columns(const TraceColumns& columns) {
  columns_ = columns;
  if (columns.block_tokens > 0 && !columns.content_tree) chains_.emplace(columns.block_tokens);
}

std::uint32_t TraceBuilder::NameTable::index_of(std::string_view name,
                                                std::vector<std::string>& names) {
  if (name.empty()) return CarriedColumns::kNoName;
  const auto found = indices_.find(name);
  if (found != indices_.end()) return found->second;
  const auto index = static_cast<std::uint32_t>(names.size());
  names.emplace_back(name);
  indices_.emplace(name, index);
  return index;
}

Result<void> TraceBuilder::add(const TraceRow& row, Cell arrival, Cell output,
                               const LineReader& lines) {
  const auto refuse = [&](Cell cell, const std::string& expected) {
    return fail(ErrorCode::kInvalidInput,
                std::string(cell.name) + ": " + quoted_for_error(cell.text) + ": " + expected,
                place_of(lines));
  };
  ++trace_.rows_in_file;
  if (row.output_tokens == 0) {
    if (!options_.skip_failed) {
      return refuse(
          output, "expected at least 1 token (a failed call; " +
                      std::string(options_.by_flags ? "--skip-failed" : "trace.skip_failed: true") +
                      " leaves such rows out and counts them)");
    }
    ++trace_.rows_failed;
    return {};
  }
  if (const Result<void> ordered = check_order(row, arrival, lines); !ordered) return ordered;
  if (trace_.rows() == kMostRequests) {
    return fail(ErrorCode::kInvalidInput, "expected at most 1000000000 rows", place_of(lines));
  }
  trace_.arrival_ns.push_back(row.arrival_ns);
  trace_.prompt_tokens.push_back(row.prompt_tokens);
  trace_.output_tokens.push_back(row.output_tokens);
  if (columns_.tenant) {
    trace_.tenant.push_back(tenants_.index_of(row.tenant, trace_.tenant_names));
  }
  if (columns_.session) {
    trace_.session.push_back(sessions_.index_of(row.session, trace_.session_names));
  }
  if (columns_.session_begins && options_.rate_scale != 1) {
    trace_.session_begin_ns.push_back(row.session_begin_ns);
  }
  if (columns_.priority) trace_.priority.push_back(row.priority);
  if (columns_.deadline) trace_.deadline_ms.push_back(row.deadline_ms);
  if (chains_) chains_->add(row.block_hashes, row.prompt_tokens);
  if (columns_.content_tree) prompts_.push_back(row.content);
  return {};
}

Result<void> TraceBuilder::check_order(const TraceRow& row, Cell arrival, const LineReader& lines) {
  if (latest_by_series_.size() <= row.series) {
    latest_by_series_.resize(std::size_t{row.series} + 1, std::numeric_limits<std::int64_t>::min());
  }
  const std::int64_t above = std::exchange(latest_by_series_[row.series], row.arrival_ns);
  if (row.arrival_ns >= above) return {};
  ++earlier_;
  if (options_.sort) return {};
  return fail(ErrorCode::kInvalidInput,
              std::string(arrival.name) + ": " + quoted_for_error(arrival.text) + ": " +
                  seconds_text(above - row.arrival_ns) + " before the row above it" +
                  (columns_.several_series ? " of the same agent" : "") +
                  ": expected rows in order of arrival (" +
                  (options_.by_flags ? "--sort" : "trace.sort: true") + " puts them in order)",
              place_of(lines));
}

TraceContent TraceBuilder::finish_content() const {
  if (chains_) return chains_->finish(scope_);
  TraceContent content;
  if (!columns_.content_tree) return content;
  content.block_tokens = columns_.block_tokens;
  content.offsets.push_back(0);
  for (const ContentTree::Node prompt : prompts_) {
    tree_.append_pieces(prompt, columns_.block_tokens, content.pieces);
    content.offsets.push_back(content.pieces.size());
  }
  content.pieces.shrink_to_fit();
  return content;
}

void TraceBuilder::put_in_order() {
  if (earlier_ > 0) {
    trace_.changes.push_back("sorted: " + std::to_string(earlier_) +
                             " rows arrived before the row above them");
  }
  if (earlier_ > 0 || columns_.several_series) sort_by_arrival(trace_);
}

Result<Trace> TraceBuilder::finish(bool rebase, const std::string& path) {
  if (trace_.rows() == 0) {
    const std::string failed =
        trace_.rows_failed == 0
            ? ""
            : ", all " + std::to_string(trace_.rows_failed) + " are failed calls";
    return fail(ErrorCode::kInvalidInput, "no rows" + failed + ": expected at least one", path);
  }
  if (trace_.rows_failed > 0) {
    trace_.changes.push_back(std::to_string(trace_.rows_failed) +
                             " rows of failed calls (0 output tokens) are left out");
  }
  trace_.content = finish_content();
  put_in_order();
  if (rebase) {
    trace_.origin_ns = trace_.arrival_ns.front();
    for (std::int64_t& arrival : trace_.arrival_ns) arrival -= trace_.origin_ns;
  }
  if (trace_.arrival_ns.back() > kLatestArrival.ns()) {
    return fail(ErrorCode::kInvalidInput, "the last arrival is after 9000000000 s (285 years)",
                path);
  }
  if (options_.limit) keep_first_rows(trace_, *options_.limit);
  return std::move(trace_);
}

}  // namespace inferscale
