// The requests of a configured workload: single ones, conversations or a trace's rows.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/carried_columns.h"
#include "core/session_record.h"
#include "workload/generated_source.h"
#include "workload/request_source.h"
#include "workload/trace.h"
#include "workload/workload_options.h"

namespace inferscale {

// `trace`: the rows that options.trace names, or null when it names none; outlives the source.
std::unique_ptr<RequestSource> make_request_source(const WorkloadOptions& options,
                                                   const Trace* trace, std::uint64_t run_seed);

// Whose each generated request was, for the record of a run. A trace has its own columns.
struct GeneratedColumns {
  std::vector<std::uint32_t> tenant;  // empty without workload.prefixes
  std::vector<std::string> tenant_names;
  std::vector<std::uint32_t> session;  // empty without workload.conversations
  std::vector<std::string> session_names;

  CarriedColumns carried() const;
};

// Of agent programs. `names`: of their sessions; empty where these have none.
GeneratedColumns session_columns(const ProgramRecords& records,
                                 const std::vector<std::string>& names, std::uint64_t requests);

// Of the first `requests` requests. They are made once more, which costs less than keeping every
// run's columns.
GeneratedColumns generated_columns(const GeneratedOptions& options, std::uint64_t run_seed,
                                   std::uint64_t requests);

}  // namespace inferscale
