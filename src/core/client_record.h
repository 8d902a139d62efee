// What became of requests whose clients may come again: a row for each request, over its attempts.
//
// A request is one call; an attempt is one presentation of it at the door, with an id and an
// Outcome of its own. Latency counts from the first attempt's scheduled instant. Goodput counts
// requests, never attempts.

#pragma once

#include <cstdint>
#include <vector>

#include "base/time.h"
#include "core/request.h"

namespace inferscale {

enum class RequestStatus : std::uint8_t {
  kUnfinished,  // neither answered nor given up when the run ended
  kFinished,    // an attempt was answered to its end, and its client was still there
  kGaveUp,      // refused or deferred, and not tried again
  kTimedOut,    // its client left, and did not try again
  kElsewhere,   // its client went to another provider
};

struct RequestRecord {
  Instant first_arrival;
  RequestId last_attempt = 0;  // the one that finished, or the last one that there was
  std::uint32_t attempts = 0;
  std::uint32_t deferred = 0;  // attempts that were answered so, and below
  std::uint32_t rejected = 0;
  std::uint32_t left = 0;            // attempts that the client left
  std::uint32_t broken = 0;          // streams that broke half-way
  std::uint32_t resumed_tokens = 0;  // output tokens kept from broken streams by resuming
  Duration waited;                   // from the end of an attempt to the next one, in all
  // The first token that the client kept: of an attempt that was resumed, or of the last one.
  Instant first_token = Instant::never();
  RequestStatus status = RequestStatus::kUnfinished;
};

struct ClientRecords {
  std::vector<RequestRecord> requests;    // in order of first arrival
  std::vector<std::uint32_t> request_of;  // of each attempt, the index of its request
};

}  // namespace inferscale
