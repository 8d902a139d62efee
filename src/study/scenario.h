// A configuration from which a study makes its runs: the tree as it was given, read once to see
// that it is right, and read anew with each run's changes.
//
// Safe to be used by many threads at once. Copies are not made: a study holds its scenarios in one
// place and refers to them by index.

#pragma once

#include <cstdint>
#include <string>

#include "base/json_writer.h"
#include "study/prepared_run.h"
#include "study/run_request.h"

namespace inferscale {

class Scenario {
 public:
  // `label`: what people call it, a file's name. Errors are those of reading the tree as it is.
  static Result<Scenario> make(ConfigNode tree, RunInputs inputs, std::string label);

  const std::string& label() const { return label_; }
  const PreparedRun& base() const { return base_; }  // as the tree has it

  // The run that `request` asks for. Errors: a key or value that is not right, a deployment that
  // does not fit its memory.
  Result<PreparedRun> prepare(const RunRequest& request) const;

  // Whether the configuration of that run is written right; whether it can be simulated, prepare()
  // says. Errors: a key or value that is not right.
  Result<void> check(const RunRequest& request) const;

  // A hash of everything that the figures of this scenario's runs follow from: the configuration as
  // written and with its defaults (but not its name, seed, repeats, study or output), the model's
  // shape, the trace's rows. Two scenarios with the same fingerprint give the same figures for a
  // request.
  std::uint64_t fingerprint() const { return fingerprint_; }

 private:
  Scenario() = default;
  Result<ConfigNode> tree_of(const RunRequest& request) const;

  std::string label_;
  ConfigNode tree_;
  RunInputs inputs_;
  PreparedRun base_;
  std::uint64_t fingerprint_ = 0;
};

std::string fingerprint_text(std::uint64_t fingerprint);  // 16 hexadecimal digits

// What the runs of a scenario, and a study's conclusions from them, follow from, for the study's
// plan: its label, its fingerprint and its configuration without name and output.
JsonValue scenario_plan(const Scenario& scenario);

}  // namespace inferscale
