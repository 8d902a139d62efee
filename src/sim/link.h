// The link between the prefill and the decode pool: how long KV caches take to move.
//
//   time of a transfer alone = (base_latency + bytes / bandwidth) x scale
//
// `serial`: one transfer at a time, in the order in which they were started; each occupies the link
// for all of that time. `fair`: every transfer first waits for its base latency, which all do at
// once; then those that move share the bandwidth equally, so that a late joiner slows the others
// from that instant on (processor sharing).
//
// Processor sharing is exact and costs logarithmic time by virtual time (the idea of generalised
// processor sharing: A. Parekh and R. Gallager, "A generalized processor sharing approach to flow
// control", IEEE/ACM ToN 1(3) 1993): with n transfers moving, virtual time V passes at a rate of
// 1/n, so one that joins at V with work w ends when V reaches V + w, whoever comes and goes.
//
// Ends are rounded to the nearest nanosecond. Transfers that end at one instant do so in the order
// of the times that they were to end at, then of their start. Cost: constant (serial) or
// logarithmic (fair) in the transfers under way; cut() takes linear time.

#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "base/time.h"
#include "core/request.h"

namespace inferscale {

enum class LinkSharing : std::uint8_t { kSerial, kFair };

struct LinkOptions {
  Duration base_latency = Duration::nanos(20'000);
  double bandwidth = 50e9;  // bytes/s
  double scale = 1;
  LinkSharing sharing = LinkSharing::kSerial;
};

// Nanoseconds of a transfer that has the link to itself.
double transfer_ns(const LinkOptions& options, double bytes);

// REQUIRES, everywhere: `now` does not fall from call to call and is at most next().
class Link {
 public:
  explicit Link(const LinkOptions& options) : options_(options) {}

  void start(RequestId id, double bytes, Instant now);
  // When the next transfer ends, or with fair sharing begins to move; never() when none is under
  // way.
  Instant next() const;
  // Appends those that end at `now` to `done`. REQUIRES: now == next().
  void advance(Instant now, std::vector<RequestId>& done);
  // The transfer ends without having arrived; the others gain what it leaves.
  // REQUIRES: it is under way.
  void cut(RequestId id, Instant now);

  std::int64_t under_way() const {
    return static_cast<std::int64_t>(serial_.size() + waiting_.size() + moving_.size());
  }
  // Time during which some transfer was under way, up to the last call.
  Duration busy() const { return busy_; }

 private:
  struct Serial {
    RequestId id;
    Duration time;
  };
  struct Waiting {  // for its base latency to pass
    RequestId id;
    Instant joins_at;
    double work_ns;  // with the whole bandwidth
  };
  struct Moving {
    double ends_at;  // in virtual time
    std::uint64_t order;
    RequestId id;
    bool operator>(const Moving& other) const {
      return ends_at != other.ends_at ? ends_at > other.ends_at : order > other.order;
    }
  };

  void pass(Instant now);
  Instant next_end() const;
  void join_due(Instant now);

  LinkOptions options_;
  Instant now_;  // of the last call
  Duration busy_;
  // Serial: the first one is moving and ends at head_ends_.
  std::deque<Serial> serial_;
  Instant head_ends_;
  // Fair.
  std::deque<Waiting> waiting_;  // in order of joins_at
  std::vector<Moving> moving_;   // a heap, the first to end at the front
  double virtual_ns_ = 0;
  std::uint64_t joined_ = 0;
};

}  // namespace inferscale
