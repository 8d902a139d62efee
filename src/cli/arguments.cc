#include "cli/arguments.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <map>
#include <optional>
#include <system_error>

#include "base/config_reader.h"
#include "base/nearest_word.h"
#include "cli/launch.h"
#include "cli/version.h"

namespace inferscale {
namespace {

class AppArguments final : public Arguments {
 public:
  explicit AppArguments(CLI::App& app) : app_(app) {}
  void flag(const std::string& name, bool& value, const std::string& help) override {
    app_.add_flag(name, value, help);
  }
  void option(const std::string& name, std::string& value, const std::string& help) override {
    app_.add_option(name, value, help)->check([](const std::string& given) {
      return given.empty() ? std::string("'': expected a value") : std::string();
    });
  }
  void repeated(const std::string& name, std::vector<std::string>& values,
                const std::string& help) override {
    // One value each time, so that "--set a=1 CONFIG" does not take the file for a setting.
    app_.add_option(name, values, help)->expected(1)->take_all()->allow_extra_args(false);
  }
  void positional(const std::string& name, std::string& value, bool required,
                  const std::string& help) override {
    CLI::Option* option = app_.add_option(name, value, help);
    if (required) option->required();
  }
  void rest(const std::string& name, std::vector<std::string>& values,
            const std::string& help) override {
    app_.add_option(name, values, help)->take_all();
  }
  void runs_on_all_ranks() override { on_all_ranks_ = true; }

  CLI::App& app() { return app_; }
  bool on_all_ranks() const { return on_all_ranks_; }

 private:
  CLI::App& app_;
  bool on_all_ranks_ = false;
};

// The exit code of a rank that does not speak is 0: a launcher kills all ranks when one fails, and
// rank 0 may have something to say yet.
int print_error(const Error& error) {
  if (!speaks()) return 0;
  std::fprintf(stderr, "inferscale: %s\n", error.to_string().c_str());
  return exit_code(error.code);
}

int run_here(Command& command, bool on_all_ranks) {
  if (!on_all_ranks && !speaks()) return 0;
  if (on_all_ranks) {
    if (const Result<void> joined = join_ranks(); !joined) return print_error(joined.error());
  }
  const Result<int> code = command.run();
  const int ended = code ? *code : print_error(code.error());
  leave_ranks(code ? std::nullopt : std::optional<Error>(code.error()));
  return ended;
}

// The subcommand of a name, made with the ones above it. One of two words may stand below a command
// of its first word; else that word only groups.
CLI::App& subcommand(CLI::App& app, const std::string& name,
                     std::map<std::string, CLI::App*>& groups) {
  const std::size_t space = name.find(' ');
  if (space == std::string::npos) return *app.add_subcommand(name);
  const std::string group = name.substr(0, space);
  if (!groups.contains(group)) {
    for (CLI::App* command : app.get_subcommands(nullptr)) {
      if (command->get_name() == group) return *command->add_subcommand(name.substr(space + 1));
    }
  }
  CLI::App*& above = groups[group];
  if (above == nullptr) {
    above = app.add_subcommand(group);
    above->require_subcommand(1);
  }
  return *above->add_subcommand(name.substr(space + 1));
}

bool takes_positional(const CLI::App& app) {
  const auto options = app.get_options();
  return std::any_of(options.begin(), options.end(),
                     [](const CLI::Option* option) { return option->get_positional(); });
}

// Whether the line names this command, and not one below it.
bool is_named(const CLI::App& app) {
  return app.parsed() && app.get_subcommands().empty();
}

// Options of a command that stand before the word of another one below it: nobody would read them.
std::string stray_options(const CLI::App& app) {
  for (const CLI::App* command : app.get_subcommands()) {
    if (command->get_subcommands().empty()) continue;
    const std::string below = command->get_subcommands().front()->get_name();
    for (const CLI::Option* option : command->get_options()) {
      if (option->count() == 0) continue;
      return "'" + option->get_name() + "' before '" + below +
             "': expected it behind (inferscale " + command->get_name() + " " + below + " ...)";
    }
  }
  return {};
}

// What a mistyped command or option was probably meant to be: looked up among the commands, or
// among the options of the command that the line names.
std::string suggestion(const CLI::App& app, int argc, char** argv) {
  const CLI::App* level = &app;
  for (int i = 1; i < argc; ++i) {
    const std::string word(argv[i]);
    std::vector<std::string> known;
    if (word.starts_with("--")) {
      for (const CLI::Option* option : level->get_options()) known.push_back(option->get_name());
    } else {
      for (const CLI::App* sub : level->get_subcommands(nullptr)) known.push_back(sub->get_name());
      const bool is_name = std::find(known.begin(), known.end(), word) != known.end();
      if (known.empty() || (takes_positional(*level) && !is_name)) continue;  // an argument
    }
    const std::string name = word.substr(0, word.find('='));
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      const auto near = nearest_word(name, known);
      return "'" + word + "'" + (near ? ": did you mean '" + *near + "'?" : "");
    }
    if (!word.starts_with("--")) level = level->get_subcommand(word);
  }
  return {};
}

// The help that lists what the command that was named takes.
std::string help_of(std::vector<std::pair<AppArguments, Command*>>& declared) {
  for (auto& [arguments, command] : declared) {
    if (is_named(arguments.app())) return "inferscale " + command->name() + " --help";
  }
  return "inferscale --help";
}

int parse_and_run(std::vector<std::unique_ptr<Command>>& commands, int argc, char** argv) {
  CLI::App app("InferScale: how much traffic a self-hosted LLM deployment carries, and how well.",
               "inferscale");
  app.require_subcommand(1);
  app.set_version_flag("--version", std::string("inferscale ") + kVersion);
  app.footer("'inferscale COMMAND --help' describes a command.");
  std::map<std::string, CLI::App*> groups;
  std::vector<std::pair<AppArguments, Command*>> declared;
  for (const std::unique_ptr<Command>& command : commands) {
    CLI::App& sub = subcommand(app, command->name(), groups);
    sub.description(command->summary());
    if (command->is_hidden()) sub.group("");
    AppArguments arguments(sub);
    command->declare(arguments);
    declared.emplace_back(arguments, command.get());
  }
  for (const auto& [group, sub] : groups) {
    std::string contents;
    for (const std::unique_ptr<Command>& command : commands) {
      if (!command->name().starts_with(group + " ")) continue;
      contents += (contents.empty() ? "" : ", ") + command->name().substr(group.size() + 1);
    }
    sub->description(group + ": " + contents);
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& help) {
    return speaks() ? app.exit(help) : 0;
  } catch (const CLI::ParseError& error) {
    const std::string unknown = suggestion(app, argc, argv);
    const std::string what = unknown.empty() ? std::string(error.what()) : "unknown " + unknown;
    return print_error(
        {ErrorCode::kInvalidConfig, what + " (see '" + help_of(declared) + "')", ""});
  }
  if (const std::string stray = stray_options(app); !stray.empty()) {
    return print_error({ErrorCode::kInvalidConfig, stray, ""});
  }
  for (auto& [arguments, command] : declared) {
    if (is_named(arguments.app())) return run_here(*command, arguments.on_all_ranks());
  }
  return 2;
}

}  // namespace

int run_command_line(std::vector<std::unique_ptr<Command>>& commands, int argc, char** argv) {
  try {
    const int code = parse_and_run(commands, argc, argv);
    // Output that could not be written (a full disk behind a redirection) is not a success.
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
      return print_error({ErrorCode::kIo, "standard output could not be written", ""});
    }
    return code;
  } catch (const std::bad_alloc&) {
    return print_error({ErrorCode::kIo, "out of memory", ""});
  } catch (const std::system_error&) {
    return print_error({ErrorCode::kIo, "standard output could not be written", ""});
  }
}

}  // namespace inferscale
