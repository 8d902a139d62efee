#include "report/studies/page/study_folder_reader.h"
#include "report/run_folder_format.h"

#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "report/json_file.h"

namespace inferscale {
namespace {

constexpr std::string_view kStudySchema = "inferscale.study";
constexpr std::int64_t kStudySchemaVersion = 1;
constexpr std::string_view kRunsFile = "runs.jsonl";
constexpr std::string_view kResultFile = "result.json";
// A hundred thousand candidates with twenty figures each are well below it.
constexpr std::uint64_t kLargestJsonBytes = std::uint64_t{256} << 20U;

bool exists(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

Result<void> check_version(JsonFields& fields, const std::string& path) {
  if (const std::string schema = fields.text("schema"); schema != kStudySchema) {
    fields.fail("schema", "expected '" + std::string(kStudySchema) + "', got '" + schema + "'");
  }
  const std::int64_t version = fields.integer("version");
  if (fields.failed()) return std::unexpected(fields.error());
  if (version == kStudySchemaVersion) return {};
  return fail(ErrorCode::kInvalidInput,
              "version " + std::to_string(version) + " of the study folder is not known: this " +
                  "program reads version " + std::to_string(kStudySchemaVersion),
              path);
}

Result<void> read_manifest(const std::string& path, StudyFolderContent& study) {
  const Result<Json> manifest = read_json_file(path, kLargestJsonBytes);
  if (!manifest) return std::unexpected(manifest.error());
  JsonFields fields(*manifest, {path});
  if (Result<void> known = check_version(fields, path); !known) return known;
  study.kind = fields.text("kind");
  study.name = fields.text("name");
  study.program_version = fields.text("inferscale");
  study.simulated = fields.boolean("simulated");
  if (const Json* plan = fields.object("plan"); plan != nullptr) study.plan = *plan;
  if (const Json* warnings = fields.list("warnings"); warnings != nullptr) {
    for (const Json& warning : *warnings) {
      if (!warning.is_string()) {
        fields.fail("warnings", "expected a list of sentences");
        break;
      }
      study.warnings.push_back(warning.get<std::string>());
    }
  }
  if (fields.failed()) return std::unexpected(fields.error());
  return {};
}

Result<void> read_result(const std::string& path, StudyFolderContent& study) {
  if (!exists(path)) {
    return fail(ErrorCode::kNotFound,
                "the study is not finished: the command that began it goes on from its runs", path);
  }
  Result<Json> result = read_json_file(path, kLargestJsonBytes);
  if (!result) return std::unexpected(result.error());
  JsonFields fields(*result, {path});
  const std::string kind = fields.text("kind");
  if (kind != study.kind) {
    fields.fail("kind",
                "'" + kind + "', but " + std::string(kStudyFile) + " says '" + study.kind + "'");
  }
  if (fields.failed()) return std::unexpected(fields.error());
  study.result = std::move(*result);
  return {};
}

std::vector<std::string> read_settings(JsonFields& fields) {
  std::vector<std::string> settings;
  const Json* list = fields.list("settings");
  if (list == nullptr) return settings;
  for (const Json& setting : *list) {
    if (setting.is_string()) {
      settings.push_back(setting.get<std::string>());
    } else {
      fields.fail("settings", "expected a list of texts 'key=value'");
    }
  }
  return settings;
}

std::vector<std::optional<double>> read_figures(JsonFields& fields,
                                                const std::vector<std::string>& names) {
  std::vector<std::optional<double>> figures(names.size());
  const Json* object = fields.object("figures");
  if (object == nullptr) return figures;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto found = object->find(names[i]);
    if (found == object->end() || found->is_null()) continue;
    if (found->is_number()) {
      figures[i] = found->get<double>();
    } else {
      fields.fail("figures." + names[i], "expected a number");
    }
  }
  return figures;
}

StudyRun read_run(JsonFields& fields, const StudyRunsWanted& wanted) {
  StudyRun run;
  run.scenario = fields.text("scenario");
  run.settings = read_settings(fields);
  run.seed = fields.unsigned_integer("seed");
  if (fields.has("scales") && !fields.is_null("scales")) {
    if (const Json* scales = fields.object("scales"); scales != nullptr) run.scales = *scales;
  }
  if (fields.has("failure") && !fields.is_null("failure")) run.failure = fields.text("failure");
  if (run.failure.empty()) {
    run.figures = read_figures(fields, wanted.figures);
  } else {
    run.figures.resize(wanted.figures.size());
  }
  return run;
}

Result<void> read_runs(const std::string& path, const StudyRunsWanted& wanted,
                       StudyFolderContent& study) {
  std::size_t later_failures = 0;
  return read_json_lines(path, [&](JsonFields& fields) {
    StudyRun run = read_run(fields, wanted);
    const bool failed = !run.failure.empty();
    ++study.runs_in_all;
    study.runs_failed += failed ? 1 : 0;
    const bool among_first = study.runs_in_all <= wanted.most_runs;
    if (among_first || (failed && later_failures++ < wanted.most_failed_runs)) {
      study.runs.push_back(std::move(run));
    }
  });
}

}  // namespace

bool is_study_folder(const std::string& folder) {
  return exists(folder + "/" + std::string(kStudyFile));
}

Result<StudyFolderContent> read_study_folder(const std::string& folder,
                                             const StudyRunsWanted& wanted) {
  if (!is_study_folder(folder)) {
    return fail(ErrorCode::kNotFound, "expected a study folder, which holds study.json", folder);
  }
  const auto path = [&](std::string_view name) { return folder + "/" + std::string(name); };
  StudyFolderContent study;
  Result<void> read = read_manifest(path(kStudyFile), study);
  if (read) read = read_result(path(kResultFile), study);
  if (read) read = read_runs(path(kRunsFile), wanted, study);
  if (!read) return std::unexpected(read.error());
  return study;
}

}  // namespace inferscale
