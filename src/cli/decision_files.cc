#include "cli/decision_files.h"

#include <utility>

namespace inferscale {

Result<std::unique_ptr<DecisionFiles>> DecisionFiles::open(const std::string& decisions,
                                                           const std::string& chrome_trace) {
  auto files = std::make_unique<DecisionFiles>();
  if (!decisions.empty()) {
    Result<OutputFile> file = OutputFile::create(decisions);
    if (!file) return std::unexpected(file.error());
    files->lines_ = std::make_unique<DecisionTrace>(std::move(*file));
  }
  if (!chrome_trace.empty()) {
    Result<OutputFile> file = OutputFile::create(chrome_trace);
    if (!file) return std::unexpected(file.error());
    files->chrome_ = std::make_unique<ChromeTrace>(std::move(*file));
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
