// The `admission` part of summary.json (docs/formats/run_folder.md).

#pragma once

#include <span>
#include <string>

#include "base/json_writer.h"
#include "metrics/admission_summary.h"

namespace inferscale {

// Rows of tenants that are written: those with the most requests.
inline constexpr std::size_t kMostTenantRows = 32;

// `tenant_names` by index; empty: they are called by their numbers.
JsonValue admission_json(const AdmissionSummary& summary,
                         std::span<const std::string> tenant_names);

}  // namespace inferscale
