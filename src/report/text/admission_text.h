// What admission bought as people read it in a terminal: decisions by reason, goodput of all
// arrivals beside the attainment of those admitted, what retries and waste cost, and whether the
// policy ever acted.

#pragma once

#include <string>

#include "metrics/admission_summary.h"

namespace inferscale {

struct AdmissionContext {
  bool simulated = true;  // said in the first line
};

std::string admission_text(const AdmissionSummary& summary, const AdmissionContext& context);

}  // namespace inferscale
