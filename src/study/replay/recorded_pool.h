// The pool behind the door as a line of a decision log has it.
//
// A log holds what was known of the whole pool when a decision was taken: a signal that is not
// there was unknown, and one that was observed too long before counts as unknown, as it did at the
// door. What a log does not hold is unknown here, and noted: a policy that asked for it can't be
// replayed.

#pragma once

#include <cstdint>

#include "core/decision_record.h"
#include "core/pool_view.h"

namespace inferscale {

class RecordedPool final : public PoolView {
 public:
  struct Options {
    ServiceModel service;
    bool service_is_learned = false;  // it changed in the course of the run: no log has it
    std::uint32_t replicas = 1;
    Duration max_age;
  };
  explicit RecordedPool(const Options& options) : options_(options) {}

  // Of this decision; `any_age`: readings that are too old count too. REQUIRES: `record` lives as
  // long as the view is used. Reading what is not in `declared` stops.
  void show(const DecisionRecord& record, SignalSet declared, bool any_age);

  Instant now() const override { return record_->at; }
  Reading read(Signal signal) const override;
  std::uint32_t replicas() const override { return options_.replicas; }
  Reading read_replica(Signal signal, std::uint32_t replica) const override;
  const ServiceModel& service() const override;

  // Whether a policy asked for one replica of several, or for an estimate that was learned.
  bool lacked_replica() const { return lacked_replica_; }
  bool lacked_service() const { return lacked_service_; }

 private:
  Options options_;
  const DecisionRecord* record_ = nullptr;
  SignalSet declared_;
  bool any_age_ = false;
  mutable bool lacked_replica_ = false;
  mutable bool lacked_service_ = false;
};

// Whether some page that has this signal was young enough at the decision. Of the ledger's signals
// always. A signal that is unknown though the pages were young counts as not too old.
bool was_fresh(const DecisionRecord& record, Signal signal, Duration max_age);

// Whether the recorded policy decided by the pages of some replicas while those of others were too
// old: the log's readings are of all of them.
bool was_partly_old(const DecisionRecord& record, Duration max_age);

}  // namespace inferscale
