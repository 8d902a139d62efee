// Reads a rule list from its configuration, strictly:
//
//   rules:
//     - when: {signal: kv_used_fraction, above: 0.9}
//       then: defer
//       reason: kv_pressure
//       retry_after_s: 2
//     - when:
//         all:
//           - {request: prompt_tokens, above: kv_free_tokens, times: 0.9}
//           - {request: priority, below: 0}
//       then: reject
//   otherwise: admit
//
// Quantities of different units can't be compared, nor a signal with a number out of its range:
// such a rule would never hold. At most 64 rules, 256 comparisons, 8 levels of all and any.

#pragma once

#include "admission/rules/rule_list.h"
#include "base/config_reader.h"

namespace inferscale {

// Errors are left in the reader's session. The caller finishes the map.
RuleList read_rule_list(ConfigReader& parameters);

}  // namespace inferscale
