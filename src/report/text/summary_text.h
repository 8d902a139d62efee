// A run's summary as people read it in a terminal: first the verdict, then the table, then how full
// the deployment was.

#pragma once

#include <span>
#include <string>

#include "core/outcome.h"
#include "core/signal_sample.h"
#include "core/slo.h"
#include "metrics/run_summary.h"
#include "report/text/sparkline.h"

namespace inferscale {

struct SummaryContext {
  std::string title;     // what was simulated, one line
  std::string workload;  // the traffic, one line
  Slo slo;
  std::int64_t kv_blocks = 0;
  std::int64_t kv_tokens = 0;  // that they keep, whatever windows free
  std::string kv_of_fleet;  // the KV cache of a replica of each kind, where there are several
  std::int64_t max_num_seqs = 0;
  std::int64_t accelerators = 1;
  std::span<const ReplicaReport> replicas;  // a table of them is shown for more than one
};

std::string summary_text(const RunSummary& summary, const SummaryContext& context);

// The picture that goes with it: the distribution of TTFT (of the outcomes that count: hand in
// those after the warm-up), and queue, batch and KV use over time, of all replicas together.
std::string summary_plots(std::span<const Outcome> outcomes, std::span<const SignalSample> signals,
                          PlotGlyphs glyphs);

}  // namespace inferscale
