// Requests of another source, each with its class of service.
//
// A request of a session has its session's class: all calls of an agent's session, its sub-agents'
// among them, and all turns of a conversation. Other requests draw one each. The draws come from a
// stream of their own ("slo_classes"), for sessions in the order of their numbers, so that nothing
// else of a workload hangs on its classes and none of them on when requests arrive. A tenant may
// name the class of all its requests; those draw all the same, so that it shifts no other's.
//
// A class's priority is its requests', unless the workload gives a request one of its own.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/slo_class.h"
#include "workload/reactive_source.h"
#include "workload/request_source.h"

namespace inferscale {

struct ClassOptions {
  std::vector<SloClass> classes;
  std::vector<std::optional<std::uint8_t>> of_tenant;  // by number; shorter: the others name none
  // By request: CarriedColumns::kNoPriority where the workload gives none; empty: it gives none.
  // Outlives the source.
  std::span<const std::int64_t> priorities;
};

// REQUIRES: options.classes is not empty and their shares are not all 0; so below.
std::unique_ptr<RequestSource> with_classes(std::unique_ptr<RequestSource> source,
                                            ClassOptions options, std::uint64_t run_seed);
// Of a source whose requests are all of sessions.
std::unique_ptr<ReactiveSource> with_classes(std::unique_ptr<ReactiveSource> source,
                                             ClassOptions options, std::uint64_t run_seed);

}  // namespace inferscale
