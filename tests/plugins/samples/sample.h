// What the samples have in common: a policy that admits, to be changed by each in one way.

#pragma once

#include <inferscale/policy_plugin.h>
#include <stdlib.h>

static void* create(const inferscale_setting* setting, char* error, size_t error_size) {
  (void)setting;
  (void)error;
  (void)error_size;
  return malloc(1);
}

static void destroy(void* policy) { free(policy); }

static int admit(void* policy, const inferscale_request* request, const inferscale_pool* pool,
                 inferscale_decision* decision) {
  (void)policy;
  (void)request;
  (void)pool;
  (void)decision;
  return 0;
}

#define SAMPLE(sample_name, decide_function)                                              \
  {                                                                                       \
    .size = sizeof(inferscale_policy), .abi_version = INFERSCALE_POLICY_ABI_VERSION,      \
    .name = sample_name, .summary = "a sample", .create = create, .destroy = destroy,     \
    .decide = decide_function                                                             \
  }
