#include "report/run_folder_writer.h"

#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/edge/output_file.h"
#include "report/run_folder_format.h"
#include "report/session_lines.h"

namespace inferscale {
namespace {

constexpr std::size_t kBufferBytes = 1 << 16;

// Writes `count` lines, each appended to a buffer by `append_line(buffer, index)`.
template <typename AppendLine>
Result<void> write_lines(const std::string& path, std::size_t count, AppendLine append_line) {
  Result<OutputFile> file = OutputFile::create(path);
  if (!file) return std::unexpected(file.error());
  std::string buffer;
  buffer.reserve(kBufferBytes + 4096);
  for (std::size_t i = 0; i < count; ++i) {
    append_line(buffer, i);
    if (buffer.size() < kBufferBytes) continue;
    if (Result<void> written = file->append(buffer); !written) return written;
    buffer.clear();
  }
  if (Result<void> written = file->append(buffer); !written) return written;
  return file->finish();
}

Result<void> remove_old(const std::string& path) {
  std::error_code error;
  std::filesystem::remove(path, error);
  if (error) return fail(ErrorCode::kIo, "can't remove the old file: " + error.message(), path);
  return {};
}

std::string path_in(const std::string& folder, std::string_view name) {
  return folder + "/" + std::string(name);
}

// Removes what an earlier run left; the page was made from it.
Result<void> remove_run(const std::string& folder) {
  for (const std::string_view name :
       {kManifestFile, kSummaryFile, kOutcomesFile, kAttemptsFile, kDecisionsFile, kSignalsFile,
        kReplicasFile, kSessionsFile, kCallsFile, kReportFile}) {
    if (Result<void> removed = remove_old(path_in(folder, name)); !removed) return removed;
  }
  return {};
}

std::string manifest_text(const JsonValue& facts) {
  CHECK(facts.is_object()) << "the manifest must be an object";
  JsonValue manifest = JsonValue::object();
  manifest.add("schema", kRunSchema).add("version", kRunSchemaVersion);
  for (const JsonValue::Member& fact : facts.members()) manifest.add(fact.key, fact.value);
  return manifest.indented_text();
}

}  // namespace

Result<void> write_outcomes(const std::string& path, std::span<const Outcome> outcomes,
                            const Slo& slo, const CarriedColumns& carried,
                            const OutcomeColumns& columns) {
  for (const std::size_t rows : {carried.tenant.size(), carried.session.size(),
                                 carried.priority.size(), carried.deadline_ms.size()}) {
    CHECK(rows == 0 || rows >= outcomes.size()) << "a carried column is shorter than the run";
  }
  CHECK(!columns.classes.exist() || columns.classes.of.size() >= outcomes.size())
      << "requests without a class";
  return write_lines(path, outcomes.size(), [&](std::string& out, std::size_t i) {
    append_outcome_line(out, i, outcomes[i], slo, carried, columns);
  });
}

Result<void> write_attempts(const std::string& path, std::span<const Outcome> attempts,
                            const ClientRecords& clients) {
  CHECK(clients.request_of.size() >= attempts.size()) << "attempts without a request";
  std::vector<std::uint32_t> made(clients.requests.size(), 0);
  return write_lines(path, attempts.size(), [&](std::string& out, std::size_t id) {
    const std::uint32_t request = clients.request_of[id];
    const AttemptPlace place = {.id = id,
                                .request = request,
                                .attempt = made[request]++,
                                .is_last = clients.requests[request].last_attempt == id};
    append_attempt_line(out, place, attempts[id]);
  });
}

Result<void> write_signals(const std::string& path, std::span<const SignalSample> signals) {
  return write_lines(path, signals.size(),
                     [&](std::string& out, std::size_t i) { append_signal_line(out, signals[i]); });
}

Result<void> write_replicas(const std::string& path, std::span<const ReplicaReport> replicas) {
  return write_lines(path, replicas.size(), [&](std::string& out, std::size_t i) {
    append_replica_line(out, replicas[i]);
  });
}

namespace {

// REQUIRES: record.programs is set; so below.
Result<void> write_sessions(const std::string& path, const RunRecord& record) {
  const ProgramRecords& programs = *record.programs;
  const std::span<const std::string> names = record.session_names;
  CHECK(names.empty() || names.size() >= programs.sessions.size()) << "sessions without a name";
  SessionCalls calls(programs);
  return write_lines(path, programs.sessions.size(), [&](std::string& out, std::size_t i) {
    const SessionRecord& session = programs.sessions[i];
    append_session_line(out, i, session, calls.of_next(session), record.outcomes,
                        names.empty() ? nullptr : &names[i]);
  });
}

Result<void> write_calls(const std::string& path, const RunRecord& record) {
  const std::span<const CallRecord> calls = record.programs->calls;
  return write_lines(path, calls.size(), [&](std::string& out, std::size_t i) {
    append_call_line(out, calls[i], record.outcomes, record.slo, record.classes);
  });
}

Result<void> write_programs(const std::string& folder, const RunRecord& record) {
  if (record.programs == nullptr) return {};
  const auto written = write_sessions(path_in(folder, kSessionsFile), record);
  if (!written || !record.with_outcomes) return written;
  return write_calls(path_in(folder, kCallsFile), record);
}

// Outcomes of requests, and of the attempts that they made.
Result<void> write_requests(const std::string& folder, const RunRecord& record) {
  if (!record.with_outcomes) return {};
  const OutcomeColumns columns = {
      .cached_tokens = record.with_prefix_cache || record.programs != nullptr,
      .replica = record.replicas.size() > 1,
      .classes = record.classes};
  const auto written = write_outcomes(path_in(folder, kOutcomesFile), record.outcomes, record.slo,
                                      record.carried, columns);
  if (!written || record.clients == nullptr) return written;
  return write_attempts(path_in(folder, kAttemptsFile), record.attempts, *record.clients);
}

// The manifest last: a folder with a manifest is whole.
Result<void> write_run(const std::string& folder, const RunRecord& record, DecisionLog* decisions) {
  if (decisions != nullptr) {
    if (Result<void> finished = decisions->finish(); !finished) return finished;
  }
  if (Result<void> written = write_requests(folder, record); !written) return written;
  if (!record.replicas.empty()) {
    const auto written = write_replicas(path_in(folder, kReplicasFile), record.replicas);
    if (!written) return written;
  }
  Result<void> written = write_programs(folder, record);
  if (!written) return written;
  written = write_signals(path_in(folder, kSignalsFile), record.signals);
  if (!written) return written;
  written = write_file(path_in(folder, kSummaryFile), record.summary.indented_text());
  if (!written) return written;
  return write_file(path_in(folder, kManifestFile), manifest_text(record.manifest));
}

// REQUIRES: the folder is locked; a run that is being written has no manifest yet.
Result<void> check_locked_folder(const std::string& folder) {
  const std::filesystem::path path(folder);
  std::error_code error;
  if (std::filesystem::exists(path / kStudyFile, error)) {
    return fail(ErrorCode::kInvalidConfig,
                "holds " + std::string(kStudyFile) +
                    ", so it is a study's folder: expected another one for a run",
                folder);
  }
  if (std::filesystem::exists(path / kManifestFile, error)) return {};
  for (const std::string_view name : {kSummaryFile, kOutcomesFile, kAttemptsFile, kDecisionsFile,
                                      kSignalsFile, kReplicasFile, kSessionsFile, kCallsFile}) {
    if (!std::filesystem::exists(path / name, error)) continue;
    return fail(ErrorCode::kInvalidConfig,
                "holds '" + std::string(name) + "' and no " + std::string(kManifestFile) +
                    ", so it is not a run folder: expected another folder, or one without " +
                    std::string(name),
                folder);
  }
  return {};
}

}  // namespace

Result<void> check_run_folder(const std::string& folder) {
  std::error_code error;
  if (!std::filesystem::exists(folder, error)) return {};
  const Result<FolderLock> lock = FolderLock::take(folder);
  if (!lock) return std::unexpected(lock.error());
  return check_locked_folder(folder);
}

std::string decisions_path(const std::string& folder) {
  return path_in(folder, kDecisionsFile);
}

Result<void> write_run_folder(const std::string& folder, const RunRecord& record,
                              DecisionLog* decisions) {
  if (Result<void> made = make_folder(folder); !made) return made;
  const Result<FolderLock> lock = FolderLock::take(folder);
  if (!lock) return std::unexpected(lock.error());
  if (Result<void> ours = check_locked_folder(folder); !ours) return ours;
  if (Result<void> removed = remove_run(folder); !removed) return removed;
  Result<void> written = write_run(folder, record, decisions);
  // What was written is ours, and without a manifest of no use to anybody.
  if (!written) static_cast<void>(remove_run(folder));
  return written;
}

}  // namespace inferscale
