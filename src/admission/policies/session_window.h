// A window of active agent sessions, opened slowly and closed fast: inspired by CONCUR (Chen, Ye
// and others, arXiv 2601.22705).
//
// A session is let in as a whole: once its first call is admitted it is active, and its calls are
// always admitted; sessions that find the window full are deferred. U is the part of the KV cache
// in use, H the prefix hit rate. Once in each control interval:
//
//   W <- min(most, W + alpha)   when U < U_low
//   W <- max(1, beta W)         when U > U_high and H < H_thresh
//   W                           otherwise, and where a reading is unknown
//
// A session is active from its first admitted call until it has had no call in flight for idle_s.
// It is known by its root session, so that sub-agents are in with it. A request without a session
// is a session of its own, for as long as it is in flight. When the window closes nobody who is in
// is turned out.

#pragma once

#include <cstdint>

#include "admission/registry.h"

namespace inferscale {

struct SessionWindowOptions {
  double initial_sessions = 8;
  std::int64_t most_sessions = 10'000;
  double increase = 2;    // alpha
  double decrease = 0.5;  // beta
  double kv_low = 0.2;    // U_low
  double kv_high = 0.5;   // U_high
  double hit_rate = 0.2;  // H_thresh
  double interval_s = 1;  // of the control
  double idle_s = 60;
};

const PolicyCard& session_window_card();
PolicyFactory read_session_window(ConfigReader& parameters);

}  // namespace inferscale
