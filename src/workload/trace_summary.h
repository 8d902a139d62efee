// What is in a trace, in the figures that one asks for before trusting a replay of it.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "workload/trace.h"

namespace inferscale {

// Of one column of token counts; quantiles are nearest rank.
struct LengthSummary {
  double mean = 0;
  std::uint32_t p10 = 0;
  std::uint32_t p50 = 0;
  std::uint32_t p90 = 0;
  std::uint32_t p99 = 0;
  std::uint32_t max = 0;
  std::uint64_t total = 0;
};

// How many names a column holds, and how many rows have none.
struct NameSummary {
  std::uint64_t names = 0;
  std::uint64_t rows_without = 0;
};

// What a cache that never forgets would save: going through the rows in order, the blocks at the
// beginning of a prompt that an earlier prompt had.
struct PrefixSummary {
  std::uint64_t blocks = 0;
  std::uint64_t blocks_hit = 0;
  double hit_rate = 0;  // blocks_hit / blocks
};

struct TraceSummary {
  std::uint64_t rows = 0;
  double first_arrival_s = 0;
  double span_s = 0;                    // from the first arrival to the last
  std::optional<double> mean_rate_rps;  // gaps over span; nothing when the span is 0
  std::optional<double> gap_cv;         // deviation of the gaps over their mean
  std::uint64_t distinct_timestamps = 0;
  LengthSummary prompt_tokens;
  LengthSummary output_tokens;
  std::optional<NameSummary> tenants;
  std::optional<NameSummary> sessions;
  std::optional<PrefixSummary> prefix;
  // Sentences about what makes a replay of this trace misleading.
  std::vector<std::string> warnings;
};

// REQUIRES: the trace has a row and is in order of arrival.
TraceSummary summarize_trace(const Trace& trace);

}  // namespace inferscale
