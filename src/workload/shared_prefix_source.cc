#include "workload/shared_prefix_source.h"

#include <algorithm>
#include <utility>

namespace inferscale {

SharedPrefixSource::SharedPrefixSource(std::unique_ptr<RequestSource> source,
                                       const SharedPrefixOptions& options, std::uint64_t run_seed)
    : source_(std::move(source)), options_(options), stream_(run_seed, "prefix_hits") {}

bool SharedPrefixSource::next(Request& request) {
  if (!source_->next(request)) return false;
  const bool hit = stream_.uniform() < options_.hit_probability;
  request.shared_prefix_tokens = hit ? std::min(options_.tokens, request.prompt_tokens) : 0;
  return true;
}

}  // namespace inferscale
