#include "admission/policies/reject_all.h"

namespace inferscale {
namespace {

class RejectAll final : public AdmissionPolicy {
 public:
  const PolicyNeeds& needs() const override { return needs_; }
  Decision decide(const RequestView&, const PoolView&) override {
    return Decision::reject(Reason::kClosed);
  }

 private:
  PolicyNeeds needs_;
};

}  // namespace

const PolicyCard& reject_all_card() {
  static constexpr PolicyCard kCard = {
      .name = "reject_all",
      .summary = "rejects everybody",
      .slo_awareness = "none",
      .signal_structure = "none",
  };
  return kCard;
}

PolicyFactory read_reject_all(ConfigReader&) {
  return [](const PolicySetting&) { return std::make_unique<RejectAll>(); };
}

}  // namespace inferscale
