// A run of agent programs as people read it in a terminal: first how many sessions and turns came
// to their end and met their targets, then the tables, then pictures.

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "core/outcome.h"
#include "core/session_record.h"
#include "metrics/run_summary.h"
#include "metrics/session_summary.h"
#include "report/text/sparkline.h"

namespace inferscale {

struct SessionContext {
  std::string title;             // what was simulated, one line; empty: neither is shown
  std::string workload;          // the programs, one line
  std::size_t sessions_cut = 0;  // sessions that end before a call which would be too long
  std::size_t replicas = 1;
  std::int64_t kv_tokens = 0;           // of a replica
  std::string kv_of_fleet;              // where replicas differ: that of each kind
  std::optional<double> cost_per_hour;  // of all of them; nothing where no price is known
};

std::string session_text(const SessionSummary& summary, const SessionFacts& facts,
                         const SessionContext& context);

// What the deployment did, `run.backlog` being one of sessions: its time, KV cache, batch,
// throughput and cost.
std::string session_deployment_text(const RunSummary& run, const SessionSummary& summary,
                                    const SessionFacts& facts, const SessionContext& context);

// Distributions of turns' TTFT and of makespans; sessions, and turns at the engine, over time: over
// the first part of it where nearly all of the turns came to their end long before the run did.
std::string session_plots(const ProgramRecords& records, std::span<const Outcome> outcomes,
                          Instant end, PlotGlyphs glyphs);

}  // namespace inferscale
