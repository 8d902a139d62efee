// The `clients:` part of a configuration: what callers do when they are not served.
//
// Keys, units, limits and defaults are in client_options.cc, once; docs/clients.md explains them.
// A profile (client_profiles.h) gives figures of real clients; every key can be written beside it.

#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/config_reader.h"
#include "base/time.h"

namespace inferscale {

// A wait is multiplied by a number drawn uniformly from [low, high].
struct Jitter {
  double low = 1;
  double high = 1;
};

// Before retry n = 1, 2, ...: min(base x factor^(n - 1), cap), then the jitter.
struct BackoffOptions {
  double base_s = 0.5;
  double factor = 2;
  double cap_s = 8;
  Jitter jitter;
};

// Which ends of an attempt are tried again.
struct RetriedEnds {
  bool on_429 = true;
  bool on_503 = true;
  bool on_529 = true;
  bool on_other_5xx = true;
  bool on_broken = true;   // the connection broke without an answer, or the replica failed
  bool on_timeout = true;  // the client's own
};

struct RetryAfterOptions {
  bool honoured = false;
  std::optional<Duration> longest;  // that is honoured; nothing: any
  bool gives_up_beyond = false;     // a longer one; else the client's own back-off
  Jitter jitter;
};

// Retries of a tenant so far are at most share x its requests so far + reserve.
struct RetryBudgetOptions {
  double share = 0;
  std::int64_t reserve = 0;
};

enum class After529 : std::uint8_t {
  kBackOff,    // as after any other answer
  kPark,       // again when `park` is over
  kElsewhere,  // to another provider, for good
};

enum class AfterBrokenStream : std::uint8_t {
  kRetry,   // the whole call again
  kResume,  // the prompt extended by the tokens that came
  kGiveUp,
};

struct StreamFailureOptions {
  double probability = 0;  // of an attempt, that its stream breaks half-way
  AfterBrokenStream then = AfterBrokenStream::kRetry;
};

// A router between clients and the door that tries again on its own.
struct RouterRetryOptions {
  std::int64_t attempts = 5;  // at most, of each try of a client
  BackoffOptions backoff;
};

struct ClientOptions {
  std::string profile = "open_loop";
  std::int64_t most_retries = 0;
  RetriedEnds retried;
  // Counts in place of `retried`: only what a full queue refused or a failing replica lost is tried
  // again, whatever its status.
  bool only_full_queue_or_lost = false;
  BackoffOptions backoff;
  RetryAfterOptions retry_after;
  std::optional<RetryBudgetOptions> budget;
  std::optional<Duration> timeout;  // of each try, from its beginning to its last token
  bool closes = true;               // at its timeout; else the attempt runs on for nobody
  bool halve_after_429 = false;     // the most calls in flight of a session (or else a tenant)
  After529 after_529 = After529::kBackOff;
  Duration park;
  StreamFailureOptions stream_failures;
  std::optional<RouterRetryOptions> router;

  // Nothing that any of them does can be told from clients that never come back.
  bool is_open_loop() const;
};

// Reads and finishes `clients` of a whole configuration.
ClientOptions read_clients(ConfigReader& root);

}  // namespace inferscale
