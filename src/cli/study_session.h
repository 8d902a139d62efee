// What all study commands have in common: their flags, who runs their runs, where their records and
// results go.
//
//   declare_study_flags(arguments, flags_);
//   ...
//   Result<StudySession> session = StudySession::start(flags_, std::move(scenarios), manifest);
//   Result<CapacityResult> result = find_capacity(session->executor(), ...);
//   if (!result) return std::unexpected(result.error());      // finished runs are on disk
//   return session->finish(capacity_json(*result), capacity_text);

#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/json_writer.h"
#include "base/result.h"
#include "cli/arguments.h"
#include "report/text/sparkline.h"
#include "study/executors/study_folder.h"
#include "study/run_executor.h"
#include "study/scenario.h"

namespace inferscale {

struct StudyFlags {
  std::vector<std::string> settings;  // --set
  std::string out;
  std::string jobs;
  bool json = false;
  bool example = false;
};

void declare_study_flags(Arguments& arguments, StudyFlags& flags);

// A study's result as tables and plots for people; `result_json` is what result.json holds.
using StudyText = Result<std::string> (*)(const std::string& result_json, PlotGlyphs glyphs);

class StudySession {
 public:
  // `scenarios` are kept for the executor's sake. `manifest.version` is filled in.
  static Result<StudySession> start(const StudyFlags& flags, std::vector<Scenario> scenarios,
                                    StudyManifest manifest);
  StudySession(StudySession&&) noexcept;
  StudySession& operator=(StudySession&&) noexcept;
  ~StudySession();

  const std::vector<Scenario>& scenarios() const;
  RunExecutor& executor();

  // Writes the folder's result and its page, prints the text or with --json the result, and then
  // the manifest's warnings as notes. The exit code: 0.
  Result<int> finish(const JsonValue& result, StudyText text);

 private:
  struct State;
  explicit StudySession(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace inferscale
