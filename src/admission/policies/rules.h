// `rules`: a list of rules, written in the configuration (admission/rules/rule_list.h).

#pragma once

#include "admission/registry.h"

namespace inferscale {

const PolicyCard& rules_card();
PolicyFactory read_rules(ConfigReader& parameters);

}  // namespace inferscale
