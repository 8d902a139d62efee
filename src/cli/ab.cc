// `inferscale ab`: is the treatment better than the baseline?

#include "study/comparison/ab.h"

#include "cli/commands.h"
#include "cli/config_pair.h"
#include "cli/study_session.h"
#include "report/studies/comparison/ab_text.h"
#include "study/comparison/ab_json.h"

namespace inferscale {
namespace {

class Ab final : public Command {
 public:
  std::string name() const override { return "ab"; }
  std::string summary() const override {
    return "Compare two configurations on the same requests, with a verdict for each metric";
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

Result<int> Ab::run() {
  Result<std::vector<Scenario>> pair = load_pair(flags_, pair_);
  if (!pair) return std::unexpected(pair.error());
  const Alternatives alternatives =
      describe_alternatives((*pair)[kBaseline], (*pair)[kTreatment], ab_own_keys());
  const AbQuestion question = ab_question((*pair)[kBaseline], (*pair)[kTreatment]);
  // Its options are part of the baseline's configuration.
  StudyManifest manifest{.kind = "ab",
                         .name = pair_name(alternatives),
                         .plan = pair_plan(*pair),
                         .warnings = pair_notes(*pair)};
  Result<StudySession> session = StudySession::start(flags_, std::move(*pair), manifest);
  if (!session) return std::unexpected(session.error());
  const Result<AbResult> result = compare_ab(question, session->executor());
  if (!result) return std::unexpected(result.error());
  return session->finish(ab_json(*result, alternatives), ab_text);
}

}  // namespace

std::unique_ptr<Command> make_ab_command() {
  return std::make_unique<Ab>();
}

}  // namespace inferscale
