#include "core/service_model.h"

#include "core/request_view.h"

namespace inferscale {

std::string_view service_provenance_name(ServiceProvenance provenance) {
  switch (provenance) {
    case ServiceProvenance::kUnknown:
      return "unknown";
    case ServiceProvenance::kCatalogue:
      return "catalogue";
    case ServiceProvenance::kCalibrated:
      return "calibrated";
    case ServiceProvenance::kFitted:
      return "fitted";
  }
  return "unknown";
}

std::string_view predictor_name(OutputPredictor predictor) {
  switch (predictor) {
    case OutputPredictor::kNone:
      return "none";
    case OutputPredictor::kMaxTokens:
      return "max_tokens";
    case OutputPredictor::kConstant:
      return "constant";
    case OutputPredictor::kTenantQuantile:
      return "tenant_quantile";
    case OutputPredictor::kSessionQuantile:
      return "session_quantile";
    case OutputPredictor::kOracle:
      return "oracle";
  }
  return "unknown";
}

}  // namespace inferscale
