// Rules in order: the first one that holds decides about an attempt; else `otherwise` does.
//
// A condition compares a quantity with a number or another quantity, or joins conditions by `all`
// or `any`. A comparison of something unknown is neither true nor false: `all` is unknown unless a
// part is false, `any` unless a part is true (S. C. Kleene's strong three-valued logic). A rule
// whose condition is unknown is passed over, unless it says `when_unknown: apply`.
//
// Cost: linear in the number of conditions that are looked at, and a reading for each signal. No
// state.

#pragma once

#include <cstdint>
#include <vector>

#include "admission/policy.h"
#include "admission/rules/quantity.h"

namespace inferscale {

enum class Comparison : std::uint8_t { kAbove, kAtLeast, kBelow, kAtMost, kEquals };

struct Condition {
  enum class Kind : std::uint8_t { kCompare, kAll, kAny };
  Kind kind = Kind::kCompare;
  // kCompare: left `is` right x times.
  Quantity left = 0.0;
  Comparison is = Comparison::kAbove;
  Quantity right = 0.0;
  double times = 1;
  std::vector<Condition> parts;  // kAll, kAny: at least one
};

enum class Truth : std::uint8_t { kNo, kUnknown, kYes };
Truth judge(const Condition& condition, const RequestView& request, const PoolView& pool);

struct Rule {
  Condition when;
  Decision then;
  bool applies_when_unknown = false;
};

// Of those held, who goes first: the gate's own order, or who has most of something.
enum class ReleaseFirst : std::uint8_t { kByGate, kReusableFraction, kPriority };

struct RuleList {
  std::vector<Rule> rules;
  Decision otherwise;
  ReleaseFirst release_first = ReleaseFirst::kByGate;
};

// Exactly what the rules read.
PolicyNeeds needs_of(const RuleList& list);
PolicyFactory rule_policy(RuleList list);

}  // namespace inferscale
