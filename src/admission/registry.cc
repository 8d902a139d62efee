#include "admission/registry.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "admission/policies/adaptive_gradient.h"
#include "admission/policies/aimd.h"
#include "admission/policies/dual_gate.h"
#include "admission/policies/eight_signals.h"
#include "admission/policies/equal_volume_shed.h"
#include "admission/policies/fixed_concurrency.h"
#include "admission/policies/fluid_wait.h"
#include "admission/policies/kv_threshold.h"
#include "admission/policies/none.h"
#include "admission/policies/oracle_deadline.h"
#include "admission/policies/probabilistic_shed.h"
#include "admission/policies/queue_age.h"
#include "admission/policies/queue_depth.h"
#include "admission/policies/rate_limit.h"
#include "admission/policies/reject_all.h"
#include "admission/policies/rules.h"
#include "admission/policies/saturation.h"
#include "admission/policies/session_window.h"
#include "admission/policies/token_bucket.h"
#include "admission/policies/token_budget.h"
#include "admission/policies/virtual_queue.h"
#include "admission/policies/wcrt.h"

namespace inferscale {
namespace {

// One line for each policy, in the order of `inferscale policies`: counting, the engine's state,
// the deadlines, controllers, and the controls that a policy is held against.
std::vector<PolicyEntry>& table() {
  static std::vector<PolicyEntry> entries = {
      {none_card(), read_none},
      {reject_all_card(), read_reject_all},
      {rate_limit_card(), read_rate_limit},
      {token_bucket_card(), read_token_bucket},
      {fixed_concurrency_card(), read_fixed_concurrency},
      {token_budget_card(), read_token_budget},
      {queue_depth_card(), read_queue_depth},
      {queue_age_card(), read_queue_age},
      {kv_threshold_card(), read_kv_threshold},
      {dual_gate_card(), read_dual_gate},
      {saturation_card(), read_saturation},
      {eight_signals_card(), read_eight_signals},
      {rules_card(), read_rules},
      {wcrt_card(), read_wcrt},
      {virtual_queue_card(), read_virtual_queue},
      {fluid_wait_card(), read_fluid_wait},
      {session_window_card(), read_session_window},
      {aimd_card(), read_aimd},
      {adaptive_gradient_card(), read_adaptive_gradient},
      {probabilistic_shed_card(), read_probabilistic_shed},
      {equal_volume_shed_card(), read_equal_volume_shed},
      {oracle_deadline_card(), read_oracle_deadline},
  };
  return entries;
}

}  // namespace

std::string_view unit_name(AdmissionUnit unit) {
  switch (unit) {
    case AdmissionUnit::kRequest:
      return "request";
    case AdmissionUnit::kSession:
      return "session";
    case AdmissionUnit::kTenant:
      return "tenant";
  }
  return "unknown";
}

std::span<const PolicyEntry> all_policies() {
  return table();
}

const PolicyEntry* find_policy(std::string_view name) {
  for (const PolicyEntry& entry : table()) {
    if (entry.card.name == name) return &entry;
  }
  return nullptr;
}

Result<void> add_policies(std::vector<PolicyEntry> entries) {
  for (auto entry = entries.begin(); entry != entries.end(); ++entry) {
    const std::string_view name = entry->card.name;
    const bool twice = std::any_of(
        entries.begin(), entry, [&](const PolicyEntry& other) { return other.card.name == name; });
    if (!twice && find_policy(name) == nullptr) continue;
    return fail(ErrorCode::kInvalidConfig, "there is a policy " + std::string(name) + " already");
  }
  for (PolicyEntry& entry : entries) table().push_back(std::move(entry));
  return {};
}

}  // namespace inferscale
