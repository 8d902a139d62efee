#include "study/replay/recorded_pool.h"

#include <algorithm>

#include "base/check.h"

namespace inferscale {
namespace {

const Reading& reading_of(const DecisionRecord& record, Signal signal) {
  return record.readings[static_cast<std::size_t>(signal)];
}

bool is_young(const DecisionRecord& record, const Reading& reading, Duration max_age) {
  return reading.is_known() && record.at - reading.observed_at <= max_age;
}

// Whether the pool's reading is that of its only replica: not so for what is counted from admission
// in one and from dispatch in the other, nor for ratios.
bool is_the_replicas_own(const SignalSpec& spec) {
  if (spec.signal == Signal::kQueueAgeS) return true;
  if (spec.origin == SignalOrigin::kLedger) return false;
  return spec.over_replicas != SignalSum::kRatioOfSums && spec.over_replicas != SignalSum::kOfPool;
}

}  // namespace

void RecordedPool::show(const DecisionRecord& record, SignalSet declared, bool any_age) {
  record_ = &record;
  declared_ = declared;
  any_age_ = any_age;
}

Reading RecordedPool::read(Signal signal) const {
  CHECK(declared_.has(signal)) << "a policy reads " << spec_of(signal).name
                               << " without having declared it";
  const Reading& reading = reading_of(*record_, signal);
  const bool counts = any_age_ || spec_of(signal).origin == SignalOrigin::kLedger ||
                      is_young(*record_, reading, options_.max_age);
  return counts ? reading : Reading::unknown();
}

Reading RecordedPool::read_replica(Signal signal, std::uint32_t replica) const {
  CHECK(replica < options_.replicas) << "replica " << replica << " of " << options_.replicas;
  if (options_.replicas == 1 && is_the_replicas_own(spec_of(signal))) return read(signal);
  lacked_replica_ = true;
  return Reading::unknown();
}

const ServiceModel& RecordedPool::service() const {
  lacked_service_ |= options_.service_is_learned;
  return options_.service;
}

bool was_fresh(const DecisionRecord& record, Signal signal, Duration max_age) {
  if (spec_of(signal).origin == SignalOrigin::kLedger) return true;
  const Reading& own = reading_of(record, signal);
  if (own.is_known()) return is_young(record, own, max_age);
  const auto all = all_signals();
  return std::any_of(all.begin(), all.end(), [&](const SignalSpec& spec) {
    return spec.origin != SignalOrigin::kLedger &&
           is_young(record, reading_of(record, spec.signal), max_age);
  });
}

bool was_partly_old(const DecisionRecord& record, Duration max_age) {
  const auto all = all_signals();
  return record.stale == StaleRule::kNone &&
         std::any_of(all.begin(), all.end(), [&](const SignalSpec& spec) {
           const Reading& reading = reading_of(record, spec.signal);
           return record.needed.has(spec.signal) && spec.origin != SignalOrigin::kLedger &&
                  reading.is_known() && !is_young(record, reading, max_age);
         });
}

}  // namespace inferscale
