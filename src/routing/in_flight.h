// What a router knows of each request that it dispatched and that has not ended yet.
//
// Constant time an operation; memory in proportion to the most requests in flight at once.

#pragma once

#include <cstdint>
#include <vector>

#include "base/key_table.h"
#include "core/request.h"

namespace inferscale {

struct DispatchedRequest {
  std::uint32_t replica = 0;
  std::uint32_t prompt_tokens = 0;
  std::uint32_t max_tokens = 0;
  std::uint64_t dispatch = 0;  // the number of its dispatch, counted over all replicas

  TokenCount tokens() const { return TokenCount{prompt_tokens} + max_tokens; }
};

class InFlight {
 public:
  // REQUIRES: the request is not in flight.
  void add(RequestId id, const DispatchedRequest& request);
  // REQUIRES: the request is in flight.
  DispatchedRequest take(RequestId id);

 private:
  KeyTable places_;
  std::vector<DispatchedRequest> requests_;
  std::vector<std::uint32_t> unused_;  // places in requests_
};

}  // namespace inferscale
