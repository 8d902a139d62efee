// The signals of a pool: pages of its replicas, the ledger, and the rules that make one of many.
//
// Age is judged for each replica: a page older than `max_age` is not looked at, and a pool with
// some fresh pages is judged by those. Sums over some fresh replicas are scaled to all that are
// there. The ledger's own signals are never old.

#pragma once

#include <cstdint>
#include <vector>

#include "admission/engine_reading.h"
#include "admission/ledger.h"
#include "admission/replica_page.h"
#include "core/pool_view.h"
#include "core/request_view.h"

namespace inferscale {

struct PoolSignalOptions {
  std::uint32_t replicas = 1;
  Duration max_age;
  Duration rate_window;
  bool corrections = true;
  ServiceModel service;
};

// Who is held at the door: kept by the hold queue, shown as signals.
struct HoldFigures {
  std::int64_t held = 0;
  Instant oldest = Instant::never();
};

class PoolSignals {
 public:
  explicit PoolSignals(const PoolSignalOptions& options);

  Ledger& ledger() { return ledger_; }
  const Ledger& ledger() const { return ledger_; }
  ServiceModel& service() { return options_.service; }
  const ServiceModel& service() const { return options_.service; }
  std::uint32_t replicas() const { return options_.replicas; }

  void observe(std::uint32_t replica, const EngineReading& page);
  void set_available(std::uint32_t replica, bool available);
  void arrived(Instant now);
  // The ledger's events, in both books.
  void dispatched(std::uint64_t ticket, std::uint32_t replica, Instant now);
  void first_token(std::uint64_t ticket, Instant now);
  LedgerEntry end(std::uint64_t ticket, TokenCount output_tokens, Instant now);

  // `any_age`: pages that are too old count too.
  Reading read(Signal signal, const RequestView& request, const HoldFigures& hold, Instant now,
               bool any_age) const;
  Reading read_replica(Signal signal, std::uint32_t replica, Instant now, bool any_age) const;
  // Whether some replica's page is young enough and has what the signal is made of; of the ledger's
  // signals always.
  bool is_fresh(Signal signal, Instant now) const;

 private:
  struct Member {
    ReplicaPage page;
    bool is_available = true;
  };

  bool is_read(const Member& member, Signal signal, Instant now, bool any_age) const;
  Reading combine(Signal signal, Instant now, bool any_age) const;
  // What those who were admitted and are on their way to a replica will change.
  double on_the_way(Signal signal) const;
  Reading hit_rate(Instant now, bool any_age) const;
  Reading full_fraction(Instant now, bool any_age) const;
  Reading queue_age(std::uint32_t replica, Instant now) const;
  Reading oldest_queue_age(Instant now) const;
  Reading of_ledger(Signal signal, const RequestView& request, const HoldFigures& hold,
                    Instant now) const;
  double arrival_rate(Instant now) const;

  PoolSignalOptions options_;
  Ledger ledger_;
  std::vector<Member> members_;
  // Arrivals in even parts of the window: a ring over time.
  static constexpr std::int64_t kParts = 16;
  std::vector<std::int64_t> arrivals_;
  std::int64_t arrivals_part_ = 0;  // the newest part's number
  Instant first_arrival_ = Instant::never();
};

// A view of them for one attempt and one policy: reading what was not declared stops.
class GateView final : public PoolView {
 public:
  GateView(const PoolSignals& signals, const HoldFigures& hold, SignalSet declared, Instant now,
           bool any_age)
      : signals_(signals), hold_(hold), declared_(declared), now_(now), any_age_(any_age) {}
  void look_at(const RequestView& request) { request_ = &request; }

  Instant now() const override { return now_; }
  Reading read(Signal signal) const override;
  std::uint32_t replicas() const override { return signals_.replicas(); }
  Reading read_replica(Signal signal, std::uint32_t replica) const override;
  const ServiceModel& service() const override { return signals_.service(); }

 private:
  const PoolSignals& signals_;
  HoldFigures hold_;
  SignalSet declared_;
  Instant now_;
  bool any_age_;
  const RequestView* request_ = nullptr;
};

}  // namespace inferscale
