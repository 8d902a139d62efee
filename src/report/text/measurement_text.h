// What a reader must know before quoting a run's figures: whether there is a steady state, what was
// left out as warm-up, and how far the figures can be trusted.

#pragma once

#include <string>
#include <vector>

#include "metrics/run_summary.h"

namespace inferscale {

// Sentences for the manifest's warnings: of a backlog that grows, and of a warm-up without an end.
std::vector<std::string> measurement_notes(const RunSummary& summary);

// The lines below the table of latencies.
std::string measurement_text(const RunSummary& summary);

}  // namespace inferscale
