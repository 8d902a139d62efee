// The catalogue of signals: what is known of a pool of replicas at the door.
//
// A reading is a value with the instant at which it was observed, or unknown. Unknown is never
// zero; a value out of its sane range is unknown, never clamped. Signals come from the engines'
// metrics pages (old by a scrape), or from the gate's own ledger (always of now).

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "base/time.h"

namespace inferscale {

enum class Signal : std::uint8_t {
  kKvUsedFraction,
  kKvFreeTokens,
  kQueueDepth,
  kQueueAgeS,
  kRunning,
  kPrefixHitRate,
  kPreemptionRate,
  kDecodeTokensPerS,
  kInFlight,
  kTokensInFlight,
  kTenantInFlight,
  kTenantTokenShare,
  kSessionInFlight,
  kReplicasFullFraction,
  kArrivalRate,
  kHeld,
  kHoldAgeS,
};

inline constexpr std::size_t kSignalCount = static_cast<std::size_t>(Signal::kHoldAgeS) + 1;

enum class SignalOrigin : std::uint8_t {
  kEngine,     // the engine's metrics page
  kLedger,     // what the gate admitted, dispatched and saw end
  kCorrected,  // the page's reading, corrected by what the ledger did since
};

// How the readings of several replicas become one, and before that those of a replica's ranks.
enum class SignalSum : std::uint8_t {
  kSum,          // counts; with some replicas unknown, their mean for each
  kMean,         // fractions, over replicas; the maximum over a replica's ranks
  kMax,          // ages
  kRatioOfSums,  // rates of counters: the sums of numerators and denominators
  kOfPool,       // defined for the pool only
};

struct SignalSpec {
  Signal signal;
  std::string_view name;
  std::string_view unit;
  double least;  // the sane range, both ends in it
  double most;
  SignalOrigin origin;
  SignalSum over_replicas;
  bool is_windowed;  // a rate, over at most the configured window
  std::string_view meaning;
};

const SignalSpec& spec_of(Signal signal);
std::span<const SignalSpec> all_signals();
// Nothing when there is no such signal.
std::optional<Signal> signal_of(std::string_view name);

// A set of signals.
class SignalSet {
 public:
  constexpr SignalSet() = default;
  constexpr SignalSet(std::initializer_list<Signal> signals) {
    for (const Signal signal : signals) add(signal);
  }
  constexpr void add(Signal signal) { bits_ |= bit(signal); }
  constexpr bool has(Signal signal) const { return (bits_ & bit(signal)) != 0; }
  constexpr SignalSet operator|(SignalSet other) const {
    SignalSet both = *this;
    both.bits_ |= other.bits_;
    return both;
  }
  constexpr bool is_empty() const { return bits_ == 0; }

 private:
  static constexpr std::uint32_t bit(Signal signal) {
    return std::uint32_t{1} << static_cast<unsigned>(signal);
  }
  std::uint32_t bits_ = 0;
};

// Signals that the ledger knows by itself.
SignalSet ledger_signals();

struct Reading {
  double value = 0;
  Instant observed_at = Instant::never();  // never(): unknown

  bool is_known() const { return observed_at != Instant::never(); }
  static Reading unknown() { return {}; }
  // Unknown when the value is out of the signal's range or no number.
  static Reading of(Signal signal, double value, Instant observed_at);
};

}  // namespace inferscale
