#include "report/run_folder_reader.h"

#include <filesystem>
#include <limits>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "report/json_fields.h"
#include "report/json_file.h"
#include "report/run_folder_format.h"
#include "report/run_folder_lines.h"
#include "report/session_reader.h"

namespace inferscale {
namespace {

constexpr std::uint64_t kLargestJsonBytes = std::uint64_t{16} << 20U;

Result<Json> read_object(const std::string& path) {
  return read_json_file(path, kLargestJsonBytes);
}

std::optional<Error> first_error(std::initializer_list<const JsonFields*> all) {
  for (const JsonFields* fields : all) {
    if (fields->failed()) return fields->error();
  }
  return std::nullopt;
}

Result<void> check_version(JsonFields& fields, const std::string& path) {
  if (const std::string schema = fields.text("schema"); schema != kRunSchema) {
    fields.fail("schema", "expected '" + std::string(kRunSchema) + "', got '" + schema + "'");
  }
  const std::int64_t version = fields.integer("version");
  if (fields.failed()) return std::unexpected(fields.error());
  if (version == kRunSchemaVersion) return {};
  return fail(ErrorCode::kInvalidInput,
              "version " + std::to_string(version) + " of the run folder is not known: this " +
                  "program reads version " + std::to_string(kRunSchemaVersion),
              path);
}

Result<void> check_manifest(const Json& manifest, const std::string& path, RunFolder& folder) {
  JsonFields fields(manifest, {path});
  if (Result<void> known = check_version(fields, path); !known) return known;
  folder.name = fields.text("name");
  folder.complete = fields.boolean("complete");
  fields.boolean("simulated");
  fields.text("inferscale");
  fields.text("mode");
  fields.integer("seed");
  fields.object("config");
  fields.object("derived");
  if (const Json* warnings = fields.list("warnings"); warnings != nullptr) {
    for (const Json& warning : *warnings) {
      if (!warning.is_string()) fields.fail("warnings", "expected a list of sentences");
    }
  }
  if (fields.failed()) return std::unexpected(fields.error());
  return {};
}

void check_numbers(JsonFields& fields, const std::vector<const char*>& keys) {
  for (const char* key : keys) fields.optional_number(key);
}

Result<void> check_group(const Json& summary, const std::string& path, const char* name,
                         const std::vector<const char*>& keys) {
  JsonFields fields(summary, {path});
  const Json* group = fields.object(name);
  if (group == nullptr) return std::unexpected(fields.error());
  JsonFields members(*group, {path}, std::string(name) + ".");
  check_numbers(members, keys);
  if (members.failed()) return std::unexpected(members.error());
  return {};
}

Result<void> check_slo(const Json& summary, const std::string& path) {
  JsonFields fields(summary, {path});
  if (fields.is_null("slo")) return {};
  if (fields.failed()) return std::unexpected(fields.error());
  Result<void> numbers = check_group(summary, path, "slo",
                                     {"ttft_ms", "itl_ms", "e2e_ms", "met", "ttft_met", "itl_met",
                                      "e2e_met", "goodput", "goodput_rps", "attainment_admitted"});
  if (!numbers) return numbers;
  JsonFields slo(summary["slo"], {path}, "slo.");
  slo.text("itl_rule");
  if (slo.failed()) return std::unexpected(slo.error());
  return {};
}

// The classes of service, of a run that has them.
Result<void> check_classes(const Json& summary, const std::string& path) {
  JsonFields fields(summary, {path});
  if (!fields.has("slo_classes")) return {};
  const Json* classes = fields.list("slo_classes");
  if (classes == nullptr) return std::unexpected(fields.error());
  for (const Json& each : *classes) {
    if (!each.is_object()) {
      fields.fail("slo_classes", "expected a list of objects");
      return std::unexpected(fields.error());
    }
    JsonFields own(each, {path}, "slo_classes.");
    own.text("name");
    own.text("itl_rule");
    own.integer("priority", std::numeric_limits<std::int32_t>::min());
    check_numbers(
        own, {"ttft_ms", "itl_ms", "e2e_ms", "arrived", "counted", "finished", "refused",
              "deferred", "abandoned", "met", "goodput", "attainment_admitted", "ttft_ms_p95"});
    if (own.failed()) return std::unexpected(own.error());
  }
  return {};
}

// Keys that came later than version 1 did: of the right type where they are.
Result<void> check_later_keys(const Json& summary, const std::string& path) {
  JsonFields fields(summary, {path});
  if (fields.has("steady")) fields.optional_boolean("steady");
  if (fields.has("prefix_hit_rate")) fields.optional_number("prefix_hit_rate");
  if (fields.failed()) return std::unexpected(fields.error());
  const std::vector<std::pair<const char*, std::vector<const char*>>> groups = {
      {"warmup", {"end_s", "excluded", "counted"}},
      {"backlog", {"arrivals", "arrivals_rps", "growth_rps", "growth_rps_low", "growth_rps_high"}},
      {"confidence", {"level"}}};
  for (const auto& [name, keys] : groups) {
    if (!fields.has(name)) continue;
    if (Result<void> group = check_group(summary, path, name, keys); !group) return group;
  }
  if (!fields.has("confidence")) return {};
  const Json& confidence = summary["confidence"];
  for (const auto& [name, interval] : confidence.items()) {
    if (!interval.is_object()) continue;  // null: no interval
    if (Result<void> group = check_group(confidence, path, name.c_str(), {"low", "high"}); !group) {
      return group;
    }
  }
  return {};
}

// What a page on agent programs is made from.
Result<void> check_sessions(const Json& summary, const std::string& path) {
  if (!summary.contains("sessions")) return {};
  if (Result<void> found =
          check_group(summary, path, "sessions", {"begun", "complete", "failed", "unfinished"});
      !found) {
    return found;
  }
  const Json& sessions = summary["sessions"];
  const std::vector<const char*> population = {"count", "mean", "p50", "p90", "p95", "p99", "max"};
  const std::vector<std::pair<const char*, std::vector<const char*>>> groups = {
      {"turns", {"all", "finished", "failed", "unfinished", "unreached", "attempts"}},
      {"turn_ttft_ms", population},
      {"turn_e2e_ms", population},
      {"makespan_s", population},
      {"stretch", population},
      {"slo", {"turns_met", "turn_attainment", "makespan_s", "sessions_met", "session_attainment"}},
      {"reuse",
       {"turns_with_history", "turns_hit", "history_tokens", "history_recomputed_tokens",
        "history_hit_rate", "prompt_hit_rate", "routing_locality", "recompute_s", "transfer_s"}},
      {"fairness", {"jain", "starved", "queue_s_max"}},
      {"kv",
       {"hbm_gb_seconds", "idle_gb_seconds", "gb_mean", "gb_peak_replica", "tokens_peak_replica"}}};
  for (const auto& [name, keys] : groups) {
    if (Result<void> group = check_group(sessions, path, name, keys); !group) return group;
  }
  if (Result<void> group = check_group(sessions["kv"], path, "evicted",
                                       {"ttl_tokens", "ttl_times", "pressure_tokens",
                                        "pressure_times", "ended_tokens", "recompute_tokens"});
      !group) {
    return group;
  }
  JsonFields fields(sessions, {path}, "sessions.");
  if (fields.has("times")) {  // came later
    if (Result<void> group = check_group(sessions, path, "times",
                                         {"last_begin_s", "after_share", "after_sessions_mean",
                                          "most_turns_s", "most_turns_output_tokens_per_s"});
        !group) {
      return group;
    }
  }
  const bool no_host = fields.is_null("host");
  if (fields.failed()) return std::unexpected(fields.error());
  if (no_host) return {};
  return check_group(
      sessions, path, "host",
      {"offloads", "offloaded_tokens", "offload_s", "exposed_s", "restores", "restored_tokens",
       "restore_s", "evicted_tokens", "gb_seconds", "gb_peak_replica"});
}

// What a page on admission is made from.
Result<void> check_admission(const Json& summary, const std::string& path) {
  if (!summary.contains("admission")) return {};
  const std::vector<std::pair<const char*, std::vector<const char*>>> groups = {
      {"requests", {"arrived", "gave_up", "left", "elsewhere"}},
      {"attempts", {"made", "amplification", "engine_refusals"}},
      {"slo",
       {"counted", "admitted", "met", "goodput", "attainment_admitted", "goodput_of_arrivals_rps",
        "offered_rps", "arrival_window_s"}},
      {"tokens", {"wasted_share"}},
      {"liveness", {}}};
  if (Result<void> found = check_group(summary, path, "admission", {}); !found) return found;
  const Json& admission = summary["admission"];
  for (const auto& [name, keys] : groups) {
    if (Result<void> group = check_group(admission, path, name, keys); !group) return group;
  }
  JsonFields fields(admission, {path}, "admission.");
  fields.text("policy");
  fields.list("signals");
  const bool decided = !fields.is_null("decisions");
  if (fields.failed()) return std::unexpected(fields.error());
  if (!decided) return {};
  return check_group(
      admission, path, "decisions",
      {"all", "presented", "admitted", "deferred", "rejected", "left", "held", "shadow",
       "shadow_refusals", "policy_decisions", "policy_refusals", "stale", "policy_failures"});
}

Result<void> check_summary(const Json& summary, const std::string& path) {
  for (const char* name : {"ttft_ms", "tpot_ms", "itl_ms", "e2e_ms", "queue_ms", "itl_ms_max"}) {
    Result<void> group =
        check_group(summary, path, name, {"count", "mean", "p50", "p90", "p95", "p99", "max"});
    if (!group) return group;
  }
  const std::vector<std::pair<const char*, std::vector<const char*>>> groups = {
      {"requests", {"arrived", "finished", "refused", "unfinished"}},
      {"throughput",
       {"offered_rps", "finished_rps", "output_tokens_per_s", "total_tokens_per_s", "prompt_tokens",
        "output_tokens"}},
      {"kv", {"used_fraction_mean", "used_fraction_peak"}},
      {"batch", {"running_mean", "running_peak"}},
      {"queue", {"depth_peak"}}};
  for (const auto& [name, keys] : groups) {
    if (Result<void> group = check_group(summary, path, name, keys); !group) return group;
  }
  if (Result<void> slo = check_slo(summary, path); !slo) return slo;
  if (Result<void> classes = check_classes(summary, path); !classes) return classes;
  if (Result<void> later = check_later_keys(summary, path); !later) return later;
  if (Result<void> sessions = check_sessions(summary, path); !sessions) return sessions;
  if (Result<void> admission = check_admission(summary, path); !admission) return admission;
  JsonFields fields(summary, {path});
  check_numbers(fields, {"duration_s", "arrival_window_s", "drain_s", "utilisation", "preemptions",
                         "recomputed_tokens", "accelerator_hours",
                         "accelerator_hours_per_million_output_tokens"});
  JsonFields requests(summary["requests"], {path}, "requests.");
  requests.integer("arrived");
  requests.object("refused_by_reason");
  if (const auto error = first_error({&fields, &requests})) return std::unexpected(*error);
  return {};
}

Result<void> read_warmup(const Json& summary, const std::string& path, RunFolder& folder) {
  if (!summary.contains("warmup")) return {};
  JsonFields warmup(summary["warmup"], {path}, "warmup.");
  folder.warmup_excluded = static_cast<std::size_t>(warmup.integer("excluded"));
  if (folder.warmup_excluded > summary["requests"]["arrived"].get<std::size_t>()) {
    warmup.fail("excluded", "more than requests.arrived");
  }
  if (warmup.failed()) return std::unexpected(warmup.error());
  return {};
}

// REQUIRES: the outcomes are read.
Result<void> read_programs(const std::string& folder, const Json& summary, RunFolder& run) {
  const std::string path = folder + "/" + std::string(kSessionsFile);
  std::error_code ignored;
  run.has_sessions = std::filesystem::exists(path, ignored);
  if (!run.has_sessions) return {};
  const std::string summary_path = folder + "/" + std::string(kSummaryFile);
  JsonFields fields(summary, {summary_path});
  if (fields.object("sessions") == nullptr) return std::unexpected(fields.error());
  constexpr double kLongestSeconds = 4e9;
  const double duration_s = fields.number("duration_s");
  if (!(duration_s >= 0 && duration_s <= kLongestSeconds)) {
    fields.fail("duration_s", "expected 0 to 4e9 seconds");
  }
  if (fields.failed()) return std::unexpected(fields.error());
  run.end = Instant() + Duration::from_seconds(duration_s);
  if (Result<void> sessions = read_sessions(path, run); !sessions) return sessions;
  if (!run.has_outcomes) return {};
  return read_calls(folder + "/" + std::string(kCallsFile), run);
}

}  // namespace

bool is_run_folder(const std::string& folder) {
  std::error_code ignored;
  return std::filesystem::exists(folder + "/" + std::string(kManifestFile), ignored);
}

Result<RunFolder> read_run_folder(const std::string& folder) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(folder, ignored)) {
    return fail(ErrorCode::kNotFound, "expected a run folder", folder);
  }
  const auto path = [&](std::string_view name) { return folder + "/" + std::string(name); };
  RunFolder run;
  const Result<Json> manifest = read_object(path(kManifestFile));
  if (!manifest) return std::unexpected(manifest.error());
  auto checked = check_manifest(*manifest, path(kManifestFile), run);
  if (!checked) return std::unexpected(checked.error());
  const Result<Json> summary = read_object(path(kSummaryFile));
  if (!summary) return std::unexpected(summary.error());
  checked = check_summary(*summary, path(kSummaryFile));
  if (!checked) return std::unexpected(checked.error());
  checked = read_warmup(*summary, path(kSummaryFile), run);
  if (!checked) return std::unexpected(checked.error());
  run.has_outcomes = std::filesystem::exists(path(kOutcomesFile), ignored);
  if (run.has_outcomes) {
    checked = read_outcomes(path(kOutcomesFile), run);
    if (!checked) return std::unexpected(checked.error());
    const auto arrived = (*summary)["requests"]["arrived"].get<std::size_t>();
    if (arrived != run.outcomes.size()) {
      return fail(ErrorCode::kInvalidInput,
                  "holds " + std::to_string(run.outcomes.size()) + " requests, but " +
                      std::string(kSummaryFile) + " counts " + std::to_string(arrived) +
                      ": lines are missing",
                  path(kOutcomesFile));
    }
  }
  checked = read_signals(path(kSignalsFile), run);
  if (!checked) return std::unexpected(checked.error());
  if (std::filesystem::exists(path(kReplicasFile), ignored)) {
    checked = read_replicas(path(kReplicasFile), run);
    if (!checked) return std::unexpected(checked.error());
  }
  checked = read_programs(folder, *summary, run);
  if (!checked) return std::unexpected(checked.error());
  run.manifest_json = manifest->dump();
  run.summary_json = summary->dump();
  return run;
}

}  // namespace inferscale
