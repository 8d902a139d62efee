#include "cli/study_session.h"

#include <fmt/format.h>

#include "base/number_text.h"
#include "cli/launch.h"
#include "cli/plugin_path.h"
#include "cli/terminal.h"
#include "cli/version.h"
#include "report/studies/page/study_page.h"
#include "study/executors/executors.h"

namespace inferscale {
namespace {

constexpr std::int64_t kMostThreads = 1024;

Result<int> threads_of(const StudyFlags& flags, const RankMail& ranks) {
  if (flags.jobs.empty()) return default_threads(ranks.ranks_on_machine());
  const std::optional<std::int64_t> jobs = parse_whole(flags.jobs);
  if (jobs && *jobs >= 1 && *jobs <= kMostThreads) return static_cast<int>(*jobs);
  return fail(ErrorCode::kInvalidConfig, "--jobs '" + flags.jobs +
                                             "': expected a whole number from 1 to " +
                                             std::to_string(kMostThreads));
}

}  // namespace

struct StudySession::State {
  StudyFlags flags;
  std::vector<Scenario> scenarios;
  StudyManifest manifest;
  std::unique_ptr<StudyFolder> folder;  // none on other ranks than 0
  std::optional<ProgressLine> progress;
  std::unique_ptr<RunExecutor> executor;
};

void declare_study_flags(Arguments& arguments, StudyFlags& flags) {
  arguments.runs_on_all_ranks();
  arguments.flag("--example", flags.example, "the example that is part of the program");
  arguments.repeated("--set", flags.settings,
                     "key.path=value: overrides a key of the configuration");
  declare_plugin_path(arguments);
  arguments.option("--out", flags.out,
                   "write a study folder, or go on with the study that it holds "
                   "(docs/formats/study_folder.md)");
  arguments.option("--jobs", flags.jobs,
                   "runs at the same time (default: one for each core; with mpirun, on each rank)");
  arguments.flag("--json", flags.json, "print the result as JSON");
}

Result<StudySession> StudySession::start(const StudyFlags& flags, std::vector<Scenario> scenarios,
                                         StudyManifest manifest) {
  for (const Scenario& scenario : scenarios) {
    const PreparedRun& run = scenario.base();
    const Result<void> seeds = check_seeds(run.config.seed, run.study, scenario.label());
    if (!seeds) return std::unexpected(seeds.error());
  }
  auto state = std::make_unique<State>();
  state->flags = flags;
  state->scenarios = std::move(scenarios);
  state->manifest = std::move(manifest);
  state->manifest.version = kVersion;
  RankMail& ranks = joined_ranks();
  const Result<int> threads = threads_of(flags, ranks);
  if (!threads) return std::unexpected(threads.error());
  // Before the work, so that what can't be written costs no time.
  if (!flags.out.empty() && speaks()) {
    Result<std::unique_ptr<StudyFolder>> folder = StudyFolder::open(flags.out, state->manifest);
    if (!folder) return std::unexpected(folder.error());
    state->folder = std::move(*folder);
  }
  listen_for_stop();
  const std::string on = ranks.ranks() == 1 ? "" : fmt::format(" on {} ranks", ranks.ranks());
  state->progress.emplace(state->manifest.kind + on, 0, "runs");
  state->executor =
      make_executor(state->scenarios, ranks,
                    {.threads = *threads,
                     .folder = state->folder.get(),
                     .stop = &stop_requested(),
                     .identity = kVersion + state->manifest.plan.text(),
                     .progress = [&line = *state->progress](const RunProgress& progress) {
                       line.show_part(progress.done, progress.asked, progress.reused);
                     }});
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
  State& state = *state_;
  if (!speaks()) return 0;
  state.progress.reset();
  // Before anything is written: a result that can't be shown is no result.
  const Result<std::string> shown = text(result.text(), plot_glyphs());
  if (!shown) return std::unexpected(shown.error());
  if (state.folder) {
    const std::string& path = state.folder->path();
    if (Result<void> written = state.folder->finish(result); !written) {
      return std::unexpected(written.error());
    }
    if (Result<void> written = write_study_report(path, path + "/report.html"); !written) {
      return std::unexpected(written.error());
    }
  }
  if (state.flags.json) {
    fmt::print("{}", result.indented_text());
    return 0;
  }
  fmt::print("{}", *shown);
  for (const std::string& warning : state.manifest.warnings) fmt::print("\nNote: {}\n", warning);
  if (state.folder) {
    fmt::print("\nStudy folder: {}  (a page with all plots: report.html in it)\n",
               state.folder->path());
  }
  return 0;
}

}  // namespace inferscale
