#include "admission/policies/eight_signals.h"

#include <array>
#include <utility>

namespace inferscale {
namespace {

Condition compare(Quantity left, Comparison is, Quantity right, double times = 1) {
  Condition condition;
  condition.left = left;
  condition.is = is;
  condition.right = right;
  condition.times = times;
  return condition;
}

Condition all_of(Condition first, Condition second) {
  Condition condition;
  condition.kind = Condition::Kind::kAll;
  condition.parts.push_back(std::move(first));
  condition.parts.push_back(std::move(second));
  return condition;
}

// The rows about the caller and the request.
void add_request_rows(const EightSignalsOptions& options, std::vector<Rule>& rules) {
  if (options.tenant_share) {
    rules.push_back(
        {.when =
             all_of(compare(Signal::kTenantTokenShare, Comparison::kAbove, *options.tenant_share),
                    compare(Signal::kQueueDepth, Comparison::kAtLeast, options.tenant_queue_depth)),
         .then = Decision::reject(Reason::kTenantShare)});
  }
  if (options.deadline) {
    rules.push_back({.when = compare(RequestField::kDeadlineLeftS, Comparison::kBelow,
                                     RequestField::kPredictedFirstTokenS),
                     .then = Decision::reject(Reason::kDeadlineInfeasible)});
  }
  if (options.session_in_flight) {
    rules.push_back({.when = compare(Signal::kSessionInFlight, Comparison::kAtLeast,
                                     *options.session_in_flight),
                     .then = Decision::defer(Reason::kSessionInFlight)});
  }
  if (options.kv_headroom) {
    rules.push_back({.when = compare(RequestField::kPromptTokens, Comparison::kAbove,
                                     Signal::kKvFreeTokens, *options.kv_headroom),
                     .then = Decision::defer(Reason::kNoHeadroom)});
  }
}

constexpr std::array<ParameterNote, 9> kNotes = {{
    {"pool_full", "paper", "the talk: every replica is full"},
    {"tenant_share", "default", "the talk gives no number"},
    {"tenant_queue_depth", "default", "ours: alone in the pool everybody has all of it"},
    {"deadline", "paper", "the talk: waiting would miss it"},
    {"session_in_flight", "default", "the talk gives no number"},
    {"kv_headroom", "paper", "the talk: it does not fit the headroom"},
    {"cached_fraction", "default", "the talk gives no number"},
    {"queue_age_s", "default", "the talk: the target; half a second is a usual one"},
    {"kv_high_water", "field", "0.9 is what KV gates in the field use"},
}};

}  // namespace

RuleList eight_signals_rules(const EightSignalsOptions& options) {
  RuleList list;
  list.release_first = ReleaseFirst::kReusableFraction;
  if (options.pool_full) {
    list.rules.push_back(
        {.when = compare(Signal::kReplicasFullFraction, Comparison::kAtLeast, *options.pool_full),
         .then = Decision::reject(Reason::kPoolFull)});
  }
  add_request_rows(options, list.rules);
  if (options.cached_fraction) {
    list.rules.push_back({.when = compare(RequestField::kReusableFraction, Comparison::kAtLeast,
                                          *options.cached_fraction),
                          .then = Decision::admit()});
  }
  if (options.queue_age_s) {
    list.rules.push_back(
        {.when = compare(Signal::kQueueAgeS, Comparison::kAbove, *options.queue_age_s),
         .then = Decision::defer(Reason::kQueueAge)});
  }
  if (options.kv_high_water) {
    list.rules.push_back(
        {.when = compare(Signal::kKvUsedFraction, Comparison::kAtLeast, *options.kv_high_water),
         .then = Decision::defer(Reason::kKvPressure)});
  }
  return list;
}

const PolicyCard& eight_signals_card() {
  static const PolicyCard card = {
      .name = "eight_signals",
      .summary = "eight signals, each against a threshold, as one rule list",
      .unit = AdmissionUnit::kRequest,
      .slo_awareness = "deadline",
      .signal_structure = "composite",
      .inspired_by = "the eight-signal table of a talk on admission control for LLM serving",
      .preserved = "the eight signals, what each of them answers, and the statuses",
      .dropped =
          "nothing; added: the order of the rows, the thresholds, the guard that a share "
          "counts only while others wait",
      .parameters = kNotes,
  };
  return card;
}

PolicyFactory read_eight_signals(ConfigReader& parameters) {
  const EightSignalsOptions defaults;
  EightSignalsOptions options;
  const auto threshold = [&](std::string_view key, std::optional<double> fallback, double max,
                             std::string_view unit, std::string_view doc) {
    return parameters.optional_number(
        key, {.fallback = fallback, .min = 0, .max = max, .unit = unit, .doc = doc});
  };
  options.pool_full = threshold("pool_full", defaults.pool_full, 1, "fraction",
                                "reject when this part of the replicas is full; null: no row");
  options.tenant_share =
      threshold("tenant_share", defaults.tenant_share, 1, "fraction",
                "reject a tenant with more of the tokens in flight; null: no row");
  options.tenant_queue_depth = parameters.number(
      "tenant_queue_depth", {.fallback = defaults.tenant_queue_depth,
                             .min = 0,
                             .unit = "requests",
                             .doc = "the share counts while so many requests wait"});
  options.deadline =
      parameters.boolean("deadline", defaults.deadline,
                         "reject what is predicted to miss its deadline for the first token");
  options.session_in_flight =
      threshold("session_in_flight", defaults.session_in_flight, 1e9, "requests",
                "defer a session that has so many calls in flight; null: no row");
  options.kv_headroom =
      threshold("kv_headroom", defaults.kv_headroom, 1, "",
                "defer a prompt that is longer than so many times the free KV tokens of the "
                "emptiest replica; null: no row");
  options.cached_fraction =
      threshold("cached_fraction", defaults.cached_fraction, 1, "fraction",
                "admit a prompt of which so much is probably cached; null: no row");
  options.queue_age_s = threshold("queue_age_s", defaults.queue_age_s, 86'400, "s",
                                  "defer when somebody has waited longer; null: no row");
  options.kv_high_water = threshold("kv_high_water", defaults.kv_high_water, 1, "fraction",
                                    "defer when so much of the KV cache is in use; null: no row");
  return rule_policy(eight_signals_rules(options));
}

}  // namespace inferscale
