// The routers written a second time, for tests: nothing is kept but the history of calls, and every
// question is answered by going through all of it.

#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "routing/router.h"

namespace inferscale {

class NaiveRouter {
 public:
  NaiveRouter(const RouterOptions& options, std::uint64_t seed) : options_(options), seed_(seed) {}

  void add_replica(const ReplicaTraits& traits);
  void set_available(std::uint32_t replica, bool available) {
    replicas_[replica].available = available;
  }
  void observe(std::uint32_t replica, const ReplicaSignals& signals);
  void dispatched(std::uint32_t replica, const Request& request, Instant now);
  void finished(std::uint32_t replica, RequestId request, Instant now);
  void forget(std::uint32_t replica);
  std::optional<std::uint32_t> choose(const Request& request) const;

 private:
  struct Replica {
    ReplicaTraits traits;
    bool available = true;
    ReplicaSignals reading;
    std::size_t read_at = 0;  // calls before the reading arrived
    std::size_t began = 0;    // calls before it started (anew)
  };
  struct Call {
    std::uint32_t replica = 0;
    Request request;
    Instant at;
    bool is_end = false;
    std::size_t dispatch = 0;  // of an end: the call that dispatched it
  };
  struct Sums {
    std::int64_t requests = 0;
    TokenCount tokens = 0;
    TokenCount prompts = 0;
  };
  using Order = std::tuple<double, double, double, std::size_t, std::uint32_t>;

  bool is_in_reading(std::size_t call) const;
  Sums in_flight(std::uint32_t replica) const;
  Sums since_reading(std::uint32_t replica) const;
  double requests(std::uint32_t replica) const;
  double tokens(std::uint32_t replica) const;
  double load(std::uint32_t replica) const;
  Order order(std::uint32_t replica) const;
  std::vector<std::uint32_t> available() const;
  std::optional<std::uint32_t> least(const std::vector<std::uint32_t>& among) const;
  std::optional<std::uint32_t> home(const Request& request) const;
  TokenCount matched(std::uint32_t replica, const Request& request) const;
  std::optional<std::uint32_t> least_cost(const Request& request) const;

  RouterOptions options_;
  std::uint64_t seed_;
  std::vector<Replica> replicas_;
  std::vector<Call> calls_;
};

}  // namespace inferscale
