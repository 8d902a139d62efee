// Those held at the door, in the order in which they are to be let in.
//
// Order: what the policy says (its rank, lower first), or else those with a cached prefix, then the
// earlier deadline, then the caller who holds fewer places (at the time it came), then who came
// first. Bounded in number and in bytes of bodies; each has a time after which it is answered.
// Logarithmic time an operation; to look through it costs a step for each.

#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <set>

#include "admission/gate_options.h"
#include "admission/ledger.h"
#include "admission/pool_signals.h"
#include "core/request_view.h"

namespace inferscale {

class HoldQueue {
 public:
  struct Key {
    double rank = 0;
    bool is_cold = true;  // no part of its prompt is known to be cached
    Instant deadline;
    std::int64_t places = 0;  // of its tenant, when it came
    std::uint64_t order = 0;  // in which they came: unique
    std::partial_ordering operator<=>(const Key&) const = default;
  };
  struct Held {
    RequestView request;
    Instant since;
    Instant expires;
    Instant due = Instant::never();  // when the policy thinks that it may go better
  };

  explicit HoldQueue(const HoldOptions& options) : options_(options) {}

  bool has_room(const RequestView& request) const;
  // REQUIRES: has_room(); `rank` is a number.
  void add(const RequestView& request, std::optional<double> rank, Instant due, Instant now);
  // The first one, and the one behind `key`; null at the end.
  const Held* first(Key& key) const;
  const Held* after(Key& key) const;
  // REQUIRES for these: `key` is there.
  Held take(const Key& key);
  const Held& at(const Key& key) const { return held_.at(key); }
  void set_due(const Key& key, Instant due);

  std::optional<Key> find(std::uint64_t request, std::uint32_t attempt) const;
  // One that is to be answered by `now`.
  std::optional<Key> expired(Instant now) const;
  // Whether somebody's time to be decided about again has come; notes that it is being done.
  bool take_due(Instant now);
  Instant next_wake() const;
  HoldFigures figures() const;
  std::int64_t size() const { return static_cast<std::int64_t>(held_.size()); }

 private:
  using Identity = std::pair<std::uint64_t, std::uint32_t>;

  HoldOptions options_;
  std::map<Key, Held> held_;
  std::map<Identity, Key> keys_;
  std::set<std::pair<Instant, std::uint64_t>> expiries_;  // with `order`
  std::set<std::pair<Instant, std::uint64_t>> dues_;
  std::map<std::uint64_t, Key> by_order_;
  CallerShares tenants_;
  std::uint64_t bytes_ = 0;
  std::uint64_t next_order_ = 0;
};

}  // namespace inferscale
