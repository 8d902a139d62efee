#include "admission/policies/limit_scope.h"

#include <string>

namespace inferscale {
namespace {

std::string_view scope_name(LimitScope scope) {
  switch (scope) {
    case LimitScope::kPool:
      return "pool";
    case LimitScope::kTenant:
      return "tenant";
    case LimitScope::kSession:
      return "session";
  }
  return "unknown";
}

}  // namespace

LimitScope read_limit_scope(ConfigReader& parameters, LimitScope fallback, std::string_view what) {
  const std::string doc = "whose " + std::string(what) + " are limited";
  const std::string chosen =
      parameters.choice("per", {"pool", "tenant", "session"}, scope_name(fallback), doc);
  if (chosen == "tenant") return LimitScope::kTenant;
  return chosen == "session" ? LimitScope::kSession : LimitScope::kPool;
}

CallerKey caller_in(LimitScope scope, const RequestView& request) {
  switch (scope) {
    case LimitScope::kPool:
      return kNoCaller;
    case LimitScope::kTenant:
      return request.tenant;
    case LimitScope::kSession:
      return request.session;
  }
  return kNoCaller;
}

RequestNeeds needs_of(LimitScope scope) {
  return {.tenant = scope == LimitScope::kTenant, .session = scope == LimitScope::kSession};
}

std::int64_t read_most_callers(ConfigReader& parameters) {
  return parameters.integer(
      "most_callers", {.fallback = kMostCallers,
                       .min = 1,
                       .max = 100'000'000,
                       .unit = "callers",
                       .doc = "that are remembered; then the one seen longest ago is forgotten"});
}

bool read_defers(ConfigReader& parameters) {
  return parameters.choice("then", {"reject", "defer"}, "reject",
                           "what becomes of attempts that are over the limit") == "defer";
}

Decision refuse(bool defers, Reason reason) {
  return defers ? Decision::defer(reason) : Decision::reject(reason);
}

}  // namespace inferscale
