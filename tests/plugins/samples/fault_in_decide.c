/* Says what its parameters tell it to, and fails where `fault` is among them: every way in which a
 * decision can be wrong. */
#include <string.h>

#include "sample.h"

typedef struct {
  int code;
  int verdict;
  char reason[32];
  int64_t retry_after_ns;
} said;

static const inferscale_parameter parameters[] = {
    {.key = "code", .kind = INFERSCALE_INTEGER, .fallback = "0", .meaning = "what decide returns"},
    {.key = "verdict", .kind = INFERSCALE_INTEGER, .fallback = "0", .meaning = "its verdict"},
    {.key = "reason", .kind = INFERSCALE_TEXT, .fallback = "none", .meaning = "its reason"},
    {.key = "retry_s", .kind = INFERSCALE_NUMBER, .fallback = "1", .meaning = "its retry-after"},
};

static void* create_said(const inferscale_setting* setting, char* error, size_t error_size) {
  (void)error;
  (void)error_size;
  said* made = calloc(1, sizeof *made);
  made->code = atoi(setting->values[0].value);
  made->verdict = atoi(setting->values[1].value);
  strncpy(made->reason, setting->values[2].value, sizeof made->reason - 1);
  made->retry_after_ns = (int64_t)(strtod(setting->values[3].value, NULL) * 1e9);
  return made;
}

static int say(void* object, const inferscale_request* request, const inferscale_pool* pool,
               inferscale_decision* decision) {
  const said* what = object;
  (void)request;
  (void)pool;
  decision->verdict = what->verdict;
  decision->reason = strcmp(what->reason, "none") == 0 ? NULL : what->reason;
  decision->retry_after_ns = what->retry_after_ns;
  return what->code;
}

static inferscale_policy policy = SAMPLE("fault_in_decide", say);
const inferscale_policy* inferscale_policy_plugin(void) {
  policy.create = create_said;
  policy.parameters = parameters;
  policy.parameter_count = sizeof parameters / sizeof *parameters;
  return &policy;
}
