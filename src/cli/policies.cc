// `inferscale policies`: the admission policies that there are, one of them in full, which one a
// run asks for, and the child process that tries a plug-in.

#include <fmt/format.h>

#include <cstdio>
#include <optional>
#include <string_view>

#include "base/nearest_word.h"
#include "cli/commands.h"
#include "cli/plugin_path.h"
#include "cli/policy_table.h"
#include "report/policy_advice.h"

namespace inferscale {
namespace {

Result<const PolicyEntry*> find_named(const std::string& name, const PluginSearch& search) {
  if (const PolicyEntry* entry = find_policy(name)) return entry;
  // It may be one of those that were of no use.
  if (!search.refused.empty()) return std::unexpected(search.refused.front());
  std::vector<std::string> names;
  for (const PolicyEntry& entry : all_policies()) names.emplace_back(entry.card.name);
  const auto near = nearest_word(name, names);
  return fail(ErrorCode::kNotFound, "no policy '" + name + "'" +
                                        (near ? ": did you mean '" + *near + "'?" : "") +
                                        " (see 'inferscale policies')");
}

std::string_view word_of(std::optional<bool> yes) {
  if (!yes) return "unknown";
  return *yes ? "yes" : "no";
}

class Policies final : public Command {
 public:
  std::string name() const override { return "policies"; }
  std::string summary() const override {
    return "List the admission policies with what they need, or show one in full";
  }
  void declare(Arguments& arguments) override {
    arguments.positional("NAME", name_, false, "the policy to show");
    arguments.flag("--json", json_, "as JSON");
    declare_plugin_path(arguments);
  }
  Result<int> run() override {
    const PluginSearch& search = search_plugins();
    if (!name_.empty()) return show_one(search);
    fmt::print("{}", json_ ? policies_json(search).indented_text() : policies_text(search));
    std::fflush(stdout);
    for (const Error& error : search.refused) {
      fmt::print(stderr, "inferscale: {}\n", error.to_string());
    }
    return search.refused.empty() ? 0 : exit_code(search.refused.front().code);
  }

 private:
  Result<int> show_one(const PluginSearch& search) const {
    const Result<const PolicyEntry*> entry = find_named(name_, search);
    if (!entry) return std::unexpected(entry.error());
    fmt::print("{}",
               json_ ? policy_json(**entry, search).indented_text() : policy_text(**entry, search));
    return 0;
  }

  std::string name_;
  bool json_ = false;
};

class Recommend final : public Command {
 public:
  std::string name() const override { return "policies recommend"; }
  std::string summary() const override {
    return "Which policy a run asks for, answered from its own evidence";
  }
  void declare(Arguments& arguments) override {
    arguments.positional("RUN_FOLDER", folder_, true, "a folder that '--out' of a run wrote");
    arguments.flag("--json", json_, "as JSON");
  }
  Result<int> run() override {
    const Result<RunEvidence> evidence = read_run_evidence(folder_);
    if (!evidence) return std::unexpected(evidence.error());
    const PolicyAdvice advice = advise(*evidence);
    if (json_) {
      fmt::print("{}", advice_json(*evidence, advice).indented_text());
      return 0;
    }
    fmt::print("{}{}\n\n", evidence->name, evidence->simulated ? " (simulated)" : "");
    for (const AdviceAnswer& answer : advice.answers) {
      fmt::print("  {:<32}{:<9}{}\n", answer.question, word_of(answer.yes), answer.evidence);
    }
    fmt::print("\n  {}\n  Policies:", advice.why);
    for (const std::string& policy : advice.policies) fmt::print(" {}", policy);
    fmt::print("\n");
    for (const std::string& note : advice.notes) fmt::print("  Note: {}\n", note);
    return 0;
  }

 private:
  std::string folder_;
  bool json_ = false;
};

// Started by the program itself, in a child process: loads a plug-in and reports.
class Probe final : public Command {
 public:
  std::string name() const override { return "policies probe"; }
  std::string summary() const override { return "Try a plug-in, as the program does before use"; }
  bool is_hidden() const override { return true; }
  void declare(Arguments& arguments) override {
    arguments.positional("FILE", file_, true, "the shared object");
  }
  Result<int> run() override {
    report_probe(file_);
    return 0;
  }

 private:
  std::string file_;
};

}  // namespace

std::unique_ptr<Command> make_policies_command() {
  return std::make_unique<Policies>();
}
std::unique_ptr<Command> make_policies_recommend_command() {
  return std::make_unique<Recommend>();
}
std::unique_ptr<Command> make_policies_probe_command() {
  return std::make_unique<Probe>();
}

}  // namespace inferscale
