#include "admission/policies/equal_volume_shed.h"

#include <array>
#include <string>

#include "base/check.h"

namespace inferscale {
namespace {

class EqualVolumeShed final : public AdmissionPolicy {
 public:
  EqualVolumeShed(double rate, std::uint64_t seed) : rate_(rate), seed_(seed) {}

  const PolicyNeeds& needs() const override { return needs_; }

  Decision decide(const RequestView& request, const PoolView&) override {
    if (policy_draw(seed_, "equal_volume_shed", request) >= rate_) return Decision::admit();
    return Decision::reject(Reason::kShed);
  }

 private:
  double rate_;
  std::uint64_t seed_;
  PolicyNeeds needs_;
};

}  // namespace

const PolicyCard& equal_volume_shed_card() {
  static constexpr std::array<ParameterNote, 2> kParameters = {{
      {"rate", "fitted", "the measured rate of the policy that it is held against"},
      {"of", "default", "none: the rate is written"},
  }};
  static constexpr PolicyCard kCard = {
      .name = "equal_volume_shed",
      .summary = "rejects at random as many as another policy refuses",
      .slo_awareness = "none",
      .signal_structure = "none",
      .parameters = kParameters,
  };
  return kCard;
}

PolicyFactory read_equal_volume_shed(ConfigReader& parameters) {
  const std::optional<double> rate = parameters.optional_number(
      "rate", {.min = 0, .max = 1, .unit = "fraction", .doc = "of attempts that are rejected"});
  const std::optional<std::string> of = parameters.optional_text(
      "of", "the policy whose measured rate it has; null: the rate is written");
  if (of && find_policy(*of) == nullptr) {
    parameters.fail("of", "expected the name of a policy (`inferscale policies`)");
  } else if (!rate && !parameters.is_describing()) {
    parameters.fail(
        "rate", of ? "expected the part of attempts that " + *of + " refused on the same arrivals"
                   : "expected a number from 0 to 1: the part of attempts to reject");
  }
  return equal_volume_shed(rate.value_or(0));
}

PolicyFactory equal_volume_shed(double rate) {
  CHECK(rate >= 0 && rate <= 1) << "a part of attempts: " << rate;
  return [rate](const PolicySetting& setting) {
    return std::make_unique<EqualVolumeShed>(rate, setting.seed);
  };
}

}  // namespace inferscale
