// For tests: a made-up run with everything that a report shows, in the shape of a real one.

#pragma once

#include <string>
#include <vector>

#include "core/outcome.h"
#include "core/run_record.h"
#include "core/signal_sample.h"
#include "core/slo.h"

namespace inferscale {

struct SampleRunOptions {
  std::string name = "chat-on-h100";
  std::size_t requests = 2000;
  double rate_rps = 10;
  double slots = 24;  // requests served at once; fewer than the load asks for make a queue
  bool refusals = false;
  bool with_slo = true;
  bool with_outcomes = true;
  bool complete = true;
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

 private:
  void serve();
  void sample_signals();

  SampleRunOptions options_;
  Slo slo_;
  std::vector<Outcome> outcomes_;
  std::vector<SignalSample> signals_;
};

}  // namespace inferscale
