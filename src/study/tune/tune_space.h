// Where a policy's parameters are searched: their ranges, and whether they are whole numbers.
//
// A range that the configuration gives counts; else each shipped policy that has something to tune
// has one of its own (docs/commands/tune.md lists them). Whether a parameter takes whole numbers
// only is found out by reading one that is not.

#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "study/scenario.h"
#include "study/tune/tune_options.h"

namespace inferscale {

struct TuneDimension {
  TuneRange range;
  bool whole = false;

  // The value at `part` of the way from min to max, to three digits or whole.
  double value_at(double part) const;
};

// A policy, and what it is set to beside what the configuration says of it.
struct TuneSetting {
  std::string policy;
  // Whether the configuration's own parameters stay where nothing is said of them.
  bool keeps_parameters = false;
  std::vector<std::pair<std::string, ConfigNode>> parameters;

  std::vector<Setting> settings() const;
};

struct TuneSpace {
  std::string policy;
  bool keeps_parameters = false;
  // Parameters that are not searched, for every candidate.
  std::vector<std::pair<std::string, ConfigNode>> fixed;
  std::vector<TuneDimension> dimensions;

  TuneSetting at(std::span<const double> values) const;
};

// Errors: no such policy, no ranges for it, a value that the policy does not take.
Result<TuneSpace> tune_space(const Scenario& scenario, const std::string& policy);
// The control: fixed_concurrency, over the range of its limit. It answers as the tuned policy is
// configured to (`then: defer`).
Result<TuneSpace> fixed_concurrency_space(const Scenario& scenario, const TuneSpace& tuned);

}  // namespace inferscale
