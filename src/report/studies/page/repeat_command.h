// The command that repeats one run of a study.

#pragma once

#include <string>

#include "report/studies/page/study_folder_reader.h"

namespace inferscale {

// "inferscale simulate chat.yaml --set deployment.replicas=2 --set seed=43", quoted for a shell;
// `command` is the one that runs such a configuration: "simulate", or "agents" for sessions. It
// starts from the scenario's file, so that what the study itself was given by --set comes on top.
// Factors on the model's times can't be given to it and stand behind it as a comment.
std::string repeat_command(const StudyRun& run, const std::string& command = "simulate");

}  // namespace inferscale
