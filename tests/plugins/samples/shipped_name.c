/* Has the name of a policy that is shipped. */
#include "sample.h"

static const inferscale_policy policy = SAMPLE("none", admit);
const inferscale_policy* inferscale_policy_plugin(void) { return &policy; }
