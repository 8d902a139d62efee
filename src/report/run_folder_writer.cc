#include "report/run_folder_writer.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "base/check.h"
#include "base/edge/output_file.h"
#include "report/jsonl_lines.h"
#include "report/run_folder_format.h"

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

std::string manifest_text(const JsonValue& facts) {
  CHECK(facts.is_object()) << "the manifest must be an object";
  JsonValue manifest = JsonValue::object();
  manifest.add("schema", kRunSchema).add("version", kRunSchemaVersion);
  for (const JsonValue::Member& fact : facts.members()) manifest.add(fact.key, fact.value);
  return manifest.indented_text();
}

}  // namespace

Result<void> write_outcomes(const std::string& path, std::span<const Outcome> outcomes,
                            const Slo& slo, const CarriedColumns& carried) {
  for (const std::size_t rows : {carried.tenant.size(), carried.session.size(),
                                 carried.priority.size(), carried.deadline_ms.size()}) {
    CHECK(rows == 0 || rows >= outcomes.size()) << "a carried column is shorter than the run";
  }
  return write_lines(path, outcomes.size(), [&](std::string& out, std::size_t i) {
    append_outcome_line(out, i, outcomes[i], slo, carried);
  });
}

Result<void> write_signals(const std::string& path, std::span<const SignalSample> signals) {
  return write_lines(path, signals.size(),
                     [&](std::string& out, std::size_t i) { append_signal_line(out, signals[i]); });
}

Result<void> write_run_folder(const std::string& folder, const RunRecord& record) {
  if (Result<void> made = make_folder(folder); !made) return made;
  const auto path = [&](std::string_view name) { return folder + "/" + std::string(name); };
  for (const std::string_view name : {kManifestFile, kSummaryFile, kOutcomesFile, kSignalsFile}) {
    if (Result<void> removed = remove_old(path(name)); !removed) return removed;
  }
  if (record.with_outcomes) {
    const auto written =
        write_outcomes(path(kOutcomesFile), record.outcomes, record.slo, record.carried);
    if (!written) return written;
  }
  if (auto written = write_signals(path(kSignalsFile), record.signals); !written) return written;
  auto written = write_file(path(kSummaryFile), record.summary.indented_text());
  if (!written) return written;
  return write_file(path(kManifestFile), manifest_text(record.manifest));
}

}  // namespace inferscale
