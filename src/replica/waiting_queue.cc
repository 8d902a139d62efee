#include "replica/waiting_queue.h"

#include <algorithm>

#include "base/check.h"

namespace inferscale {
namespace {

// Where `one` is put: a place that is free, or a new one.
template <typename T>
std::uint32_t put(std::vector<T>& all, std::vector<std::uint32_t>& free_places, const T& one) {
  if (free_places.empty()) {
    all.push_back(one);
    return static_cast<std::uint32_t>(all.size() - 1);
  }
  const std::uint32_t place = free_places.back();
  free_places.pop_back();
  all[place] = one;
  return place;
}

// A copy of a new one is a few wide moves; made in place it is cleared by a string instruction that
// takes far longer.
constexpr Sequence kNewSequence;

void begin(Sequence& sequence, const Request& request) {
  sequence = kNewSequence;
  sequence.request = request;
  sequence.gaps.slo_class = request.slo_class;
}

TokenCount to_compute(const Sequence& sequence) {
  return sequence.handed_over ? 0 : sequence.target();
}

// The preempted and the handed-over are few: at most as many as are in a batch.
template <typename Row>
std::optional<Sequence> take_from(Row& row, RequestId id) {
  const auto found = std::find_if(
      row.begin(), row.end(), [id](const Sequence& sequence) { return sequence.request.id == id; });
  if (found == row.end()) return std::nullopt;
  const Sequence sequence = *found;
  row.erase(found);
  return sequence;
}

}  // namespace

QueueOrder queue_order(const ReplicaOptions& options) {
  return options.by_priority ? QueueOrder::kPriority : rules_of(options.scheduler).order;
}

QueueKey queue_key(const ReplicaOptions& options, QueueOrder order, const Request& request,
                   TokenCount to_compute, TokenCount to_generate) {
  if (order == QueueOrder::kPriority) return -static_cast<QueueKey>(request.priority);
  const double service = options.service.prefill_ns_per_token * static_cast<double>(to_compute) +
                         options.service.decode_ns_per_token * static_cast<double>(to_generate);
  const auto rounded =
      static_cast<QueueKey>(std::min(service + 0.5, static_cast<double>(kEndOfTime.ns())));
  if (order == QueueOrder::kService) return rounded;
  const std::optional<Duration>& e2e_limit = e2e_limit_of(options, request);
  CHECK(order == QueueOrder::kSlack && e2e_limit) << "an order without a key";
  return (request.arrival + *e2e_limit - request.spent).ns() - rounded;
}

Sequence sequence_of(const Handoff& handoff) {
  Sequence sequence;
  sequence.request = handoff.request;
  sequence.gaps.slo_class = handoff.request.slo_class;
  sequence.start = handoff.start;
  sequence.first_token = handoff.first_token;
  sequence.last_token = handoff.first_token;
  sequence.generated = 1;
  sequence.preemptions = handoff.preemptions;
  sequence.cached_tokens = handoff.cached_tokens;
  sequence.handed_over = true;
  return sequence;
}

void WaitingQueue::push(QueueKey key, RequestId id, std::uint32_t place) {
  if (index_) index_->emplace(id, place);
  heap_.push_back({.key = key, .id = id, .place = place});
  std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
}

QueueKey WaitingQueue::key_of(const Request& request, TokenCount to_compute,
                              TokenCount to_generate) {
  if (order_ == QueueOrder::kEntry) return ++entries_;
  return queue_key(options_, order_, request, to_compute, to_generate);
}

void WaitingQueue::arrive(const Request& request) {
  count(request.prompt_tokens, request.max_tokens, 1);
  if (order_ == QueueOrder::kArrival) {
    if (index_) index_->emplace(request.id, gone_arrived_ + arrived_.size());
    arrived_.push_back(request);
    return;
  }
  push(key_of(request, request.prompt_tokens, request.max_tokens), request.id,
       put(fresh_, free_fresh_, request));
}

void WaitingQueue::enter(const Sequence& sequence) {
  const TokenCount computing = to_compute(sequence);
  push(key_of(sequence.request, computing, sequence.requested_left()), sequence.request.id,
       put(known_, free_known_, sequence) | kKnown);
}

void WaitingQueue::hand_over(const Handoff& handoff) {
  const Sequence sequence = sequence_of(handoff);
  count(0, sequence.requested_left(), 1);
  if (order_ == QueueOrder::kArrival) {
    handed_over_.push_back(sequence);
  } else {
    enter(sequence);
  }
}

void WaitingQueue::preempt(const Sequence& sequence) {
  count(to_compute(sequence), sequence.requested_left(), 1);
  if (order_ == QueueOrder::kArrival) {
    preempted_.push_back(sequence);
  } else {
    enter(sequence);
  }
}

// --- out of the middle

void WaitingQueue::make_index() {
  index_.emplace();
  if (order_ == QueueOrder::kArrival) {
    std::uint64_t number = gone_arrived_;
    for (const Request& request : arrived_) {
      if (request.prompt_tokens > 0) index_->emplace(request.id, number);
      ++number;
    }
  } else {
    for (const Entry& entry : heap_) index_->emplace(entry.id, entry.place);
  }
}

std::optional<Sequence> WaitingQueue::take_by_index(RequestId id) {
  if (!index_) make_index();
  const auto found = index_->find(id);
  if (found == index_->end()) return std::nullopt;
  Sequence sequence;
  if (order_ == QueueOrder::kArrival) {
    Request& request = arrived_[found->second - gone_arrived_];
    begin(sequence, request);
    request.prompt_tokens = 0;
  } else {
    const auto place = static_cast<std::uint32_t>(found->second);
    if ((place & kKnown) != 0) {
      sequence = known_[place & ~kKnown];
    } else {
      begin(sequence, fresh_[place]);
    }
    request_at(place).prompt_tokens = 0;
  }
  index_->erase(found);
  ++gaps_;
  return sequence;
}

std::optional<Sequence> WaitingQueue::take_out(RequestId id) {
  std::optional<Sequence> sequence;
  if (order_ == QueueOrder::kArrival) {
    sequence = take_from(preempted_, id);
    if (!sequence) sequence = take_from(handed_over_, id);
  }
  if (!sequence && size_ > 0) sequence = take_by_index(id);
  if (!sequence) return std::nullopt;
  count(to_compute(*sequence), sequence->requested_left(), -1);
  if (gaps_ > 0) close_gaps();
  return sequence;
}

void WaitingQueue::free_place(std::uint32_t place) {
  if ((place & kKnown) != 0) {
    free_known_.push_back(place & ~kKnown);
  } else {
    free_fresh_.push_back(place);
  }
}

// The head is never a gap, and gaps are never most of a long queue.
void WaitingQueue::close_gaps() {
  constexpr std::size_t kFew = 64;
  if (gaps_ <= std::max(kFew, (arrived_.size() + heap_.size()) / 2)) {
    skip_gaps();
    return;
  }
  gaps_ = 0;
  if (order_ == QueueOrder::kArrival) {
    std::erase_if(arrived_, [](const Request& request) { return request.prompt_tokens == 0; });
    make_index();
    return;
  }
  std::erase_if(heap_, [this](const Entry& entry) {
    if (request_at(entry.place).prompt_tokens > 0) return false;
    free_place(entry.place);
    return true;
  });
  std::make_heap(heap_.begin(), heap_.end(), std::greater<>());
}

void WaitingQueue::skip_gaps() {
  while (!arrived_.empty() && arrived_.front().prompt_tokens == 0) {
    arrived_.pop_front();
    ++gone_arrived_;
    --gaps_;
  }
  while (!heap_.empty() && request_at(heap_.front().place).prompt_tokens == 0) {
    std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
    free_place(heap_.back().place);
    heap_.pop_back();
    --gaps_;
  }
}

bool WaitingQueue::is_among_first(RequestId id, std::int64_t count) const {
  CHECK(order_ == QueueOrder::kArrival) << "a place in a queue with keys";
  for (auto next = preempted_.rbegin(); next != preempted_.rend() && count > 0; ++next, --count) {
    if (next->request.id == id) return true;
  }
  for (auto next = arrived_.begin(); next != arrived_.end() && count > 0; ++next) {
    if (next->prompt_tokens == 0) continue;
    if (next->id == id) return true;
    --count;
  }
  for (auto next = handed_over_.begin(); next != handed_over_.end() && count > 0; ++next, --count) {
    if (next->request.id == id) return true;
  }
  return false;
}

WaitingQueue::Head WaitingQueue::head() const {
  const auto of_sequence = [](const Sequence& sequence) {
    return Head{.request = &sequence.request,
                .target = sequence.target(),
                .handed_over = sequence.handed_over};
  };
  const auto of_request = [](const Request& request) {
    return Head{.request = &request, .target = request.prompt_tokens};
  };
  if (order_ == QueueOrder::kArrival) {
    if (!preempted_.empty()) return of_sequence(preempted_.back());
    return arrived_.empty() ? of_sequence(handed_over_.front()) : of_request(arrived_.front());
  }
  const Entry& entry = heap_.front();
  Head head = (entry.place & kKnown) != 0 ? of_sequence(known_[entry.place & ~kKnown])
                                          : of_request(fresh_[entry.place]);
  head.key = entry.key;
  return head;
}

Sequence WaitingQueue::pop() {
  Sequence sequence;
  pop_into(sequence);
  return sequence;
}

void WaitingQueue::pop_into(Sequence& sequence) {
  if (order_ == QueueOrder::kArrival) {
    if (!preempted_.empty()) {
      sequence = preempted_.back();
      preempted_.pop_back();
    } else if (!arrived_.empty()) {
      begin(sequence, arrived_.front());
      arrived_.pop_front();
      ++gone_arrived_;
    } else {
      sequence = handed_over_.front();
      handed_over_.pop_front();
    }
  } else {
    std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
    const std::uint32_t place = heap_.back().place;
    heap_.pop_back();
    if ((place & kKnown) != 0) {
      sequence = known_[place & ~kKnown];
      free_known_.push_back(place & ~kKnown);
    } else {
      begin(sequence, fresh_[place]);
      free_fresh_.push_back(place);
    }
  }
  count(to_compute(sequence), sequence.requested_left(), -1);
  if (index_) index_->erase(sequence.request.id);
  if (gaps_ > 0) skip_gaps();
}

}  // namespace inferscale
