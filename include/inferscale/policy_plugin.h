// An admission policy as a shared object: the C interface, version 1.
//
// A plug-in is a shared object that exports one function,
//
//   const inferscale_policy* inferscale_policy_plugin(void);
//
// which returns a table that lasts as long as the program. The program finds it on its search path
// (INFERSCALE_POLICY_PATH, --plugin-path), loads it first in a child process, and then calls the
// table's functions. docs/writing_a_policy.md explains it with an example.
//
// Rules of the table's functions:
//  - one policy object is called from one thread at a time; several objects may exist at once;
//  - decide() does no I/O, reads no clock but now_ns, and draws nothing at random but by hashing
//    (seed, request, attempt): the same inputs in the same order give the same decisions;
//  - no exception and no longjmp leaves a function; strings and structs that are passed in last
//    until the function returns;
//  - a function that fails says so by its return value. A policy that fails in decide() is counted,
//    and what `on_error` says holds for that attempt.
//
// Versions: the first two members of inferscale_policy never change. Within a version members are
// only added, at the end of structs that begin with their size: whoever reads one looks at the size
// first, and takes what is beyond it as absent. All times are nanoseconds since the start of the
// run.
//
// C11, and C++11 or later.

#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define INFERSCALE_POLICY_ABI_VERSION 1u

/* "No such instant", "no such span". */
#define INFERSCALE_NEVER INT64_MAX

/* ---- what a policy sees ---- */

/* An attempt at the door. Callers are keys: stable 64-bit numbers, 0 for nobody. */
typedef struct inferscale_request {
  uint32_t size;
  uint32_t attempt; /* from 0 */
  uint64_t request; /* the same for all attempts of a request whose identity is known */
  uint64_t tenant;
  uint64_t session;
  uint64_t root_session;
  uint32_t sequences; /* answers that it asks for */
  int32_t priority;   /* higher is better */
  int64_t prompt_tokens;
  int64_t reusable_tokens;         /* of the prompt, probably cached; 0: not known */
  int64_t max_tokens;              /* 0: the caller did not say */
  int64_t predicted_output_tokens; /* 0: nobody predicts */
  int64_t arrival_ns;
  int64_t ttft_deadline_ns; /* when its first token is due; INFERSCALE_NEVER: no deadline */
  int64_t itl_target_ns;    /* 0: none */
  int64_t held_ns;          /* spent at the door so far */
  uint64_t body_bytes;      /* 0: not known */
  uint32_t slo_class;
  uint8_t streamed;
  uint8_t prompt_is_estimated;
  uint8_t identity_is_known;
  uint8_t reserved;
} inferscale_request;

/* How long a replica takes, as far as is known: a step over n decoding sequences and a chunk of c
 * prompt tokens takes step_ns + decode_ns_per_sequence n + prefill_ns_per_token c. */
typedef struct inferscale_service {
  uint32_t size;
  uint32_t is_known; /* 0: the figures are not to be used */
  double step_ns;
  double prefill_ns_per_token;
  double decode_ns_per_sequence;
  int64_t chunk_tokens;
  int64_t kv_capacity_tokens; /* of a replica; 0: not known */
  int64_t max_num_seqs;       /* of a replica; 0: not known */
} inferscale_service;

/* The pool behind the door, at this instant and for this attempt. `signal` is an index into the
 * policy's own list of signals, so nothing can be read that was not declared. The functions return
 * 1 and fill in the value, or 0 when it is unknown: unknown is never zero. */
typedef struct inferscale_pool {
  uint32_t size;
  uint32_t replicas;
  int64_t now_ns;
  const inferscale_service* service; /* never NULL */
  const void* context;               /* the program's own */
  int (*read)(const struct inferscale_pool* pool, uint32_t signal, double* value,
              int64_t* observed_at_ns);
  /* Of one replica; unknown for signals that are of the pool alone. */
  int (*read_replica)(const struct inferscale_pool* pool, uint32_t signal, uint32_t replica,
                      double* value, int64_t* observed_at_ns);
} inferscale_pool;

/* How an admitted attempt ended. */
enum { INFERSCALE_FINISHED = 0, INFERSCALE_IGNORED = 1, INFERSCALE_DROPPED = 2 };

typedef struct inferscale_end {
  uint32_t size;
  int32_t end; /* INFERSCALE_FINISHED, _IGNORED (its outcome says nothing), _DROPPED (it failed) */
  int64_t admitted_ns;
  int64_t dispatched_ns;  /* INFERSCALE_NEVER: was not */
  int64_t first_token_ns; /* INFERSCALE_NEVER: there was none */
  int64_t now_ns;
  int64_t output_tokens;
  int64_t in_flight_at_admission; /* of the pool, this one included */
} inferscale_end;

/* ---- what a policy says ---- */

enum { INFERSCALE_ADMIT = 0, INFERSCALE_DEFER = 1, INFERSCALE_REJECT = 2 };

/* Filled in with an admission before decide() is called. */
typedef struct inferscale_decision {
  uint32_t size;
  int32_t verdict;
  const char* reason;     /* one of the reasons of policies; NULL: "rule" */
  int64_t retry_after_ns; /* of a defer; INFERSCALE_NEVER: reckoned from the pool's state */
  uint8_t may_hold;       /* of a defer: it may be held at the door */
  uint8_t wakes_held;     /* decide about those held anew at once */
  uint8_t reserved[6];
} inferscale_decision;

/* ---- what a policy is ---- */

enum { INFERSCALE_NUMBER = 0, INFERSCALE_INTEGER = 1, INFERSCALE_BOOLEAN = 2, INFERSCALE_TEXT = 3 };

typedef struct inferscale_parameter {
  const char* key;
  int32_t kind;
  const char* fallback; /* as in a configuration; NULL: required (a boolean: false) */
  const char* unit;     /* may be NULL */
  const char* meaning;
  const char* provenance; /* where the fallback comes from: "paper", "field", "default"; or NULL */
} inferscale_parameter;

/* A value for each declared parameter, in the order of the declaration. Numbers are finite and in
 * decimal notation, booleans "true" or "false". */
typedef struct inferscale_value {
  const char* key;
  const char* value;
} inferscale_value;

typedef struct inferscale_setting {
  uint32_t size;
  uint32_t is_shadow;
  uint64_t seed;
  const inferscale_value* values;
  size_t value_count;
} inferscale_setting;

/* What a policy must know besides its signals; joined by |. */
enum {
  INFERSCALE_NEEDS_TENANT = 1,
  INFERSCALE_NEEDS_SESSION = 2,
  INFERSCALE_NEEDS_DEADLINE = 4,
  INFERSCALE_NEEDS_ITL_TARGET = 8,
  INFERSCALE_NEEDS_PREDICTED_OUTPUT = 16,
  INFERSCALE_NEEDS_SERVICE_MODEL = 32,
  INFERSCALE_NEEDS_OUTCOMES = 64
};

typedef struct inferscale_policy {
  uint32_t size;        /* sizeof(inferscale_policy) of the header that it was built with */
  uint32_t abi_version; /* INFERSCALE_POLICY_ABI_VERSION, likewise */

  const char* name;    /* as in configurations; no shipped policy's. [a-z0-9_.], at most 64 */
  const char* summary; /* a line */
  const char* version; /* the plug-in's own; may be NULL */

  const char* const* signals; /* names, as `inferscale signals` lists them; NULL when none */
  size_t signal_count;
  uint32_t needs;
  uint32_t reserved;
  const inferscale_parameter* parameters; /* NULL when none */
  size_t parameter_count;

  /* A policy object; NULL when a value is wrong, with the reason in `error`. */
  void* (*create)(const inferscale_setting* setting, char* error, size_t error_size);
  void (*destroy)(void* policy);
  /* 0, or anything else when it could not decide. A held attempt is decided about again. */
  int (*decide)(void* policy, const inferscale_request* request, const inferscale_pool* pool,
                inferscale_decision* decision);

  /* Each of these may be NULL. on_outcome is called once for each attempt of on_admit. */
  void (*on_admit)(void* policy, const inferscale_request* request, int64_t now_ns);
  void (*on_outcome)(void* policy, const inferscale_request* request, const inferscale_end* end);
  void (*on_reading)(void* policy, const inferscale_pool* pool);
  void (*on_tick)(void* policy, const inferscale_pool* pool);
  int64_t tick_interval_ns; /* with on_tick: above 0 */
  /* A controller's current limit, for reports: 1 and the value, or 0. */
  int (*limit)(void* policy, double* value);
} inferscale_policy;

typedef const inferscale_policy* (*inferscale_policy_plugin_function)(void);

/* What a plug-in exports: the loader looks for this name. */
#define INFERSCALE_POLICY_PLUGIN_SYMBOL "inferscale_policy_plugin"

#if defined(__GNUC__)
#define INFERSCALE_EXPORT __attribute__((visibility("default")))
#else
#define INFERSCALE_EXPORT
#endif

INFERSCALE_EXPORT const inferscale_policy* inferscale_policy_plugin(void);

#ifdef __cplusplus
}
#endif
