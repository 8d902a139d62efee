// The figures of a run as `summary.json` holds them (docs/formats/run_folder.md).

#pragma once

#include "base/json_writer.h"
#include "core/slo.h"
#include "metrics/run_summary.h"

namespace inferscale {

// {count, mean, p50, p90, p95, p99, max}; of nothing all but the count are null.
JsonValue population_json(const PopulationSummary& population);

// `slo` is what the summary was judged by.
JsonValue summary_json(const RunSummary& summary, const Slo& slo);

}  // namespace inferscale
