// `inferscale validate`: how far are predictions from what was measured?

#include "study/validation/validate.h"

#include "base/edge/yaml_config.h"
#include "cli/commands.h"
#include "cli/run_loading.h"
#include "cli/study_session.h"
#include "cli/validation_example.h"
#include "report/studies/validation/validate_text.h"
#include "study/readers/case_file.h"
#include "study/validation/case_reader.h"
#include "study/validation/case_scenarios.h"
#include "study/validation/validate_json.h"

namespace inferscale {
namespace {

class Validate final : public Command {
 public:
  std::string name() const override { return "validate"; }
  std::string summary() const override {
    return "Compare predictions with measured cases: errors by metric, load, hardware and model";
  }
  void declare(Arguments& arguments) override {
    arguments.positional("CASES", file_, false,
                         "measured cases, YAML or JSON lines (docs/formats/validation_cases.md)");
    declare_study_flags(arguments, flags_);
  }
  Result<int> run() override;

 private:
  Result<ConfigNode> case_tree() const;
  Result<CaseFile> load_cases() const;

  std::string file_;
  StudyFlags flags_;
};

// The path of a file that a file beside it names.
std::string beside(const std::string& path, const std::string& file) {
  return file.starts_with('/') ? file : folder_of(path) + file;
}

Result<ConfigNode> Validate::case_tree() const {
  const Result<void> one = check_one_config(file_, flags_.example, "a file of measured cases");
  if (!one) return std::unexpected(one.error());
  return flags_.example ? parse_case_text(kValidationExample, std::string(kValidationExampleName))
                        : read_case_file(file_);
}

Result<CaseFile> Validate::load_cases() const {
  const Result<ConfigNode> tree = case_tree();
  if (!tree) return std::unexpected(tree.error());
  ConfigNode set = ConfigNode::map({.source = "--set"});
  for (const std::string& setting : flags_.settings) {
    const Result<void> applied = apply_setting(set, setting);
    if (!applied) return std::unexpected(applied.error());
  }
  const ConfigNode* study = set.find("study");
  const CaseInputs inputs{.resolve_model = inputs_beside(file_).resolve_model,
                          .load_config = [this](const std::string& file) {
                            return read_config_tree(beside(file_, file), {});
                          }};
  Result<CaseFile> cases = read_cases(*tree, study == nullptr ? ConfigNode() : *study, inputs);
  if (!cases) return cases;
  for (ValidationCase& each : cases->cases) {
    if (each.not_simulated) continue;
    for (const std::string& setting : flags_.settings) {
      const Result<void> applied = apply_setting(each.config, setting);
      if (!applied) return std::unexpected(applied.error());
    }
  }
  return cases;
}

Result<int> Validate::run() {
  Result<CaseFile> file = load_cases();
  if (!file) return std::unexpected(file.error());
  Result<CaseScenarios> made = make_case_scenarios(file->cases, [this](const ValidationCase& each) {
    return inputs_beside(each.config_file.empty() ? file_ : beside(file_, each.config_file));
  });
  if (!made) return std::unexpected(made.error());
  StudyManifest manifest{
      .kind = "validate",
      .version = {},
      .name = flags_.example ? std::string(kValidationExampleName) : file_,
      .plan = validate_plan(file->cases, made->scenarios, made->of_case, file->options),
      .warnings = {}};
  Result<StudySession> session =
      StudySession::start(flags_, std::move(made->scenarios), std::move(manifest));
  if (!session) return std::unexpected(session.error());
  const Result<ValidateResult> result = validate(file->cases, session->scenarios(), made->of_case,
                                                 file->options, session->executor());
  if (!result) return std::unexpected(result.error());
  return session->finish(validate_json(*result, file->cases, session->scenarios(), file->options),
                         validate_text);
}

}  // namespace

std::unique_ptr<Command> make_validate_command() {
  return std::make_unique<Validate>();
}

}  // namespace inferscale
