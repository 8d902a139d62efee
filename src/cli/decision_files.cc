#include "cli/decision_files.h"

#include <filesystem>
#include <fstream>
#include <string_view>
#include <utility>

namespace inferscale {
namespace {

namespace fs = std::filesystem;

fs::path place_of(const std::string& path) {
  std::error_code error;
  const fs::path place = fs::weakly_canonical(fs::absolute(path, error), error);
  return error ? fs::path(path) : place;
}

// A file that is there must begin as what will replace it.
Result<void> check_replaceable(const std::string& path, std::string_view beginning,
                               std::string_view option) {
  std::error_code error;
  if (!fs::is_regular_file(path, error) || fs::file_size(path, error) == 0) return {};
  std::ifstream file(path, std::ios::binary);
  std::string there(beginning.size(), '\0');
  file.read(there.data(), static_cast<std::streamsize>(there.size()));
  if (there == beginning) return {};
  return fail(ErrorCode::kInvalidConfig,
              std::string(option) + ": the file is there and is not one that " +
                  std::string(option) + " wrote: expected another name",
              path);
}

Result<void> check_outside(const std::string& path, const std::string& folder,
                           std::string_view option) {
  if (path.empty() || folder.empty()) return {};
  if (place_of(path).parent_path() != place_of(folder)) return {};
  const std::string name = fs::path(path).filename().string();
  for (const std::string_view own :
       {"manifest.json", "summary.json", "outcomes.jsonl", "attempts.jsonl", "decisions.jsonl",
        "signals.jsonl", "replicas.jsonl", "sessions.jsonl", "calls.jsonl", "report.html"}) {
    if (name != own) continue;
    return fail(ErrorCode::kInvalidConfig,
                std::string(option) + ": the run folder has a file of this name: expected another",
                path);
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<DecisionFiles>> DecisionFiles::open(const std::string& decisions,
                                                           const std::string& chrome_trace,
                                                           const std::string& out) {
  if (!decisions.empty() && place_of(decisions) == place_of(chrome_trace)) {
    return fail(ErrorCode::kInvalidConfig,
                "--decisions and --chrome-trace: expected two different files", decisions);
  }
  struct Wanted {
    const std::string& path;
    std::string_view option;
    std::string_view beginning;
  };
  const Wanted lines{decisions, "--decisions", "{\"event\":"};
  const Wanted chrome{chrome_trace, "--chrome-trace", "{\"displayTimeUnit\":"};
  auto files = std::make_unique<DecisionFiles>();
  for (const Wanted* wanted : {&lines, &chrome}) {
    if (wanted->path.empty()) continue;
    Result<void> fits = check_outside(wanted->path, out, wanted->option);
    if (fits) fits = check_replaceable(wanted->path, wanted->beginning, wanted->option);
    if (!fits) return std::unexpected(fits.error());
    Result<OutputFile> file = OutputFile::create(wanted->path);
    if (!file) return std::unexpected(file.error());
    if (wanted == &lines) {
      files->lines_ = std::make_unique<DecisionTrace>(std::move(*file));
    } else {
      files->chrome_ = std::make_unique<ChromeTrace>(std::move(*file));
    }
  }
  return files;
}

void DecisionFiles::on_step(const StepReport& report) {
  if (lines_) lines_->on_step(report);
  if (chrome_) chrome_->on_step(report);
}

void DecisionFiles::on_route(const RouteReport& report) {
  if (lines_) lines_->on_route(report);
}

Result<void> DecisionFiles::finish(std::span<const Outcome> outcomes) {
  if (lines_) {
    if (const Result<void> written = lines_->finish(); !written) return written;
  }
  return chrome_ ? chrome_->finish(outcomes) : Result<void>();
}

}  // namespace inferscale
