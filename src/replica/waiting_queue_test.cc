// The queue against a plain list that is sorted afresh for every question.

#include "replica/waiting_queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"

namespace inferscale {
namespace {

struct Listed {
  Sequence sequence;
  std::int64_t entered = 0;
  bool preempted = false;
};

class QueueTrial {
 public:
  QueueTrial(SchedulerKind scheduler, bool by_priority, std::uint64_t seed)
      : options_{.scheduler = scheduler,
                 .by_priority = by_priority,
                 .service = {.prefill_ns_per_token = 3, .decode_ns_per_token = 10}},
        random_(seed, "waiting queue") {}

  // `leaving`: of a hundred turns, how many take somebody out of the middle.
  void run(std::uint64_t turns, std::uint64_t leaving) {
    for (std::uint64_t turn = 0; turn < turns; ++turn) {
      const std::uint64_t dice = random_.below(100);
      if (dice < leaving) {
        take_out();
      } else if (dice < leaving + (100 - leaving) * 2 / 3) {
        enter();
      } else if (!list_.empty()) {
        pop();
      }
      compare();
      if (testing::Test::HasFailure()) return;
    }
  }

 private:
  bool goes_before(const Listed& a, const Listed& b) const {
    const Request& one = a.sequence.request;
    const Request& other = b.sequence.request;
    switch (queue_order(options_)) {
      case QueueOrder::kArrival:
        if (a.preempted != b.preempted) return a.preempted;
        return a.preempted ? a.entered > b.entered : a.entered < b.entered;
      case QueueOrder::kEntry:
        return a.entered < b.entered;
      case QueueOrder::kPriority:
        return one.priority != other.priority ? one.priority > other.priority : one.id < other.id;
      default:
        return std::pair(service(a), one.id) < std::pair(service(b), other.id);
    }
  }
  // Remaining work at the rates of options_.service.
  static std::int64_t service(const Listed& one) {
    const TokenCount target = one.sequence.target();
    return 3 * target + 10 * one.sequence.requested_left();
  }

  std::vector<Listed>::iterator head() {
    return std::min_element(list_.begin(), list_.end(),
                            [this](const Listed& a, const Listed& b) { return goes_before(a, b); });
  }

  void enter() {
    Listed one{.entered = ++entries_};
    Request& request = one.sequence.request;
    // Not in order: those who were held or tried again come later than their ids say.
    request.id = next_id_++ ^ 5U;
    request.prompt_tokens = static_cast<std::uint32_t>(1 + random_.below(20));
    request.output_tokens = request.max_tokens = static_cast<std::uint32_t>(3 + random_.below(20));
    request.priority = static_cast<std::int32_t>(random_.below(3));
    if (random_.below(5) == 0) {
      one.preempted = true;
      one.sequence.generated = 2;
      one.sequence.preemptions = 1;
      queue_.preempt(one.sequence);
    } else {
      queue_.arrive(request);
    }
    list_.push_back(one);
  }

  void pop() {
    const auto expected = head();
    const Sequence sequence = queue_.pop();
    ASSERT_EQ(sequence.request.id, expected->sequence.request.id);
    ASSERT_EQ(sequence.generated, expected->sequence.generated);
    list_.erase(expected);
  }

  void take_out() {
    const auto id = static_cast<RequestId>(random_.below(next_id_ + 3));
    if (queue_order(options_) == QueueOrder::kArrival) check_rank(id);
    const auto found = std::find_if(list_.begin(), list_.end(), [id](const Listed& one) {
      return one.sequence.request.id == id;
    });
    const std::optional<Sequence> sequence = queue_.take_out(id);
    ASSERT_EQ(sequence.has_value(), found != list_.end()) << "request " << id;
    if (!sequence) return;
    ASSERT_EQ(sequence->request.id, id);
    ASSERT_EQ(sequence->request.prompt_tokens, found->sequence.request.prompt_tokens);
    ASSERT_EQ(sequence->preemptions, found->sequence.preemptions);
    list_.erase(found);
  }

  void check_rank(RequestId id) {
    std::sort(list_.begin(), list_.end(),
              [this](const Listed& a, const Listed& b) { return goes_before(a, b); });
    const auto count = random_.below(list_.size() + 2);
    bool among = false;
    for (std::size_t i = 0; i < std::min<std::size_t>(count, list_.size()); ++i) {
      among = among || list_[i].sequence.request.id == id;
    }
    ASSERT_EQ(queue_.is_among_first(id, static_cast<std::int64_t>(count)), among);
  }

  void compare() {
    ASSERT_EQ(queue_.size(), static_cast<std::int64_t>(list_.size()));
    ASSERT_EQ(queue_.empty(), list_.empty());
    TokenCount tokens = 0;
    for (const Listed& one : list_) {
      tokens += one.sequence.target() + one.sequence.requested_left();
    }
    ASSERT_EQ(queue_.tokens(), tokens);
    if (!list_.empty()) {
      ASSERT_EQ(queue_.head().request->id, head()->sequence.request.id);
    }
  }

  const ReplicaOptions options_;
  RandomStream random_;
  WaitingQueue queue_{options_};
  std::vector<Listed> list_;
  std::int64_t entries_ = 0;
  RequestId next_id_ = 0;
};

TEST(WaitingQueue, IsInOrderWhoeverGoes) {
  const std::pair<SchedulerKind, bool> orders[] = {{SchedulerKind::kVllm, false},
                                                   {SchedulerKind::kVllm, true},
                                                   {SchedulerKind::kSglang, false},
                                                   {SchedulerKind::kContinuousSjf, false}};
  for (const auto& [scheduler, by_priority] : orders) {
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
      SCOPED_TRACE(std::string(scheduler_name(scheduler)) + (by_priority ? " by priority" : "") +
                   ", seed " + std::to_string(seed));
      // Few leave, or so many that the queue is made of gaps.
      QueueTrial(scheduler, by_priority, seed).run(2'000, seed % 2 == 0 ? 5 : 60);
      if (HasFailure()) return;
    }
  }
}

// A thousand wait behind a head that does not move, and leave in any order.
TEST(WaitingQueue, GapsAreClosedWithoutTheHead) {
  for (const SchedulerKind scheduler : {SchedulerKind::kVllm, SchedulerKind::kContinuousSjf}) {
    ReplicaOptions options{.scheduler = scheduler, .service = {.prefill_ns_per_token = 1}};
    WaitingQueue queue(options);
    for (RequestId id = 0; id < 1'000; ++id) {
      queue.arrive({.id = id, .prompt_tokens = id + 1, .output_tokens = 1, .max_tokens = 1});
    }
    for (RequestId i = 1; i < 999; ++i) {
      const RequestId id = 1 + (i * 7) % 999;
      ASSERT_TRUE(queue.take_out(id)) << id;
      ASSERT_FALSE(queue.take_out(id)) << id;
      ASSERT_EQ(queue.head().request->id, 0U);
    }
    ASSERT_EQ(queue.size(), 2);
    EXPECT_EQ(queue.pop().request.id, 0U);
    EXPECT_EQ(queue.pop().request.id, 1U + 999 * 7 % 999);
    EXPECT_TRUE(queue.empty());
    EXPECT_EQ(queue.tokens(), 0);
  }
}

}  // namespace
}  // namespace inferscale
