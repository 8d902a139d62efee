// Requests from an arrival process and two length distributions, in constant memory.
//
// Each part draws from a stream of its own ("arrivals", "prompt_tokens", "output_tokens"), so that
// changing one distribution leaves the other draws as they were. The caller's limit (max_tokens) is
// the answer's length.

#pragma once

#include <cstdint>
#include <memory>

#include "workload/arrivals.h"
#include "workload/lengths.h"
#include "workload/request_source.h"

namespace inferscale {

struct GeneratedOptions {
  std::uint64_t requests = 10'000;  // at most kMostRequests
  ArrivalOptions arrivals;
  LengthOptions prompt_tokens;
  LengthOptions output_tokens;
};

inline constexpr std::uint64_t kMostRequests = 1'000'000'000;

class GeneratedSource final : public RequestSource {
 public:
  GeneratedSource(const GeneratedOptions& options, std::uint64_t run_seed);
  bool next(Request& request) override;
  std::uint64_t size() const override { return requests_; }

 private:
  std::uint64_t requests_;
  std::uint64_t made_ = 0;
  std::unique_ptr<ArrivalProcess> arrivals_;
  LengthSampler prompt_tokens_;
  LengthSampler output_tokens_;
};

}  // namespace inferscale
