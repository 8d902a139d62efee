// How long requests were put off: from the first defer to the admission, or to the last answer that
// the request got before it gave up. One that is deferred, admitted and deferred again has two.
//
// A door tells attempts of one request apart from new requests only where they carry an id that it
// trusts. Who made the attempts knows better: its records (core/client_record.h) say whose each
// was, and decisions are joined by them. Without either, an attempt whose caller may come again
// unrecognised is followed while it is held, and no further.
//
// Memory: 16 bytes for each decision about such a request after the first defer of all.

#pragma once

#include <cstdint>
#include <vector>

#include "core/client_record.h"
#include "core/decision_record.h"

namespace inferscale {

class PutOffTimes {
 public:
  // `is_joined`: seconds() will get the records of the clients, whose attempts are numbered as
  // the decisions name them.
  explicit PutOffTimes(bool is_joined) : is_joined_(is_joined) {}

  void note(const DecisionRecord& record);
  // Seconds. `clients` null: requests are told apart as the door did.
  std::vector<double> seconds(const ClientRecords* clients) const;

 private:
  enum class Kind : std::uint8_t { kDeferred, kRefused, kAdmitted };
  struct Event {
    std::uint64_t request = 0;
    std::int64_t packed = 0;  // nanoseconds x 4 + kind

    Instant at() const { return Instant::nanos(packed >> 2); }
    Kind kind() const { return static_cast<Kind>(packed & 3); }
  };

  bool is_joined_;
  std::vector<Event> events_;  // as they came: by time
};

}  // namespace inferscale
