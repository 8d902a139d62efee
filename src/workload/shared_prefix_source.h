// The one exact prefix that some of a workload's prompts begin with.
//
// Each request draws whether it does (stream "prefix_hits", one number for each request). Nothing
// else of a request changes, so a workload with the prefix and one without are the same trace.

#pragma once

#include <cstdint>
#include <memory>

#include "base/random.h"
#include "workload/request_source.h"

namespace inferscale {

struct SharedPrefixOptions {
  std::uint32_t tokens = 0;
  double hit_probability = 1;
};

// Another source's requests, with `shared_prefix_tokens` filled: of a hit the prefix, or the whole
// prompt where that is shorter; of the others 0.
class SharedPrefixSource final : public RequestSource {
 public:
  SharedPrefixSource(std::unique_ptr<RequestSource> source, const SharedPrefixOptions& options,
                     std::uint64_t run_seed);
  bool next(Request& request) override;
  std::uint64_t size() const override { return source_->size(); }

 private:
  std::unique_ptr<RequestSource> source_;
  SharedPrefixOptions options_;
  RandomStream stream_;
};

}  // namespace inferscale
