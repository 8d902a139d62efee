/* queue_per_replica: an admission policy as a plug-in.
 *
 *   defer  <=>  every replica whose queue is known has at least `most_waiting` requests waiting
 *
 * Build it anywhere, with the directory of inferscale/policy_plugin.h after -I:
 *
 *   cc -std=c11 -O2 -fPIC -shared -I include -o queue_per_replica.so queue_per_replica.c
 *   INFERSCALE_POLICY_PATH=. inferscale policies queue_per_replica
 */

#include <inferscale/policy_plugin.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
  double most_waiting;
} queue_per_replica;

enum { QUEUE_DEPTH = 0 }; /* the place in `signals` */
static const char* const signals[] = {"queue_depth"};

static const inferscale_parameter parameters[] = {
    {.key = "most_waiting",
     .kind = INFERSCALE_INTEGER,
     .fallback = "4",
     .unit = "requests",
     .meaning = "defer when so many wait at every replica",
     .provenance = "default"},
};

static void* create(const inferscale_setting* setting, char* error, size_t error_size) {
  const double most_waiting = strtod(setting->values[0].value, NULL);
  if (most_waiting < 1) {
    snprintf(error, error_size, "most_waiting: '%s': expected at least 1",
             setting->values[0].value);
    return NULL;
  }
  queue_per_replica* policy = malloc(sizeof *policy);
  if (policy != NULL) policy->most_waiting = most_waiting;
  return policy;
}

static void destroy(void* policy) { free(policy); }

static int decide(void* object, const inferscale_request* request, const inferscale_pool* pool,
                  inferscale_decision* decision) {
  const queue_per_replica* policy = object;
  (void)request;
  int known = 0;
  for (uint32_t replica = 0; replica < pool->replicas; ++replica) {
    double waiting = 0;
    int64_t observed_at_ns = 0;
    if (!pool->read_replica(pool, QUEUE_DEPTH, replica, &waiting, &observed_at_ns)) continue;
    if (waiting < policy->most_waiting) return 0; /* the decision is an admission already */
    known = 1;
  }
  if (!known) return 0; /* an unknown queue is no reason to defer */
  decision->verdict = INFERSCALE_DEFER;
  decision->reason = "queue_depth";
  return 0;
}

static const inferscale_policy policy = {
    .size = sizeof(inferscale_policy),
    .abi_version = INFERSCALE_POLICY_ABI_VERSION,
    .name = "queue_per_replica",
    .summary = "defers when a queue has formed at every replica",
    .version = "1.0.0",
    .signals = signals,
    .signal_count = 1,
    .parameters = parameters,
    .parameter_count = 1,
    .create = create,
    .destroy = destroy,
    .decide = decide,
};

const inferscale_policy* inferscale_policy_plugin(void) { return &policy; }
