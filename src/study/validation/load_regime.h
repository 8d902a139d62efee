// How hard a measured system was loaded: light, at the knee, or overloaded.
//
// Errors of a model differ between these by orders of magnitude (far below the knee latency is
// service time, beyond it it is queueing that grows with the length of the run), so figures of
// different regimes are never averaged. The rule, the first that applies:
//
//   stated      the case says it.
//   mode        requests that were all there at the start have no arrival rate, so there is no
//               load to speak of: one static batch, and a burst, are regimes of their own.
//   measured    throughput < served_below x n / (n / offered + s): overload. n requests that come
//               at `offered` requests/s last n / offered; an engine that keeps up is done after
//               that and one longest service time s (of the predicted run). More than that was
//               spent on a queue.
//   predicted   load factor = offered / capacity; capacity is the throughput of the simulated
//               deployment when far more requests than fit its batch are there at once. When the
//               model says overload and the measured throughput is served_below x offered or more,
//               the engine kept up: knee, and the basis is the measurement.
//
// Without any of this the regime is undetermined, which is shown as such.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "study/validation/validate_options.h"

namespace inferscale {

enum class Regime : std::uint8_t { kLight, kKnee, kOverload, kBurst, kBatch, kUndetermined };
constexpr std::size_t kRegimeCount = 6;

enum class RegimeBasis : std::uint8_t { kStated, kMode, kMeasured, kPredicted, kNone };

std::string_view regime_name(Regime regime);
std::string_view regime_basis_name(RegimeBasis basis);
std::optional<Regime> regime_named(std::string_view name);

struct LoadEvidence {
  std::optional<Regime> stated;
  bool batch = false;  // one static batch
  bool burst = false;  // all at the start
  std::optional<double> offered_rps;
  std::optional<double> requests;
  std::optional<double> measured_rps;
  std::optional<double> service_s;     // longest, predicted
  std::optional<double> capacity_rps;  // predicted
  std::optional<double> saturated;     // predicted: 1 when the backlog of the run itself grows
};

struct RegimeFinding {
  Regime regime = Regime::kUndetermined;
  RegimeBasis basis = RegimeBasis::kNone;
  std::optional<double> load_factor;  // where offered load and capacity are known
};

RegimeFinding find_regime(const LoadEvidence& evidence, const ValidateOptions& options);

}  // namespace inferscale
