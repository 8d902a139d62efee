/* Crashes at the first decision. */
#include "sample.h"

static int crash(void* object, const inferscale_request* request, const inferscale_pool* pool,
                 inferscale_decision* decision) {
  (void)object;
  (void)request;
  (void)pool;
  (void)decision;
  abort();
}

static const inferscale_policy policy = SAMPLE("crash_in_decide", crash);
const inferscale_policy* inferscale_policy_plugin(void) { return &policy; }
