/* Needs a signal that there is not. */
#include "sample.h"

static const char* const signals[] = {"queue_dept"};
static inferscale_policy policy = SAMPLE("unknown_signal", admit);
const inferscale_policy* inferscale_policy_plugin(void) {
  policy.signals = signals;
  policy.signal_count = 1;
  return &policy;
}
