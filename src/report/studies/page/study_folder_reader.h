// Reads a study folder (docs/formats/study_folder.md), strictly: a page is a picture of the whole
// study, so a file that is cut off or damaged is an error with its name and line.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "report/json_fields.h"

namespace inferscale {

// One line of runs.jsonl.
struct StudyRun {
  std::string scenario;               // its name for people
  std::vector<std::string> settings;  // "deployment.engine.max_num_seqs=64"
  std::uint64_t seed = 0;
  Json scales;                                 // {prefill, decode, transfer}; null: all are 1
  std::vector<std::optional<double>> figures;  // those that were asked for
  std::string failure;                         // empty: the run was simulated
};

struct StudyFolderContent {
  std::string kind;
  std::string name;
  std::string program_version;
  bool simulated = true;
  std::vector<std::string> warnings;
  Json plan;
  Json result;
  std::uint64_t runs_in_all = 0;
  std::uint64_t runs_failed = 0;
  // The first of them, in the order in which the study asked for them, and of the later ones the
  // first that failed.
  std::vector<StudyRun> runs;
};

// What is read of runs.jsonl; all of its lines are checked.
struct StudyRunsWanted {
  std::vector<std::string> figures;  // by metric name
  std::size_t most_runs = 0;
  std::size_t most_failed_runs = 0;  // of those after the first `most_runs`
};

// Whether a folder says that a study wrote it.
bool is_study_folder(const std::string& folder);

// Errors: not a study folder, an unknown version, a study that is not finished, damage.
Result<StudyFolderContent> read_study_folder(const std::string& folder,
                                             const StudyRunsWanted& wanted);

}  // namespace inferscale
