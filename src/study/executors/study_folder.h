// A study on disk (docs/formats/study_folder.md): its plan, the record of every run as soon as it
// is finished, the result.
//
//   study.json    what the study is: kind, program version, plan. Written first.
//   runs.jsonl    a line for each finished run. While the study goes on, lines are appended in the
//                 order in which runs end; finish() puts them in the order in which the study asked
//                 for them, so that the finished file is the same whoever ran it.
//   result.json   what was concluded. Written last: a study without it was interrupted.
//
// A folder that holds the same plan is taken up again: its records are used, a last line that was
// cut off is dropped. Another plan, another kind or another version in the folder is an error, and
// nothing is touched. Several processes can't have one folder open at once.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/json_writer.h"
#include "base/result.h"
#include "study/run_once.h"
#include "study/run_request.h"
#include "study/scenario.h"

namespace inferscale {

// What tells one study from another.
struct StudyManifest {
  std::string kind;     // "capacity", "explore", "ab", "sensitivity", "validate"
  std::string version;  // of the program
  std::string name;     // for people
  JsonValue plan;       // everything that the runs and the result follow from
  std::vector<std::string> warnings;
};

class StudyFolder {
 public:
  // Makes the folder where it is not there.
  static Result<std::unique_ptr<StudyFolder>> open(const std::string& path,
                                                   const StudyManifest& manifest);
  virtual ~StudyFolder() = default;

  // The record of a run that was finished earlier; null when there is none.
  virtual const RunRecord* find(const Scenario& scenario, const RunRequest& request) const = 0;
  virtual std::size_t known() const = 0;  // records that were found when it was opened
  // Keeps a record: when this returns, a process that is killed no longer loses it.
  virtual Result<void> add(const Scenario& scenario, const RunRequest& request,
                           const RunRecord& record) = 0;
  // Runs in the order in which the study asked for them, each once, and the result.
  virtual Result<void> finish(const JsonValue& result) = 0;
};

}  // namespace inferscale
