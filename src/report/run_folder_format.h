// Names and version of the run folder's files (docs/formats/run_folder.md).

#pragma once

#include <string_view>

namespace inferscale {

inline constexpr std::string_view kRunSchema = "inferscale.run";
inline constexpr int kRunSchemaVersion = 1;

inline constexpr std::string_view kManifestFile = "manifest.json";
inline constexpr std::string_view kSummaryFile = "summary.json";
inline constexpr std::string_view kOutcomesFile = "outcomes.jsonl";
inline constexpr std::string_view kAttemptsFile = "attempts.jsonl";
inline constexpr std::string_view kDecisionsFile = "decisions.jsonl";
inline constexpr std::string_view kSignalsFile = "signals.jsonl";
inline constexpr std::string_view kReplicasFile = "replicas.jsonl";
inline constexpr std::string_view kSessionsFile = "sessions.jsonl";
inline constexpr std::string_view kCallsFile = "calls.jsonl";
inline constexpr std::string_view kStudyFile = "study.json";    // of another kind of folder
inline constexpr std::string_view kReportFile = "report.html";  // made from the folder by default

}  // namespace inferscale
