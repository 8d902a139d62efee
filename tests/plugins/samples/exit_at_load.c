/* Ends the process that loads it, with a code that looks like success. */
#include "sample.h"

__attribute__((constructor)) static void leave(void) { _Exit(0); }

static const inferscale_policy policy = SAMPLE("exit_at_load", admit);
const inferscale_policy* inferscale_policy_plugin(void) { return &policy; }
