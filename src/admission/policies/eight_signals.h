// `eight_signals`: four signals of the request and four of the engines, each against a threshold,
// as one rule list.
//
// The rows and their answers are those of a table shown in a talk on admission control for LLM
// serving; it gives no order and no numbers. The order here, first that holds:
//
//   1  replicas_full_fraction >= 1                                    reject  pool_full
//   2  tenant_token_share > tenant_share and queue_depth >= 1         reject  tenant_share
//   3  deadline_left_s < predicted_first_token_s                      reject  deadline_infeasible
//   4  session_in_flight >= session_in_flight                         defer   session_in_flight
//   5  prompt_tokens > kv_free_tokens                                 defer   no_headroom
//   6  reusable_fraction >= cached_fraction                           admit
//   7  queue_age_s > queue_age_s                                      defer   queue_age
//   8  kv_used_fraction >= kv_high_water                              defer   kv_pressure
//
// Rejections come before defers, since waiting helps none of them; what is cached is cheap, so it
// passes the two rows about load, and goes first of those held.

#pragma once

#include <cstdint>
#include <optional>

#include "admission/registry.h"
#include "admission/rules/rule_list.h"

namespace inferscale {

// A threshold that is not set switches its row off.
struct EightSignalsOptions {
  std::optional<double> pool_full = 1.0;     // fraction of the replicas
  std::optional<double> tenant_share = 0.5;  // of the tokens in flight
  double tenant_queue_depth = 1;             // the share counts when so many wait
  bool deadline = true;
  std::optional<double> session_in_flight = 8;  // calls
  std::optional<double> kv_headroom = 1.0;      // times the free tokens
  std::optional<double> cached_fraction = 0.5;  // of the prompt
  std::optional<double> queue_age_s = 0.5;
  std::optional<double> kv_high_water = 0.9;  // fraction of the KV cache
};

RuleList eight_signals_rules(const EightSignalsOptions& options);

const PolicyCard& eight_signals_card();
PolicyFactory read_eight_signals(ConfigReader& parameters);

}  // namespace inferscale
