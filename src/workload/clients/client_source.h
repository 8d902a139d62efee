// Clients around a workload: each of its requests arrives when the workload says, and again when
// its client comes again (client_calls.h).
//
// Arrivals of the workload keep their schedule whatever clients do. Ids are dense in the order of
// presentation; requests are numbered in the order of their first arrival. A session, or else a
// tenant, is one caller with one limit of calls in flight; without either there is no such limit.
//
// Where a caller that is over its own limit is the only one, its later requests are read ahead of
// their time.

#pragma once

#include <cstdint>
#include <memory>

#include "workload/clients/client_options.h"
#include "workload/reactive_source.h"

namespace inferscale {

// REQUIRES: `workload` is not reactive.
std::unique_ptr<ReactiveSource> make_client_source(std::unique_ptr<RequestSource> workload,
                                                   const ClientOptions& options,
                                                   std::uint64_t run_seed);

}  // namespace inferscale
