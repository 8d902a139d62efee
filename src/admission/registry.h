// The table of all policies: what each is, where it comes from, and how its parameters are read.
//
// A policy is a header with its options and its factory, a source, a test, a page in docs/policies
// and one line in registry.cc.

#pragma once

#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "admission/policy.h"
#include "base/config_reader.h"

namespace inferscale {

// The unit that a policy lets in or keeps out as a whole.
enum class AdmissionUnit : std::uint8_t { kRequest, kSession, kTenant };
std::string_view unit_name(AdmissionUnit unit);

// Where the default of a parameter comes from.
struct ParameterNote {
  std::string_view key;
  std::string_view provenance;  // "paper", "field", "default", "derived"
  std::string_view note;        // which paper or system, in a few words
};

// The facts about a policy that do not hang on its parameters: its card.
struct PolicyCard {
  std::string_view name;     // as in configurations: `name` or `family.name`
  std::string_view summary;  // a line
  AdmissionUnit unit = AdmissionUnit::kRequest;
  std::string_view slo_awareness;     // "none", "deadline", "throughput", "fairness"
  std::string_view signal_structure;  // "none", "scalar", "conjunction", "composite", "bound"
  std::string_view inspired_by;       // a paper or system; empty: nobody's in particular
  std::string_view preserved;         // of it; empty with inspired_by empty
  std::string_view dropped;
  std::span<const ParameterNote> parameters;
};

struct PolicyEntry {
  PolicyCard card;
  // Reads the parameters from their map (strict; errors are left in its session) and returns the
  // factory. The caller finishes the map.
  std::function<PolicyFactory(ConfigReader& parameters)> read;
};

std::span<const PolicyEntry> all_policies();
// Null when there is no such policy.
const PolicyEntry* find_policy(std::string_view name);
// Adds policies that come from elsewhere (plug-ins), behind the shipped ones. Fails, and adds
// nothing, when a name is taken. To be called at start-up, from one thread: entries and spans from
// before are no longer valid.
Result<void> add_policies(std::vector<PolicyEntry> entries);

}  // namespace inferscale
