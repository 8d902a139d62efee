/* Never comes back from being loaded. */
#include <unistd.h>

#include "sample.h"

__attribute__((constructor)) static void hang(void) {
  for (;;) pause();
}

static const inferscale_policy policy = SAMPLE("hang_at_load", admit);
const inferscale_policy* inferscale_policy_plugin(void) { return &policy; }
