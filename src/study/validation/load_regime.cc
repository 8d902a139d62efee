#include "study/validation/load_regime.h"

#include <array>

namespace inferscale {
namespace {

constexpr std::array<std::string_view, kRegimeCount> kRegimeNames = {
    "light", "knee", "overload", "burst", "batch", "undetermined"};
constexpr std::array<std::string_view, 5> kBasisNames = {"stated", "mode", "measured", "predicted",
                                                         "none"};

// Whether more time passed than an engine that keeps up would have needed.
bool fell_behind(const LoadEvidence& evidence, double served_below) {
  if (!evidence.measured_rps || !evidence.offered_rps || !evidence.requests ||
      !evidence.service_s || *evidence.offered_rps <= 0) {
    return false;
  }
  const double arrivals_s = *evidence.requests / *evidence.offered_rps;
  const double keeping_up_rps = *evidence.requests / (arrivals_s + *evidence.service_s);
  return *evidence.measured_rps < served_below * keeping_up_rps;
}

// Whether as many were answered as came, whatever the model thinks of it.
bool kept_up(const LoadEvidence& evidence, double served_below) {
  return evidence.measured_rps && evidence.offered_rps &&
         *evidence.measured_rps >= served_below * *evidence.offered_rps;
}

}  // namespace

std::string_view regime_name(Regime regime) {
  return kRegimeNames[static_cast<std::size_t>(regime)];
}

std::string_view regime_basis_name(RegimeBasis basis) {
  return kBasisNames[static_cast<std::size_t>(basis)];
}

std::optional<Regime> regime_named(std::string_view name) {
  for (std::size_t i = 0; i < kRegimeNames.size(); ++i) {
    if (kRegimeNames[i] == name) return static_cast<Regime>(i);
  }
  return std::nullopt;
}

RegimeFinding find_regime(const LoadEvidence& evidence, const ValidateOptions& options) {
  RegimeFinding finding;
  if (evidence.offered_rps && evidence.capacity_rps && *evidence.capacity_rps > 0) {
    finding.load_factor = *evidence.offered_rps / *evidence.capacity_rps;
  }
  const auto found = [&](Regime regime, RegimeBasis basis) {
    finding.regime = regime;
    finding.basis = basis;
    return finding;
  };
  if (evidence.stated) return found(*evidence.stated, RegimeBasis::kStated);
  if (evidence.batch) return found(Regime::kBatch, RegimeBasis::kMode);
  if (evidence.burst) return found(Regime::kBurst, RegimeBasis::kMode);
  if (fell_behind(evidence, options.served_below)) {
    return found(Regime::kOverload, RegimeBasis::kMeasured);
  }
  if (finding.load_factor) {
    if (*finding.load_factor < options.knee_from) {
      return found(Regime::kLight, RegimeBasis::kPredicted);
    }
    if (*finding.load_factor < options.overload_from) {
      return found(Regime::kKnee, RegimeBasis::kPredicted);
    }
    if (kept_up(evidence, options.served_below)) {
      return found(Regime::kKnee, RegimeBasis::kMeasured);
    }
    return found(Regime::kOverload, RegimeBasis::kPredicted);
  }
  if (evidence.saturated && *evidence.saturated > 0) {
    return found(Regime::kOverload, RegimeBasis::kPredicted);
  }
  return finding;
}

}  // namespace inferscale
