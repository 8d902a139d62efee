// A study on disk (docs/formats/study_folder.md): its plan, the record of every run as soon as it
// is finished, the result.
//
//   study.json    what the study is: kind, program version, plan. Written first.
//   runs.jsonl    a line for each finished run. While the study goes on, lines are appended in the
//                 order in which runs end; finish() puts them in the order in which the study asked
//                 for them, so that the finished file is the same whoever ran it.
//   result.json   what was concluded. Written last: a study without it was interrupted.
//   report.html   the page that is made from the others, by whoever finishes the study.
//
// A folder that holds the same plan is taken up again: its records are used, a last line that was
// cut off is dropped. Another plan, another kind or another version in the folder is an error, and
// nothing is touched. Several processes can't have one folder open at once.

#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_writer.h"
#include "base/result.h"
#include "study/executors/run_key.h"
#include "study/run_once.h"

namespace inferscale {

inline constexpr std::string_view kStudySchema = "inferscale.study";
inline constexpr int kStudySchemaVersion = 1;

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
  // Makes the folder where it is not there. Errors (kInvalidConfig): a folder that is not a study's
  // or another study's, or that another process has open; kInvalidInput: damage.
  static Result<std::unique_ptr<StudyFolder>> open(const std::string& path,
                                                   const StudyManifest& manifest);
  virtual ~StudyFolder() = default;

  virtual const std::string& path() const = 0;
  virtual std::size_t known() const = 0;  // records that were found when it was opened
  // Notes that the study asks for a run, the order of which is that of the finished file. Its
  // record, if it is known; valid as long as the folder.
  virtual const RunResult* ask(const RunKey& key) = 0;
  // Keeps the record of a run that was asked for and not known: when this returns, a process that
  // is killed no longer loses it. Where it is kept. REQUIRES: the record is settled.
  virtual Result<const RunResult*> add(const RunKey& key, const RunResult& record) = 0;
  // Writes the runs that were asked for, in that order, and the result. REQUIRES: all of them are
  // known; nothing is called after it.
  virtual Result<void> finish(const JsonValue& result) = 0;
};

}  // namespace inferscale
