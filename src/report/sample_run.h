// For tests: a made-up run with everything that a report shows, in the shape of a real one.

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/measurement.h"
#include "core/outcome.h"
#include "core/run_record.h"
#include "core/session_record.h"
#include "core/signal_sample.h"
#include "core/slo.h"
#include "core/slo_class.h"

namespace inferscale {

struct SampleRunOptions {
  std::string name = "chat-on-h100";
  std::size_t requests = 2000;
  double rate_rps = 10;
  double slots = 24;  // requests served at once; fewer than the load asks for make a queue
  bool refusals = false;
  bool with_slo = true;
  bool classes = false;  // of service, in place of the one SLO
  bool with_outcomes = true;
  bool complete = true;
  std::uint32_t replicas = 1;  // of the fleet; more than one are reported on
  bool prefix_cache = false;
  bool admission = false;  // a policy at the door: refusals are its own, and some came twice
  bool sessions = false;   // requests are turns of sessions of up to twelve
  bool host_tier = false;
  double pause_s = 0;  // before the last three requests
  MeasurementOptions measurement;
  std::vector<std::string> warnings;
};

// A queue with `slots` servers, log-normal lengths and a fixed time for each token. Owns what its
// record looks at.
class SampleRun {
 public:
  explicit SampleRun(const SampleRunOptions& options);
  RunRecord record() const;
  const std::vector<Outcome>& outcomes() const { return outcomes_; }
  const std::vector<SignalSample>& signals() const { return signals_; }
  const std::vector<ReplicaReport>& replicas() const { return replicas_; }

 private:
  void serve();
  void classify();
  void sample_signals();
  void report_replicas();
  void put_door_before();
  RequestClasses classes() const { return {.classes = classes_, .of = class_of_}; }
  JsonValue admission() const;
  void add_admission(RunRecord& record) const;
  void group_into_sessions();
  void add_sessions(RunRecord& record, Instant end) const;

  SampleRunOptions options_;
  Slo slo_;
  std::vector<SloClass> classes_;
  std::vector<std::uint8_t> class_of_;
  std::vector<Outcome> outcomes_;
  std::vector<SignalSample> signals_;
  std::vector<ReplicaReport> replicas_;
  std::vector<Outcome> attempts_;
  ClientRecords clients_;
  std::optional<ProgramRecords> programs_;
  std::vector<std::string> session_names_;
};

}  // namespace inferscale
