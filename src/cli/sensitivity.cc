// `inferscale sensitivity`: would the comparison come out differently if the latency model were
// off?

#include "study/comparison/sensitivity.h"

#include "cli/commands.h"
#include "cli/config_pair.h"
#include "cli/study_session.h"
#include "report/studies/comparison/sensitivity_text.h"
#include "study/comparison/sensitivity_json.h"

namespace inferscale {
namespace {

class Sensitivity final : public Command {
 public:
  std::string name() const override { return "sensitivity"; }
  std::string summary() const override {
    return "Compare two configurations while the latency model is off, to see what would change";
  }
  void declare(Arguments& arguments) override {
    declare_pair_flags(arguments, pair_);
    declare_study_flags(arguments, flags_);
  }
  Result<int> run() override;

 private:
  PairFlags pair_;
  StudyFlags flags_;
};

Result<int> Sensitivity::run() {
  Result<std::vector<Scenario>> pair = load_pair(flags_, pair_);
  if (!pair) return std::unexpected(pair.error());
  const Alternatives alternatives =
      describe_alternatives((*pair)[kBaseline], (*pair)[kTreatment], sensitivity_own_keys());
  const SensitivityQuestion question =
      sensitivity_question((*pair)[kBaseline], (*pair)[kTreatment]);
  // Its options are part of the baseline's configuration.
  StudyManifest manifest{.kind = "sensitivity",
                         .name = pair_name(alternatives),
                         .plan = pair_plan(*pair),
                         .warnings = pair_notes(*pair)};
  Result<StudySession> session = StudySession::start(flags_, std::move(*pair), manifest);
  if (!session) return std::unexpected(session.error());
  const Result<SensitivityResult> result = find_sensitivity(question, session->executor());
  if (!result) return std::unexpected(result.error());
  return session->finish(sensitivity_json(*result, alternatives), sensitivity_text);
}

}  // namespace

std::unique_ptr<Command> make_sensitivity_command() {
  return std::make_unique<Sensitivity>();
}

}  // namespace inferscale
