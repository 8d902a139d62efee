#include "sim/chain_places.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace inferscale {

std::vector<std::uint32_t> ChainPlaces::dispatched(const Request& request, std::uint32_t replica) {
  CHECK(request.program != nullptr) << "request " << request.id << " is of no chain";
  const std::uint32_t index = request.program->chain;
  if (index >= last_.size()) last_.resize(std::max<std::size_t>(index + 1, 2 * last_.size()));
  Last& chain = last_[index];
  const Last before = chain;
  chain = {.call = request.program,
           .replica = replica,
           .tokens = request.prompt_tokens + request.output_tokens,
           .left = before.left};
  if (before.replica != kNowhere && before.replica != replica) {
    Replicas& left = left_by(chain);
    if (std::find(left.begin(), left.end(), before.replica) == left.end()) {
      left.push_back(before.replica);
    }
  }
  if (chain.left == kNothing) return {};
  if (request.program->ends_chain) ending_[request.id] = request;
  // A further attempt of a call is no step of its chain.
  const bool goes_on = before.replica != kNowhere && before.call != request.program;
  if (!goes_on || request.program->history_tokens >= before.tokens) return {};
  Replicas others = left_[chain.left];
  std::erase(others, replica);
  return others;
}

ChainPlaces::Replicas& ChainPlaces::left_by(Last& chain) {
  if (chain.left == kNothing) {
    if (unused_.empty()) {
      unused_.push_back(static_cast<std::uint32_t>(left_.size()));
      left_.emplace_back();
    }
    chain.left = unused_.back();
    unused_.pop_back();
  }
  return left_[chain.left];
}

std::vector<std::uint32_t> ChainPlaces::ended(RequestId id, std::uint32_t replica) {
  if (ending_.empty()) return {};
  const auto found = ending_.find(id);
  if (found == ending_.end()) return {};
  ended_ = found->second;
  ending_.erase(found);
  Last& chain = last_[ended_.program->chain];
  if (chain.left == kNothing) return {};
  Replicas others = std::exchange(left_[chain.left], {});
  unused_.push_back(std::exchange(chain.left, kNothing));
  std::erase(others, replica);
  return others;
}

}  // namespace inferscale
