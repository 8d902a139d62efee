#include "core/decision.h"

namespace inferscale {

std::string_view verdict_name(Verdict verdict) {
  switch (verdict) {
    case Verdict::kAdmit:
      return "admit";
    case Verdict::kDefer:
      return "defer";
    case Verdict::kReject:
      return "reject";
  }
  return "unknown";
}

std::optional<Verdict> verdict_of(std::string_view name) {
  for (const Verdict verdict : {Verdict::kAdmit, Verdict::kDefer, Verdict::kReject}) {
    if (verdict_name(verdict) == name) return verdict;
  }
  return std::nullopt;
}

}  // namespace inferscale
