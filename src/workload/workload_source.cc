#include "workload/workload_source.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "workload/conversation_source.h"

namespace inferscale {

std::unique_ptr<RequestSource> make_request_source(const WorkloadOptions& options,
                                                   const Trace* trace, std::uint64_t run_seed) {
  CHECK(options.trace.has_value() == (trace != nullptr));
  std::unique_ptr<RequestSource> source;
  if (trace != nullptr) {
    source = std::make_unique<TraceSource>(*trace);
  } else if (options.generated.conversations) {
    source = std::make_unique<ConversationSource>(options.generated, run_seed);
  } else {
    source = std::make_unique<GeneratedSource>(options.generated, run_seed);
  }
  if (!options.shared_prefix) return source;
  return std::make_unique<SharedPrefixSource>(std::move(source), *options.shared_prefix, run_seed);
}

CarriedColumns GeneratedColumns::carried() const {
  return {.tenant = tenant,
          .tenant_names = tenant_names,
          .session = session,
          .session_names = session_names};
}

namespace {

std::vector<std::string> session_names(std::uint32_t count) {
  std::vector<std::string> names;
  for (std::uint32_t i = 0; i < count; ++i) names.push_back("session_" + std::to_string(i));
  return names;
}

}  // namespace

GeneratedColumns generated_columns(const GeneratedOptions& options, std::uint64_t run_seed,
                                   std::uint64_t requests) {
  GeneratedColumns columns;
  if (!options.prefixes && !options.conversations) return columns;
  const auto source = make_request_source({.generated = options}, nullptr, run_seed);
  Request request;
  for (std::uint64_t i = 0; i < requests && source->next(request); ++i) {
    if (options.prefixes) columns.tenant.push_back(request.tenant);
    if (options.conversations) columns.session.push_back(request.session);
  }
  if (options.prefixes) {
    for (std::uint32_t i = 0; i < options.prefixes->tenants; ++i) {
      columns.tenant_names.push_back(tenant_name(i));
    }
  }
  // Sessions are numbered in the order of their first turns.
  std::uint32_t sessions = 0;
  for (const std::uint32_t session : columns.session) sessions = std::max(sessions, session + 1);
  columns.session_names = session_names(sessions);
  return columns;
}

GeneratedColumns session_columns(const ProgramRecords& records,
                                 const std::vector<std::string>& names, std::uint64_t requests) {
  GeneratedColumns columns;
  for (std::uint64_t i = 0; i < requests; ++i) {
    columns.session.push_back(records.calls[records.call_of[i]].session);
  }
  columns.session_names =
      names.empty() ? session_names(static_cast<std::uint32_t>(records.sessions.size())) : names;
  return columns;
}

}  // namespace inferscale
