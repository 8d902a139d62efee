#include "admission/policies/none.h"

namespace inferscale {
namespace {

class None final : public AdmissionPolicy {
 public:
  const PolicyNeeds& needs() const override { return needs_; }
  Decision decide(const RequestView&, const PoolView&) override { return Decision::admit(); }

 private:
  PolicyNeeds needs_;
};

}  // namespace

const PolicyCard& none_card() {
  static constexpr PolicyCard kCard = {
      .name = "none",
      .summary = "admits everybody",
      .slo_awareness = "none",
      .signal_structure = "none",
  };
  return kCard;
}

PolicyFactory read_none(ConfigReader&) {
  return [](const PolicySetting&) { return std::make_unique<None>(); };
}

}  // namespace inferscale
