// study.json: what a study is.

#pragma once

#include <string>

#include "base/result.h"
#include "study/executors/study_folder.h"

namespace inferscale {

std::string study_file_text(const StudyManifest& manifest);

// The text of the study.json at `path`, if it is one of the same kind, program version and plan:
// then its runs are those of `manifest`. Errors name `folder` and the first difference, or where
// the file is damaged.
Result<std::string> read_same_study(const std::string& path, const std::string& folder,
                                    const StudyManifest& manifest);

}  // namespace inferscale
