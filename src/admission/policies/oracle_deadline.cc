#include "admission/policies/oracle_deadline.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "admission/policies/attempt_identity.h"
#include "admission/policies/batch_places.h"

namespace inferscale {
namespace {

class OracleDeadline final : public AdmissionPolicy {
 public:
  const PolicyNeeds& needs() const override { return needs_; }

  Decision decide(const RequestView& request, const PoolView& pool) override {
    plan_ = {};
    const ServiceModel& model = pool.service();
    if (!model.is_known()) return Decision::admit();
    const BatchPlaces places = batch_places(pool, static_cast<double>(request.tokens()));
    const Instant start =
        std::max({pool.now(), prompts_done_, place_free(places.in_all, pool.now())});
    const Duration prefill = whole(model.prefill_ns(request.tokens_to_compute()));
    const double replicas = std::max(pool.replicas(), 1U);
    const double step_ns = places.step_ns > 0 ? places.step_ns : model.step_ns;
    plan_ = {.prompts_done = std::max(pool.now(), prompts_done_) +
                             whole(static_cast<double>(prefill.ns()) / replicas),
             .leaves = start + prefill +
                       whole(static_cast<double>(request.predicted_output_tokens) * step_ns)};
    if (request.has_deadline() && start + prefill > request.ttft_deadline) {
      return Decision::reject(Reason::kDeadlineInfeasible);
    }
    return Decision::admit();
  }

  void on_admit(const RequestView& request, Instant now) override {
    prompts_done_ = std::max(prompts_done_, plan_.prompts_done);
    const Instant leaves = std::max(now, plan_.leaves);
    if (leaves_.emplace(identity_of(request), leaves).second) {
      by_time_.insert(leaves);
    }
  }

  void on_outcome(const RequestView& request, const AttemptEnd& /*end*/) override {
    const auto place = leaves_.find(identity_of(request));
    if (place == leaves_.end()) return;
    by_time_.erase(by_time_.find(place->second));
    leaves_.erase(place);
  }

 private:
  struct Plan {
    Instant prompts_done;
    Instant leaves;
  };

  static Duration whole(double ns) { return Duration::nanos(static_cast<std::int64_t>(ns)); }

  // When so many have left that a place of `places` is free.
  Instant place_free(double places, Instant now) const {
    const auto taken = static_cast<double>(by_time_.size());
    if (taken < places) return now;
    auto leaver = by_time_.begin();
    std::advance(leaver, static_cast<std::ptrdiff_t>(taken - places));
    return std::max(now, *leaver);
  }

  PolicyNeeds needs_{.request = {.deadline = true, .predicted_output = true, .true_output = true},
                     .service_model = true,
                     .outcomes = true};
  Plan plan_;  // of whoever was decided about last
  Instant prompts_done_;
  std::map<AttemptIdentity, Instant> leaves_;
  std::multiset<Instant> by_time_;
};

}  // namespace

const PolicyCard& oracle_deadline_card() {
  static constexpr PolicyCard kCard = {
      .name = "oracle.deadline",
      .summary = "admits whoever can be in time, knowing all output lengths: simulation only",
      .slo_awareness = "deadline",
      .signal_structure = "bound",
  };
  return kCard;
}

PolicyFactory read_oracle_deadline(ConfigReader& /*parameters*/) {
  return [](const PolicySetting&) { return std::make_unique<OracleDeadline>(); };
}

}  // namespace inferscale
