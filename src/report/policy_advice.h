// Which admission policy a deployment needs, answered from a run's own folder.
//
// Four questions in order, as a decision tree:
//
//   did anything move (queue, KV cache)?   no -> none: admit everything
//   do requests carry deadlines?           yes -> wcrt: a bound against the deadline
//   does the KV cache fill at peak?        yes -> dual_gate where prefixes are found again,
//                                                 else kv_threshold
//   does the queue move?                   yes -> queue_age, queue_depth
//
// Every question is answered with its figures, those below the one that settled it too. A signal
// moves when it was above its threshold in some sample: a policy that watches one which never does
// would never act.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json_writer.h"
#include "base/result.h"

namespace inferscale {

// What the folder holds of the answers. Not set: it does not say.
struct RunEvidence {
  std::string name;
  bool simulated = true;
  bool complete = true;
  std::optional<double> slo_ttft_ms;          // the run's own target
  std::int64_t classes_with_ttft = 0;         // classes with a target for the first token
  std::optional<std::int64_t> slo_classes;    // classes of the configuration, with targets or not
  std::optional<std::int64_t> requests;       // lines of outcomes
  std::optional<std::int64_t> with_deadline;  // of these, with a deadline of their own
  std::optional<double> kv_used_peak;         // fraction
  std::int64_t kv_samples = 0;                // of replicas with a KV cache
  std::int64_t kv_samples_full = 0;           // of these, at kKvFull or above
  std::optional<double> prefix_hit_rate;      // of the run
  std::optional<std::int64_t> queue_peak;     // requests
  std::int64_t queue_samples = 0;
  std::int64_t queue_samples_above_zero = 0;
  std::optional<std::int64_t> preemptions;
  std::optional<std::int64_t> sessions;  // of agents; nothing: no such run
};

inline constexpr double kKvFull = 0.9;       // where kv_threshold and dual_gate refuse
inline constexpr double kHitRateHigh = 0.5;  // half of the prompt is not computed again
inline constexpr double kQueueMoves = 0.01;  // part of the samples with somebody waiting

struct AdviceAnswer {
  std::string question;
  std::optional<bool> yes;  // nothing: the folder does not say
  std::string evidence;     // a sentence with figures
};

struct PolicyAdvice {
  std::vector<AdviceAnswer> answers;
  std::vector<std::string> policies;  // best first; names of policies
  std::string why;
  std::vector<std::string> notes;
};

// Errors name the file: no run folder, an unknown version, a damaged file.
Result<RunEvidence> read_run_evidence(const std::string& folder);
PolicyAdvice advise(const RunEvidence& evidence);
JsonValue advice_json(const RunEvidence& evidence, const PolicyAdvice& advice);

}  // namespace inferscale
