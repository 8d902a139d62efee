// The two sides of a comparison: what they are called, what sets them apart, and what a reader must
// know before setting one against the other.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_writer.h"
#include "study/comparison/config_difference.h"
#include "study/run_once.h"
#include "study/run_request.h"
#include "study/scenario.h"

namespace inferscale {

// A study's scenarios, by index.
constexpr std::size_t kBaseline = 0;
constexpr std::size_t kTreatment = 1;

struct Side {
  std::string label;  // the file
  std::string name;   // of the configuration
  std::uint64_t fingerprint = 0;
};

struct Alternatives {
  Side baseline;
  Side treatment;
  std::vector<ConfigDifference> changes;  // but for names, seeds, study and output
  std::vector<std::string> notes;         // sentences
};

// What a study takes from the baseline's configuration alone.
struct StudyOwnKeys {
  std::vector<std::string_view> keys;  // beside seed and repeats: "study.ab"
  std::int64_t default_repeats = 1;
};

Alternatives describe_alternatives(const Scenario& baseline, const Scenario& treatment,
                                   const StudyOwnKeys& own);
// Whether a key of `changes` is `key` or below it.
bool changes_below(const std::vector<ConfigDifference>& changes, std::string_view key);

// Adds "baseline", "treatment" and "changes".
void add_alternatives(JsonValue& result, const Alternatives& alternatives);

// A run that could not be simulated.
struct FailedRun {
  std::size_t scenario = kBaseline;
  RunRequest request;
  std::string reason;
};
std::string side_name(std::size_t scenario);  // "baseline"
JsonValue failed_runs_json(const std::vector<FailedRun>& failures);

}  // namespace inferscale
