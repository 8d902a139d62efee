/* Exports another function than the one that is looked for. */
#include "sample.h"

static const inferscale_policy policy = SAMPLE("missing_symbol", admit);
const inferscale_policy* another_plugin(void);
const inferscale_policy* another_plugin(void) { return &policy; }
