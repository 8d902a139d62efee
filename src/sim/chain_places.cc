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
  if (before.replica != kNowhere && before.replica != replica) note_left(chain, before.replica);
  if (chain.left == kNothing) return {};
  if (request.program->ends_chain) ending_[request.id] = request;
  // A further attempt of a call is no step of its chain.
  const bool goes_on = before.replica != kNowhere && before.call != request.program;
  if (!goes_on || request.program->history_tokens >= before.tokens) return {};
  return left_by(chain, replica);
}

std::uint32_t ChainPlaces::new_left() {
  if (unused_ == kNothing) {
    left_.emplace_back();
    return static_cast<std::uint32_t>(left_.size() - 1);
  }
  const std::uint32_t place = std::exchange(unused_, left_[unused_].next);
  left_[place] = {};
  return place;
}

void ChainPlaces::note_left(Last& chain, std::uint32_t replica) {
  if (chain.left == kNothing) chain.left = new_left();
  std::uint32_t place = chain.left;
  while (true) {
    const Left& left = left_[place];
    const auto end = left.replicas.begin() + left.count;
    if (std::find(left.replicas.begin(), end, replica) != end) return;
    if (left.next == kNothing) break;
    place = left.next;
  }
  if (left_[place].count == left_[place].replicas.size()) {
    const std::uint32_t next = new_left();
    left_[place].next = next;
    place = next;
  }
  left_[place].replicas[left_[place].count++] = replica;
}

std::vector<std::uint32_t> ChainPlaces::left_by(const Last& chain, std::uint32_t replica) const {
  std::vector<std::uint32_t> others;
  for (std::uint32_t place = chain.left; place != kNothing; place = left_[place].next) {
    const Left& left = left_[place];
    for (std::uint32_t i = 0; i < left.count; ++i) {
      if (left.replicas[i] != replica) others.push_back(left.replicas[i]);
    }
  }
  return others;
}

std::vector<std::uint32_t> ChainPlaces::ended(RequestId id, std::uint32_t replica) {
  if (ending_.empty()) return {};
  const auto found = ending_.find(id);
  if (found == ending_.end()) return {};
  ended_ = found->second;
  ending_.erase(found);
  Last& chain = last_[ended_.program->chain];
  if (chain.left == kNothing) return {};
  const std::vector<std::uint32_t> others = left_by(chain, replica);
  std::uint32_t last = chain.left;
  while (left_[last].next != kNothing) last = left_[last].next;
  left_[last].next = std::exchange(unused_, std::exchange(chain.left, kNothing));
  return others;
}

}  // namespace inferscale
