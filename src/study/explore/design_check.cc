#include "study/explore/design_check.h"

#include <algorithm>
#include <set>

namespace inferscale {
namespace {

// Derives every candidate before any of them is run: for what is written wrong, and for what a
// derivation has to say.
//
// A setting is wrong when it can be read neither alone, on top of the configuration, nor in any
// candidate. Else a candidate that can't be read is a combination that can't be, and one of many.
class DesignCheck {
 public:
  DesignCheck(const Scenario& scenario, CandidateList& list) : scenario_(scenario), list_(list) {
    for (std::size_t i = 0; i < list_.candidates.size(); ++i) derive(i);
    note_warnings();
  }

  // The error of a setting that is wrong, or of the first candidate when none can be read.
  Result<void> verdict() {
    for (const std::size_t i : unread_) {
      const Candidate& candidate = list_.candidates[i];
      for (const Setting& setting : candidate.settings) {
        if (const Result<void> found = check_alone(setting); !found) {
          return std::unexpected(error_of(candidate, found.error()));
        }
      }
    }
    if (unread_.size() < list_.candidates.size()) return {};
    const Candidate& first = list_.candidates.front();
    return std::unexpected(error_of(first, scenario_.check(request_for(first.settings)).error()));
  }

 private:
  struct Warning {
    std::string text;
    std::size_t first = 0;  // candidate that has it
    std::int64_t others = 0;
  };

  RunRequest request_for(const std::vector<Setting>& settings) const {
    return {.settings = settings, .seed = scenario_.base().config.seed};
  }

  void derive(std::size_t i) {
    const RunRequest request = request_for(list_.candidates[i].settings);
    const Result<PreparedRun> run = scenario_.prepare(request);
    if (!run && !scenario_.check(request)) {
      unread_.push_back(i);
      return;
    }
    for (const Setting& setting : request.settings) good_.insert(setting_text(setting));
    if (!run) return;
    for (const std::string& text : run->deployment.warnings) note(text, i);
    if (!run->trace) return;
    for (const std::string& change : run->trace->changes) {
      if (!changes_of_all(change)) note("Derived workload: " + change + ".", i);
    }
  }

  // Of the configuration itself, which says so where it is shown.
  bool changes_of_all(const std::string& change) const {
    const std::shared_ptr<const Trace>& trace = scenario_.base().trace;
    return trace != nullptr &&
           std::find(trace->changes.begin(), trace->changes.end(), change) != trace->changes.end();
  }

  void note(const std::string& text, std::size_t candidate) {
    const auto known = std::find_if(warnings_.begin(), warnings_.end(),
                                    [&](const Warning& warning) { return warning.text == text; });
    if (known != warnings_.end()) {
      ++known->others;
    } else {
      warnings_.push_back({text, candidate});
    }
  }

  void note_warnings() {
    for (const auto& [text, first, others] : warnings_) {
      const std::string more =
          others == 0 ? ""
                      : " and " + std::to_string(others) + (others == 1 ? " other" : " others");
      list_.notes.push_back("Candidate " + list_.candidates[first].name + more + ": " + text);
    }
  }

  Result<void> check_alone(const Setting& setting) {
    const std::string text = setting_text(setting);
    if (good_.contains(text)) return {};
    const Result<void> read = scenario_.check(request_for({setting}));
    if (read) good_.insert(text);
    return read;
  }

  static Error error_of(const Candidate& candidate, Error error) {
    error.message = "candidate '" + candidate.name + "': " + error.message;
    return error;
  }

  const Scenario& scenario_;
  CandidateList& list_;
  std::set<std::string>
      good_;  // settings that some candidate was read with, or that are by themselves
  std::vector<std::size_t> unread_;
  std::vector<Warning> warnings_;
};

}  // namespace

Result<CandidateList> checked_candidates(const Scenario& scenario) {
  if (!scenario.base().config.has_targets()) {
    return fail(ErrorCode::kInvalidConfig,
                "slo: missing: candidates are compared by goodput, the requests that meet it: "
                "expected at least one of ttft_ms, itl_ms, e2e_ms",
                scenario.label());
  }
  Result<CandidateList> list = design_candidates(scenario.base());
  if (!list) return list;
  DesignCheck check(scenario, *list);
  // What the bounded grid sets is right; where it does not go with the rest, candidates say so.
  if (list->bounded_grid) return list;
  if (const Result<void> checked = check.verdict(); !checked) {
    return std::unexpected(checked.error());
  }
  return list;
}

}  // namespace inferscale
