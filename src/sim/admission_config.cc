#include "sim/admission_config.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "admission/registry.h"
#include "base/nearest_word.h"
#include "base/number_text.h"

namespace inferscale {
namespace {

Duration seconds_of(ConfigReader& reader, std::string_view key, const NumberRule& rule) {
  return Duration::from_seconds(reader.number(key, rule));
}

std::string known_policies() {
  std::string names;
  for (const PolicyEntry& entry : all_policies()) {
    if (!names.empty()) names += ", ";
    names += entry.card.name;
  }
  return names;
}

// What to say of a name that is nobody's.
std::string unknown_policy(const std::string& name) {
  std::vector<std::string> names;
  for (const PolicyEntry& entry : all_policies()) names.emplace_back(entry.card.name);
  std::string text = "expected a policy of `inferscale policies`: " + known_policies();
  if (const auto near = nearest_word(name, names)) text += " (did you mean " + *near + "?)";
  return text;
}

// A policy by name with its parameters, from the keys `policy` and `parameters` of `map`.
PolicyFactory read_policy(ConfigReader& map, const std::string& fallback, std::string& name,
                          std::string_view doc) {
  name = map.text("policy", fallback, doc);
  ConfigReader parameters =
      map.map("parameters", "of the policy: `inferscale policies NAME` explains them");
  PolicyFactory factory;
  if (map.is_describing()) {
    for (const PolicyEntry& entry : all_policies()) {
      parameters.when("policy", name, entry.card.name, [&] { entry.read(parameters); });
    }
    return find_policy("none")->read(parameters);
  }
  const PolicyEntry* entry = find_policy(name);
  if (entry == nullptr) {
    map.fail("policy", unknown_policy(name));
    return find_policy("none")->read(parameters);
  }
  factory = entry->read(parameters);
  parameters.finish();
  return factory;
}

void read_hold(ConfigReader& admission, GateOptions& gate) {
  std::optional<ConfigReader> hold = admission.optional_map(
      "hold", "those whom the policy defers wait at the door, in order; null: they are answered");
  if (!hold) return;
  HoldOptions options;
  options.most = hold->integer("most", {.fallback = 1000,
                                        .min = 1,
                                        .max = 10'000'000,
                                        .unit = "attempts",
                                        .doc = "that are held at a time; one more is answered"});
  options.longest = seconds_of(*hold, "longest_s",
                               {.fallback = 5,
                                .min = 0,
                                .max = 86400,
                                .above_min = true,
                                .unit = "s",
                                .doc = "that an attempt is held; then it is answered"});
  options.look_past = hold->integer(
      "look_past", {.fallback = 16,
                    .min = 1,
                    .max = 1'000'000,
                    .unit = "attempts",
                    .doc = "that have to stay before the rest is left for the next change"});
  hold->finish();
  gate.hold = options;
}

void read_retry_after(ConfigReader& admission, GateOptions& gate) {
  ConfigReader reader =
      admission.map("retry_after", "the wait that a deferred caller is asked for");
  gate.retry_after.least = seconds_of(reader, "least_s",
                                      {.fallback = 1,
                                       .min = 0.001,
                                       .max = 86400,
                                       .unit = "s",
                                       .doc = "never less: a caller that is asked for no wait is "
                                              "back at once"});
  gate.retry_after.most = seconds_of(reader, "most_s",
                                     {.fallback = 60,
                                      .min = 0.001,
                                      .max = 86400,
                                      .unit = "s",
                                      .doc = "a longer predicted wait is a reject"});
  gate.retry_after.jitter = reader.number(
      "jitter", {.fallback = 0.25,
                 .min = 0,
                 .max = 0.5,
                 .unit = "share",
                 .doc = "each wait is drawn within this part of the reckoned one, up or down"});
  if (gate.retry_after.least > gate.retry_after.most) {
    reader.fail("most_s", "expected no less than least_s");
  }
  reader.finish();
}

void read_trend(ConfigReader& admission, GateOptions& gate) {
  ConfigReader reader = admission.map(
      "trend", "a defer is for bursts: while the queue has been rising all along it is a reject");
  gate.trend.window = seconds_of(reader, "window_s",
                                 {.fallback = 10,
                                  .min = 0,
                                  .max = 86400,
                                  .unit = "s",
                                  .doc = "that is looked back; 0: trends are not looked for"});
  gate.trend.rises = static_cast<int>(reader.integer(
      "rises", {.fallback = 5,
                .min = 1,
                .max = 1000,
                .unit = "parts",
                .doc = "even parts of the window, in each of which the queue was longer than in "
                       "the one before"}));
  reader.finish();
}

void read_status(ConfigReader& admission, GateOptions& gate) {
  const ConfigNode* status = admission.raw(
      "status", "map of reason to HTTP status",
      "statuses of answers other than the defaults: 503 "
      "when deferred; rejected: 429 where the caller is over its share, 529 where the pool is full "
      "or a deadline can't be met",
      "{}");
  if (status == nullptr || status->is_null()) return;
  if (!status->is_map()) {
    admission.fail("status",
                   "expected a map of reasons to HTTP statuses, got " + status->describe());
    return;
  }
  for (const ConfigNode::Entry& entry : status->entries()) {
    std::optional<Reason> reason = reason_of(entry.key);
    if (reason == Reason::kNone) reason.reset();
    const std::string& text = entry.value.text();
    const std::optional<std::int64_t> status_code = parse_whole(text);
    const bool is_status = status_code && *status_code >= 400 && *status_code <= 599;
    if (!reason) {
      admission.fail("status", "'" + entry.key + "' is no reason: docs/admission.md lists them");
    } else if (!is_status) {
      admission.fail("status", entry.key + ": expected a status from 400 to 599, got " +
                                   entry.value.describe());
    } else {
      gate.status.set_rejected(*reason, static_cast<int>(*status_code));
      gate.status.set_deferred(*reason, static_cast<int>(*status_code));
    }
  }
}

void read_enforcement(ConfigReader& admission, GateOptions& gate) {
  gate.enforce = admission.number(
      "enforce", {.fallback = 1,
                  .min = 0,
                  .max = 1,
                  .unit = "share",
                  .doc = "of the traffic that the policy governs; for the rest it decides in "
                         "shadow: recorded, and everybody admitted"});
  const std::string by = admission.choice("enforce_by", {"tenant", "session", "request"}, "tenant",
                                          "whose key says who is governed; a caller without a "
                                          "tenant goes by its session, then by request");
  gate.enforce_by = by == "tenant"    ? EnforceBy::kTenant
                    : by == "session" ? EnforceBy::kSession
                                      : EnforceBy::kRequest;
  gate.enforce_key = static_cast<std::uint64_t>(admission.integer(
      "enforce_key", {.fallback = 0, .min = 0, .doc = "of the hash that says who is governed"}));
  const std::string on_error = admission.choice("on_error", {"admit", "reject"}, "admit",
                                                "when the policy fails (a plug-in)");
  gate.on_error = on_error == "admit" ? Verdict::kAdmit : Verdict::kReject;
}

void read_signals(ConfigReader& root, DoorOptions& door) {
  ConfigReader signals = root.map("signals", "what an admission policy sees of the replicas");
  door.scrape_interval = seconds_of(signals, "scrape_interval_s",
                                    {.fallback = 0.1,
                                     .min = 0.001,
                                     .max = 3600,
                                     .unit = "s",
                                     .doc = "between two looks at a replica's page"});
  door.scrape_delay = seconds_of(signals, "delay_s",
                                 {.fallback = 0,
                                  .min = 0,
                                  .max = 3600,
                                  .unit = "s",
                                  .doc = "until a page is known at the door"});
  door.gate.max_age = seconds_of(signals, "max_age_s",
                                 {.fallback = 5,
                                  .min = 0,
                                  .max = 86400,
                                  .above_min = true,
                                  .unit = "s",
                                  .doc = "an older page is not looked at"});
  door.gate.rate_window = seconds_of(
      signals, "window_s",
      {.fallback = 2, .min = 0.001, .max = 3600, .unit = "s", .doc = "over which rates are taken"});
  door.gate.corrections = signals.boolean(
      "corrections", true, "readings are corrected by what the door dispatched and saw end since");
  const std::string on_stale = signals.choice(
      "on_stale", {"ledger_fallback", "open", "closed", "last_good"}, "ledger_fallback",
      "when a page that the policy needs is too old everywhere: another policy of the door's own "
      "signals decides, or everybody is admitted, or rejected, or the last page counts");
  door.gate.on_stale = stale_rule_of(on_stale).value_or(StaleRule::kLedgerFallback);
  signals.finish();
}

void read_predictor(ConfigReader& root, GateOptions& gate) {
  PredictorOptions& options = gate.predictor;
  ConfigReader predictor = root.map("predictor", "what is known of a request at its arrival");
  const std::string kind = predictor.choice(
      "output_tokens", {"max_tokens", "constant", "tenant_quantile", "session_quantile", "oracle"},
      "max_tokens",
      "how long an answer is predicted to be: as asked for, a number, a quantile of the caller's "
      "answers so far, or the truth (in simulation only)");
  for (const OutputPredictor each :
       {OutputPredictor::kMaxTokens, OutputPredictor::kConstant, OutputPredictor::kTenantQuantile,
        OutputPredictor::kSessionQuantile, OutputPredictor::kOracle}) {
    if (predictor_name(each) == kind) options.kind = each;
  }
  options.constant =
      predictor.integer("constant", {.fallback = 256,
                                     .min = 1,
                                     .max = 10'000'000,
                                     .unit = "tokens",
                                     .doc = "the prediction, or where nothing better is known"});
  options.quantile = predictor.number("quantile", {.fallback = 0.9,
                                                   .min = 0.01,
                                                   .max = 0.99,
                                                   .unit = "share",
                                                   .doc = "of the caller's answers"});
  const std::string service = predictor.choice(
      "service", {"catalogue", "fitted"}, "catalogue",
      "the service estimate that bounds, waits and Retry-After are reckoned by: of the latency "
      "model, or learned from what was served");
  gate.learns_service = service == "fitted";
  predictor.finish();
}

void read_tenants(ConfigReader& root, AdmissionConfig& config) {
  const ConfigNode* tenants = root.raw(
      "tenants", "map of tenant to its limits",
      "what the door allows a tenant whatever the policy, and the class of its requests: name: "
      "{in_flight: requests, slo_class: name, weight: 1}; weights are what fairness of tokens "
      "is judged by",
      "{}");
  if (tenants == nullptr || tenants->is_null()) return;
  if (!tenants->is_map()) {
    root.fail("tenants", "expected a map of names to limits, got " + tenants->describe());
    return;
  }
  ConfigReader all = root.map("tenants", "");
  for (const ConfigNode::Entry& entry : tenants->entries()) {
    ConfigReader limits = all.map(entry.key, "limits of the tenant");
    TenantConfig own{.name = entry.key};
    own.limits.in_flight = limits.optional_integer(
        "in_flight", {.min = 1, .max = 1'000'000'000, .unit = "requests", .doc = "at a time"});
    own.weight = limits.number("weight", {.fallback = 1,
                                          .min = 0,
                                          .max = 1e9,
                                          .above_min = true,
                                          .doc = "its part of the tokens, beside the others', by "
                                                 "which fairness is judged"});
    own.class_name =
        limits.optional_text("slo_class", "of its requests; null: they draw it like others");
    limits.finish();
    config.tenants.push_back(std::move(own));
  }
}

DoorScope read_scope(ConfigReader& admission) {
  const std::string at = admission.choice(
      "at", {"fleet", "pool", "replica"}, "fleet",
      "what one gate decides about: all replicas, those that requests arrive at (in a split the "
      "prefill pool), or each replica for itself, behind the router");
  if (at == "pool") return DoorScope::kPool;
  return at == "replica" ? DoorScope::kReplica : DoorScope::kFleet;
}

void read_fallback(ConfigReader& admission, AdmissionConfig& config, GateOptions& gate) {
  std::optional<ConfigReader> fallback = admission.optional_map(
      "fallback",
      "decides by the door's own signals while pages are too old (signals.on_stale); "
      "null: fixed_concurrency with all the places that the replicas have");
  if (!fallback) return;
  config.has_own_fallback = !admission.is_describing();
  gate.fallback = read_policy(*fallback, "fixed_concurrency", gate.fallback_name,
                              "its name, and its parameters beside it");
  fallback->finish();
}

}  // namespace

AdmissionConfig read_admission(ConfigReader& root) {
  AdmissionConfig config;
  DoorOptions door;
  GateOptions& gate = door.gate;
  read_tenants(root, config);
  read_predictor(root, gate);
  read_signals(root, door);
  ConfigReader admission = root.map("admission", "who is let in");
  gate.policy = read_policy(admission, "none", config.policy,
                            "who decides: `inferscale policies` lists them; none: everybody is "
                            "admitted, and there is no door");
  gate.policy_name = config.policy;
  read_enforcement(admission, gate);
  door.scope = read_scope(admission);
  door.knows_requests = admission.boolean(
      "request_ids", false,
      "attempts of one request carry an id that the door trusts; else each is a new request to it");
  read_hold(admission, gate);
  read_retry_after(admission, gate);
  read_trend(admission, gate);
  read_status(admission, gate);
  read_fallback(admission, config, gate);
  admission.finish();
  const bool limits_any =
      std::any_of(config.tenants.begin(), config.tenants.end(),
                  [](const TenantConfig& tenant) { return tenant.limits.in_flight.has_value(); });
  if (config.policy != "none" || limits_any) config.door = std::move(door);
  return config;
}

}  // namespace inferscale
