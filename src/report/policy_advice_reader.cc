// What a run folder says of the questions about admission policies.

#include "report/json_file.h"
#include "report/policy_advice.h"
#include "report/run_folder_format.h"
#include "report/run_folder_reader.h"

namespace inferscale {
namespace {

constexpr std::uint64_t kMostBytes = 64U << 20;

// The member at "a.b.c", or null when a step is missing or is not a map.
const Json* find(const Json& object, std::initializer_list<const char*> steps) {
  const Json* at = &object;
  for (const char* step : steps) {
    if (!at->is_object() || !at->contains(step)) return nullptr;
    at = &(*at)[step];
  }
  return at->is_null() ? nullptr : at;
}

std::optional<double> number_at(const Json& object, std::initializer_list<const char*> steps) {
  const Json* value = find(object, steps);
  if (value == nullptr || !value->is_number()) return std::nullopt;
  return value->get<double>();
}

std::optional<std::int64_t> whole_at(const Json& object, std::initializer_list<const char*> steps) {
  const Json* value = find(object, steps);
  if (value == nullptr || !value->is_number_integer()) return std::nullopt;
  return value->get<std::int64_t>();
}

Result<void> read_manifest(const std::string& path, RunEvidence& run) {
  const Result<Json> manifest = read_json_file(path, kMostBytes);
  if (!manifest) return std::unexpected(manifest.error());
  JsonFields fields(*manifest, {path});
  const std::string schema = fields.text("schema");
  const std::int64_t version = fields.integer("version");
  run.simulated = fields.boolean("simulated");
  run.name = fields.text("name");
  if (fields.has("complete")) run.complete = fields.boolean("complete");
  if (!fields.failed() && (schema != kRunSchema || version != kRunSchemaVersion)) {
    fields.fail("version", "expected version " + std::to_string(kRunSchemaVersion) + " of '" +
                               std::string(kRunSchema) + "', got version " +
                               std::to_string(version) + " of '" + schema + "'");
  }
  if (fields.failed()) return std::unexpected(fields.error());
  const Json* classes = find(*manifest, {"config", "slo_classes"});
  if (classes != nullptr && classes->is_object()) {
    run.slo_classes = static_cast<std::int64_t>(classes->size());
  }
  return {};
}

Result<void> read_summary(const std::string& path, RunEvidence& run) {
  const Result<Json> summary = read_json_file(path, kMostBytes);
  if (!summary) return std::unexpected(summary.error());
  run.slo_ttft_ms = number_at(*summary, {"slo", "ttft_ms"});
  const Json* classes = find(*summary, {"slo_classes"});
  if (classes != nullptr && classes->is_array()) {
    for (const Json& each : *classes) {
      if (number_at(each, {"ttft_ms"})) ++run.classes_with_ttft;
    }
  }
  run.kv_used_peak = number_at(*summary, {"kv", "used_fraction_peak"});
  run.prefix_hit_rate = number_at(*summary, {"prefix_hit_rate"});
  run.queue_peak = whole_at(*summary, {"queue", "depth_peak"});
  run.preemptions = whole_at(*summary, {"preemptions"});
  run.sessions = whole_at(*summary, {"sessions", "begun"});
  return {};
}

// Where the run kept none of them there is no such file.
Result<void> missing_is_fine(Result<void> read) {
  if (!read && read.error().code == ErrorCode::kNotFound) return {};
  return read;
}

Result<void> read_signals(const std::string& path, RunEvidence& run) {
  return missing_is_fine(read_json_lines(path, [&](JsonFields& line) {
    ++run.queue_samples;
    if (line.integer("queue_depth") > 0) ++run.queue_samples_above_zero;
    const std::optional<double> used = line.optional_number("kv_used_fraction");
    if (!used) return;
    ++run.kv_samples;
    if (*used >= kKvFull) ++run.kv_samples_full;
  }));
}

Result<void> read_outcomes(const std::string& path, RunEvidence& run) {
  std::int64_t requests = 0;
  std::int64_t with_deadline = 0;
  Result<void> read = read_json_lines(path, [&](JsonFields& line) {
    ++requests;
    if (line.has("deadline_ms") && !line.is_null("deadline_ms")) ++with_deadline;
  });
  if (!read) return missing_is_fine(std::move(read));
  run.requests = requests;
  run.with_deadline = with_deadline;
  return {};
}

}  // namespace

Result<RunEvidence> read_run_evidence(const std::string& folder) {
  if (!is_run_folder(folder)) {
    return fail(ErrorCode::kNotFound,
                "expected the folder of a run (manifest.json), as '--out' writes it", folder);
  }
  RunEvidence run;
  const auto path = [&](std::string_view file) { return folder + "/" + std::string(file); };
  if (Result<void> read = read_manifest(path(kManifestFile), run); !read) {
    return std::unexpected(read.error());
  }
  if (Result<void> read = read_summary(path(kSummaryFile), run); !read) {
    return std::unexpected(read.error());
  }
  if (Result<void> read = read_signals(path(kSignalsFile), run); !read) {
    return std::unexpected(read.error());
  }
  if (Result<void> read = read_outcomes(path(kOutcomesFile), run); !read) {
    return std::unexpected(read.error());
  }
  return run;
}

}  // namespace inferscale
