#include "cli/arguments.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <map>
#include <system_error>

#include "base/config_reader.h"
#include "base/nearest_word.h"
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

 private:
  CLI::App& app_;
};

int print_error(const Error& error) {
  std::fprintf(stderr, "inferscale: %s\n", error.to_string().c_str());
  return exit_code(error.code);
}

// The subcommand of a name, made with the ones above it.
CLI::App& subcommand(CLI::App& app, const std::string& name,
                     std::map<std::string, CLI::App*>& groups) {
  const std::size_t space = name.find(' ');
  if (space == std::string::npos) return *app.add_subcommand(name);
  const std::string group = name.substr(0, space);
  CLI::App*& above = groups[group];
  if (above == nullptr) {
    above = app.add_subcommand(group);
    above->require_subcommand(1);
  }
  return *above->add_subcommand(name.substr(space + 1));
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
      if (known.empty()) continue;  // an argument
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

int parse_and_run(std::vector<std::unique_ptr<Command>>& commands, int argc, char** argv) {
  CLI::App app("InferScale: how much traffic a self-hosted LLM deployment carries, and how well.",
               "inferscale");
  app.require_subcommand(1);
  app.set_version_flag("--version", std::string("inferscale ") + kVersion);
  app.footer("'inferscale COMMAND --help' describes a command.");
  std::map<std::string, CLI::App*> groups;
  std::vector<std::pair<CLI::App*, Command*>> declared;
  for (const std::unique_ptr<Command>& command : commands) {
    CLI::App& sub = subcommand(app, command->name(), groups);
    sub.description(command->summary());
    AppArguments arguments(sub);
    command->declare(arguments);
    declared.emplace_back(&sub, command.get());
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
    return app.exit(help);
  } catch (const CLI::ParseError& error) {
    const std::string unknown = suggestion(app, argc, argv);
    const std::string what = unknown.empty() ? std::string(error.what()) : "unknown " + unknown;
    return print_error({ErrorCode::kInvalidConfig, what + " (see 'inferscale --help')", ""});
  }
  for (const auto& [sub, command] : declared) {
    if (!sub->parsed()) continue;
    const Result<int> code = command->run();
    return code ? *code : print_error(code.error());
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
