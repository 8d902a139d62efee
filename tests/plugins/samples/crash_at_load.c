/* Writes through a null pointer while it is loaded. */
#include "sample.h"

static int* volatile nowhere = NULL;

__attribute__((constructor)) static void crash(void) { *nowhere = 1; }

static const inferscale_policy policy = SAMPLE("crash_at_load", admit);
const inferscale_policy* inferscale_policy_plugin(void) { return &policy; }
