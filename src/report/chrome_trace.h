// A run as a Chrome trace-event file: opens in Perfetto (ui.perfetto.dev) and chrome://tracing.
//
// Each replica is a process. Its steps are slices of one track (a segment of decode steps is one
// slice), queue, batch and free KV blocks are counters, and each request is a row of its own with
// slices for waiting, prefill and decode. Times are virtual microseconds since the start of the
// run.
//
// Format: "Trace Event Format", Google, 2016: events B/E-less, of the phases X (slice), C
// (counter), b and e (asynchronous begin and end), i (instant), M (names).

#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/edge/output_file.h"
#include "base/json_writer.h"
#include "core/decision_observer.h"
#include "core/outcome.h"

namespace inferscale {

class ChromeTrace final : public DecisionObserver {
 public:
  explicit ChromeTrace(OutputFile file);
  void on_step(const StepReport& report) override;
  void on_route(const RouteReport&) override {}  // a request's rows are on the replica chosen
  // Adds the requests and ends the file. REQUIRES: called once, at the end.
  Result<void> finish(std::span<const Outcome> outcomes);

 private:
  void write(const JsonValue& event);
  void name_replica(std::uint32_t replica);
  void counters(const StepReport& report);
  void request(RequestId id, const Outcome& outcome);
  void span(const char* name, RequestId id, std::uint32_t replica, Instant from, Instant to);

  OutputFile file_;
  std::optional<Error> error_;
  bool first_ = true;
  std::vector<bool> named_;  // by replica
};

}  // namespace inferscale
