/* Writes to standard output while it is loaded: not part of its report. */
#include <stdio.h>

#include "sample.h"

__attribute__((constructor)) static void greet(void) { puts("hello"); }

static const inferscale_policy policy = SAMPLE("talkative", admit);
const inferscale_policy* inferscale_policy_plugin(void) { return &policy; }
