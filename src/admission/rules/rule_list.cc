#include "admission/rules/rule_list.h"

#include <memory>
#include <utility>

namespace inferscale {
namespace {

bool holds(double left, Comparison is, double right) {
  switch (is) {
    case Comparison::kAbove:
      return left > right;
    case Comparison::kAtLeast:
      return left >= right;
    case Comparison::kBelow:
      return left < right;
    case Comparison::kAtMost:
      return left <= right;
    case Comparison::kEquals:
      return left == right;
  }
  return false;
}

Truth judge_parts(const Condition& condition, const RequestView& request, const PoolView& pool) {
  // `all` is settled by a part that is false, `any` by one that is true.
  const bool all = condition.kind == Condition::Kind::kAll;
  const Truth settles = all ? Truth::kNo : Truth::kYes;
  Truth joined = all ? Truth::kYes : Truth::kNo;
  for (const Condition& part : condition.parts) {
    const Truth truth = judge(part, request, pool);
    if (truth == settles) return truth;
    if (truth == Truth::kUnknown) joined = truth;
  }
  return joined;
}

void add_needs_of(const Condition& condition, PolicyNeeds& needs) {
  add_needs(condition.left, needs);
  add_needs(condition.right, needs);
  for (const Condition& part : condition.parts) add_needs_of(part, needs);
}

class RulePolicy final : public AdmissionPolicy {
 public:
  explicit RulePolicy(RuleList list) : list_(std::move(list)), needs_(needs_of(list_)) {}

  const PolicyNeeds& needs() const override { return needs_; }

  Decision decide(const RequestView& request, const PoolView& pool) override {
    for (const Rule& rule : list_.rules) {
      const Truth truth = judge(rule.when, request, pool);
      if (truth == Truth::kYes || (truth == Truth::kUnknown && rule.applies_when_unknown)) {
        return rule.then;
      }
    }
    return list_.otherwise;
  }

  std::optional<double> rank(const RequestView& request) const override {
    switch (list_.release_first) {
      case ReleaseFirst::kByGate:
        return std::nullopt;
      case ReleaseFirst::kReusableFraction:
        if (request.prompt_tokens <= 0) return 0;
        return -static_cast<double>(request.reusable_tokens) /
               static_cast<double>(request.prompt_tokens);
      case ReleaseFirst::kPriority:
        return -static_cast<double>(request.priority);
    }
    return std::nullopt;
  }

 private:
  RuleList list_;
  PolicyNeeds needs_;
};

}  // namespace

Truth judge(const Condition& condition, const RequestView& request, const PoolView& pool) {
  if (condition.kind != Condition::Kind::kCompare) return judge_parts(condition, request, pool);
  const std::optional<double> left = value_of(condition.left, request, pool);
  if (!left) return Truth::kUnknown;
  const std::optional<double> right = value_of(condition.right, request, pool);
  if (!right) return Truth::kUnknown;
  return holds(*left, condition.is, *right * condition.times) ? Truth::kYes : Truth::kNo;
}

PolicyNeeds needs_of(const RuleList& list) {
  PolicyNeeds needs;
  for (const Rule& rule : list.rules) add_needs_of(rule.when, needs);
  return needs;
}

PolicyFactory rule_policy(RuleList list) {
  return [list = std::move(list)](const PolicySetting&) -> std::unique_ptr<AdmissionPolicy> {
    return std::make_unique<RulePolicy>(list);
  };
}

}  // namespace inferscale
