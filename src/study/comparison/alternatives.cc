#include "study/comparison/alternatives.h"

#include <algorithm>
#include <array>

#include "base/config_json.h"

namespace inferscale {
namespace {

Side side_of(const Scenario& scenario) {
  return {.label = scenario.label(),
          .name = scenario.base().config.name,
          .fingerprint = scenario.fingerprint()};
}

bool same_trace(const PreparedRun& a, const PreparedRun& b) {
  if (!a.trace || !b.trace) return a.trace == b.trace;
  return a.trace->crc32 == b.trace->crc32 && a.trace->rows() == b.trace->rows();
}

// The keys in which the treatment asks for another study than the baseline, whose study it is.
std::vector<std::string> overruled_keys(const PreparedRun& baseline, const PreparedRun& treatment,
                                        const StudyOwnKeys& own) {
  std::vector<std::string> keys;
  if (baseline.config.seed != treatment.config.seed) keys.emplace_back("seed");
  const auto repeats = [&](const PreparedRun& run) {
    return run.study.repeats.value_or(own.default_repeats);
  };
  if (repeats(baseline) != repeats(treatment)) keys.emplace_back("repeats");
  for (const ConfigDifference& change :
       config_differences(baseline.effective, treatment.effective, {})) {
    const bool is_own = std::ranges::any_of(
        own.keys, [&](std::string_view key) { return changes_below({change}, key); });
    if (is_own) keys.push_back(change.key);
  }
  return keys;
}

std::string overruled_note(const std::vector<std::string>& keys) {
  std::string names;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (i > 0) names += i + 1 == keys.size() ? " and " : ", ";
    names += keys[i];
  }
  return names + (keys.size() == 1 ? " is that of the baseline; the treatment has another one."
                                   : " are those of the baseline; the treatment has others.");
}

std::vector<std::string> notes_of(const PreparedRun& baseline, const PreparedRun& treatment,
                                  const std::vector<ConfigDifference>& changes,
                                  const StudyOwnKeys& own) {
  std::vector<std::string> notes;
  if (changes.empty() && same_trace(baseline, treatment)) {
    notes.emplace_back("The two configurations are the same.");
  }
  if (changes_below(changes, "workload") || !same_trace(baseline, treatment)) {
    notes.emplace_back(
        "The workloads differ: the same seed does not give both the same requests, so pairs have "
        "less in common, and what is compared is deployment and workload together.");
  }
  if (changes_below(changes, "slo") || changes_below(changes, "slo_classes")) {
    notes.emplace_back("The SLOs differ: goodput is judged against each one's own targets.");
  }
  if (changes_below(changes, "measurement")) {
    notes.emplace_back(
        "The measurements differ (warm-up, counted requests): figures are of different "
        "parts of the runs.");
  }
  const std::vector<std::string> overruled = overruled_keys(baseline, treatment, own);
  if (!overruled.empty()) notes.push_back(overruled_note(overruled));
  return notes;
}

JsonValue side_json(const Side& side) {
  return JsonValue::object()
      .add("file", side.label)
      .add("name", side.name)
      .add("fingerprint", fingerprint_text(side.fingerprint));
}

}  // namespace

bool changes_below(const std::vector<ConfigDifference>& changes, std::string_view key) {
  return std::any_of(changes.begin(), changes.end(), [&](const ConfigDifference& change) {
    return change.key == key || change.key.starts_with(std::string(key) + ".");
  });
}

Alternatives describe_alternatives(const Scenario& baseline, const Scenario& treatment,
                                   const StudyOwnKeys& own) {
  static constexpr std::array<std::string_view, 5> kNotCompared = {"name", "seed", "repeats",
                                                                   "study", "output"};
  Alternatives alternatives{.baseline = side_of(baseline), .treatment = side_of(treatment)};
  alternatives.changes =
      config_differences(baseline.base().effective, treatment.base().effective, kNotCompared);
  alternatives.notes = notes_of(baseline.base(), treatment.base(), alternatives.changes, own);
  return alternatives;
}

void add_alternatives(JsonValue& result, const Alternatives& alternatives) {
  result.add("baseline", side_json(alternatives.baseline));
  result.add("treatment", side_json(alternatives.treatment));
  JsonValue changes = JsonValue::array();
  for (const ConfigDifference& change : alternatives.changes) {
    changes.append(JsonValue::object()
                       .add("key", change.key)
                       .add("baseline", change.baseline)
                       .add("treatment", change.treatment));
  }
  result.add("changes", std::move(changes));
}

std::string side_name(std::size_t scenario) {
  return scenario == kBaseline ? "baseline" : "treatment";
}

JsonValue failed_runs_json(const std::vector<FailedRun>& failures) {
  JsonValue list = JsonValue::array();
  for (const FailedRun& failed : failures) {
    list.append(JsonValue::object()
                    .add("alternative", side_name(failed.scenario))
                    .add("run", request_text(failed.request))
                    .add("reason", failed.reason));
  }
  return list;
}

}  // namespace inferscale
