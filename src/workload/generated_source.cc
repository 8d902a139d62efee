#include "workload/generated_source.h"

#include "base/check.h"

namespace inferscale {

GeneratedSource::GeneratedSource(const GeneratedOptions& options, std::uint64_t run_seed)
    : requests_(options.requests),
      arrivals_(make_arrivals(options.arrivals, RandomStream(run_seed, "arrivals"))),
      prompt_tokens_(options.prompt_tokens, RandomStream(run_seed, "prompt_tokens")),
      output_tokens_(options.output_tokens, RandomStream(run_seed, "output_tokens")) {
  CHECK(requests_ <= kMostRequests) << requests_ << " requests";
  CHECK(!options.conversations) << "their source is another one";
  if (options.prefixes) tenants_.emplace(*options.prefixes, kMostTokens, run_seed);
}

bool GeneratedSource::next(Request& request) {
  if (made_ == requests_) return false;
  request = Request();
  request.id = static_cast<RequestId>(made_);
  ++made_;
  request.arrival = arrivals_->next();
  request.prompt_tokens = prompt_tokens_.draw();
  request.output_tokens = output_tokens_.draw();
  request.max_tokens = request.output_tokens;
  if (tenants_) {
    request.tenant = tenants_->draw();
    request.content = &tenants_->system_prompt(request.tenant);
    request.content_pieces = 1;
    request.prompt_tokens += request.content->tokens;
  }
  return true;
}

}  // namespace inferscale
