// What the verdicts of sweeps have in common: their lines, how a point is described, the best point
// within the SLO.

#pragma once

#include <string>
#include <vector>

#include "report/studies/agents/sweep_rows.h"

namespace inferscale {

using Rows = std::vector<SweepRowFields>;

constexpr const char* kTtftP95 = "turn_ttft_ms_p95";
constexpr const char* kKvMean = "kv_gb_mean";
constexpr const char* kFound = "history_hit_rate";

// A head and its text beside it.
std::string part(const std::string& head, const std::string& text);
std::string ttft_text(const SweepRowFields& row);
std::string gigabytes(double gb);
// "p95 turn TTFT 210 ms, 12.3 GB of KV in HBM on average, 95.2 % of the history found".
std::string described(const SweepRowFields& row);
// The options for a point. Where each repetition has a cache of its own: the largest, which is
// enough for all.
std::string settings_line(const SweepRowFields& row);

// The point that the result names by its index; null: it names none, or there is none such, which
// becomes `result`'s error.
const SweepRowFields* row_at(JsonFields& result, const char* key, const Rows& rows);
// Null when none was simulated.
const SweepRowFields* first_of(const Rows& rows, const std::string& strategy);

// Empty without a target. `chosen`: the recommended point, or null.
std::string within_slo_text(JsonFields& result, const SweepWords& words, const Rows& rows,
                            const SweepRowFields* chosen);

}  // namespace inferscale
