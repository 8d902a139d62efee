#include "cli/study_session.h"

#include <fmt/format.h>

#include "cli/terminal.h"
#include "cli/version.h"
#include "study/serial_executor.h"

namespace inferscale {

struct StudySession::State {
  StudyFlags flags;
  std::vector<Scenario> scenarios;
  StudyManifest manifest;
  std::unique_ptr<RunExecutor> executor;
};

void declare_study_flags(Arguments& arguments, StudyFlags& flags) {
  arguments.flag("--example", flags.example, "the example that is part of the program");
  arguments.repeated("--set", flags.settings,
                     "key.path=value: overrides a key of the configuration");
  arguments.option("--out", flags.out, "write a study folder (docs/formats/study_folder.md)");
  arguments.option("--jobs", flags.jobs, "runs at the same time (default: one for each core)");
  arguments.flag("--json", flags.json, "print the result as JSON");
}

Result<StudySession> StudySession::start(const StudyFlags& flags, std::vector<Scenario> scenarios,
                                         StudyManifest manifest) {
  auto state = std::make_unique<State>();
  state->flags = flags;
  state->scenarios = std::move(scenarios);
  state->manifest = std::move(manifest);
  state->manifest.version = kVersion;
  listen_for_stop();
  state->executor = make_serial_executor(state->scenarios, &stop_requested());
  return StudySession(std::move(state));
}

StudySession::StudySession(std::unique_ptr<State> state) : state_(std::move(state)) {}
StudySession::StudySession(StudySession&&) noexcept = default;
StudySession& StudySession::operator=(StudySession&&) noexcept = default;
StudySession::~StudySession() = default;

const std::vector<Scenario>& StudySession::scenarios() const {
  return state_->scenarios;
}

RunExecutor& StudySession::executor() {
  return *state_->executor;
}

Result<int> StudySession::finish(const JsonValue& result, StudyText text) {
  if (state_->flags.json) {
    fmt::print("{}", result.indented_text());
    return 0;
  }
  const Result<std::string> shown = text(result.text(), plot_glyphs());
  if (!shown) return std::unexpected(shown.error());
  fmt::print("{}", *shown);
  for (const std::string& warning : state_->manifest.warnings) fmt::print("\nNote: {}\n", warning);
  return 0;
}

}  // namespace inferscale
