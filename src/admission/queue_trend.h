// Burst or trend: whether the queue has been rising all along.
//
// The queue is everybody who waits: in the engines (as the ledger sees them), at the door, and
// outside, told to come again and not due yet. The window is split into even parts; it rises when
// the mean of each of the last `rises` parts is above that of the part before, by a request at
// least. A burst rises and falls within parts; a trend does not.
//
// Constant memory and amortised constant time: parts without an input keep the last value.

#pragma once

#include <cstdint>
#include <deque>
#include <map>

#include "admission/gate_options.h"
#include "base/time.h"

namespace inferscale {

class QueueTrend {
 public:
  explicit QueueTrend(const TrendOptions& options);

  // Somebody was told to come again at `due`.
  void told_to_wait(Instant due);
  // The queue without those outside, from `now` on.
  void observe(std::int64_t waiting, Instant now);
  bool is_rising() const;
  // Those who are not due yet, as of the last observe().
  std::int64_t outside() const { return outside_; }

 private:
  void advance(Instant now);
  void close_part();

  TrendOptions options_;
  Duration part_;
  Instant last_;         // of the last input
  Instant part_end_;     // of the open part
  double integral_ = 0;  // of the open part, queue x ns
  std::int64_t waiting_ = 0;
  std::int64_t outside_ = 0;
  std::deque<double> means_;  // of closed parts, the newest last
  std::map<Instant, std::int64_t> due_;
};

}  // namespace inferscale
