/* Built when the table ended with decide(): the optional functions behind it are not there. */
#include <stddef.h>

#include "sample.h"

static inferscale_policy policy = SAMPLE("old_table", admit);
const inferscale_policy* inferscale_policy_plugin(void) {
  policy.size = (uint32_t)offsetof(inferscale_policy, on_admit);
  /* What lies behind a short table is somebody else's memory. */
  policy.limit = (int (*)(void*, double*))(uintptr_t)0x5a5a5a5a;
  return &policy;
}
