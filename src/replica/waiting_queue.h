// The waiting requests of a replica, in the order in which they will be admitted.
//
// In order of arrival (QueueOrder::kArrival) the preempted stand first, the one admitted first
// foremost: the last admitted is preempted first, so each goes before those preempted earlier.
// The other orders have a key for each, reckoned once when it enters; the least is the head and
// ties go by id. (In order of entry, kEntry, the key is the number of the entry.) New requests are
// kept small: under overload there are very many.
//
// Cost: constant in order of arrival, else logarithmic in the length of the queue. Whoever is taken
// out from the middle leaves a gap (a request without a prompt), which goes when it gets to the
// head or when most of the queue is gaps. From the first one on there is an index by id, and
// everything costs the logarithm of the queue's length.

#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "replica/replica.h"
#include "replica/sequence.h"

namespace inferscale {

// The least value goes first.
using QueueKey = std::int64_t;

// The key of a sequence that has `to_compute` tokens to compute and `to_generate` requested tokens
// to come. REQUIRES: the order is neither kArrival nor kEntry.
QueueKey queue_key(const ReplicaOptions& options, QueueOrder order, const Request& request,
                   TokenCount to_compute, TokenCount to_generate);
// The order of a replica's queue.
QueueOrder queue_order(const ReplicaOptions& options);

class WaitingQueue {
 public:
  // `options` outlives the queue.
  explicit WaitingQueue(const ReplicaOptions& options)
      : options_(options), order_(queue_order(options)) {}

  bool empty() const { return size_ == 0; }
  std::int64_t size() const { return size_; }
  // Tokens that the waiting have to compute and may generate.
  TokenCount tokens() const { return tokens_; }

  void arrive(const Request& request);
  void hand_over(const Handoff& handoff);
  // REQUIRES: it is not in the batch any more; computed and hold are cleared.
  void preempt(const Sequence& sequence);

  // Takes out whoever it is, wherever it stands; nothing when it does not wait.
  std::optional<Sequence> take_out(RequestId id);
  // Whether it is one of the first `count` to be admitted. Cost: linear in `count`.
  // REQUIRES: the order is kArrival.
  bool is_among_first(RequestId id, std::int64_t count) const;

  // The head, as it is now. REQUIRES: not empty.
  struct Head {
    const Request* request = nullptr;
    TokenCount target = 0;     // as Sequence::target()
    bool handed_over = false;  // comes with its prompt's KV cache
    QueueKey key = 0;          // where the order has keys
  };
  Head head() const;
  // Takes the head out. REQUIRES: not empty.
  Sequence pop();
  // The same, straight to where the sequence is going to stay: it is large.
  void pop_into(Sequence& sequence);

 private:
  struct Entry {
    QueueKey key;
    RequestId id;
    std::uint32_t place;  // in fresh_, or in known_ with the highest bit set
    bool operator>(const Entry& other) const {
      return key != other.key ? key > other.key : id > other.id;
    }
  };
  static constexpr std::uint32_t kKnown = 1U << 31;

  // By id: in order of arrival the number of an arrived request, counted from the first ever; with
  // keys its place, as in Entry.
  using Index = std::map<RequestId, std::uint64_t>;

  void make_index();
  std::optional<Sequence> take_by_index(RequestId id);
  Request& request_at(std::uint32_t place) {
    return (place & kKnown) != 0 ? known_[place & ~kKnown].request : fresh_[place];
  }
  void free_place(std::uint32_t place);
  void close_gaps();
  void skip_gaps();

  void enter(const Sequence& sequence);
  void push(QueueKey key, RequestId id, std::uint32_t place);
  QueueKey key_of(const Request& request, TokenCount to_compute, TokenCount to_generate);
  void count(TokenCount to_compute, TokenCount to_generate, int sign) {
    size_ += sign;
    tokens_ += sign * (to_compute + to_generate);
  }

  const ReplicaOptions& options_;
  QueueOrder order_;
  std::int64_t size_ = 0;
  TokenCount tokens_ = 0;
  std::int64_t entries_ = 0;
  // In order of arrival.
  std::vector<Sequence> preempted_;  // the head at the back
  std::deque<Request> arrived_;
  std::deque<Sequence> handed_over_;  // a decode replica has these in place of arrivals
  std::uint64_t gone_arrived_ = 0;    // have been at the front of arrived_
  // With keys: a binary heap of small entries, and where their requests are.
  std::vector<Entry> heap_;
  std::vector<Request> fresh_;
  std::vector<Sequence> known_;
  std::vector<std::uint32_t> free_fresh_;
  std::vector<std::uint32_t> free_known_;

  std::optional<Index> index_;  // since somebody was taken out by it
  std::size_t gaps_ = 0;
};

// A sequence that was handed over, as it enters a decode replica.
Sequence sequence_of(const Handoff& handoff);

}  // namespace inferscale
