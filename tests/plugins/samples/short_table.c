/* A table that ends before its functions. */
#include "sample.h"

static inferscale_policy policy = SAMPLE("short_table", admit);
const inferscale_policy* inferscale_policy_plugin(void) {
  policy.size = 24;
  return &policy;
}
