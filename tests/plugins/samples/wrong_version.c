/* Says that it was built for a later version of the interface. */
#include "sample.h"

static inferscale_policy policy = SAMPLE("wrong_version", admit);
const inferscale_policy* inferscale_policy_plugin(void) {
  policy.abi_version = INFERSCALE_POLICY_ABI_VERSION + 1;
  policy.decide = NULL; /* of another version anything may be different */
  return &policy;
}
