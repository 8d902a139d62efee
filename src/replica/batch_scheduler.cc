#include "replica/batch_scheduler.h"

#include <algorithm>
#include <array>

namespace inferscale {
namespace {

struct NamedKind {
  std::string_view name;
  SchedulerKind kind;
};

constexpr std::array kSchedulers = {
    NamedKind{"continuous_fcfs", SchedulerKind::kContinuousFcfs},
    NamedKind{"static_fcfs", SchedulerKind::kStaticFcfs},
};

class ContinuousFcfs final : public BatchScheduler {
 public:
  explicit ContinuousFcfs(std::int64_t max_num_seqs) : limit_(max_num_seqs) {}
  void at_boundary(std::int64_t running, std::int64_t) override { running_ = running; }
  bool is_open() const override { return running_ < limit_; }
  void admitted() override { ++running_; }
  void head_blocked() override {}
  bool takes_arrivals(std::int64_t running) const override { return running < limit_; }
  bool reserves_output() const override { return false; }

 private:
  std::int64_t limit_;
  std::int64_t running_ = 0;
};

// The batch is chosen once, when the one before has drained. Its prompts may need several prefill
// steps (the token budget); until they are done the places chosen stay open to those chosen only.
class StaticFcfs final : public BatchScheduler {
 public:
  explicit StaticFcfs(std::int64_t max_num_seqs) : limit_(max_num_seqs) {}
  void at_boundary(std::int64_t running, std::int64_t waiting) override {
    if (running == 0) chosen_ = std::min(waiting, limit_);
  }
  bool is_open() const override { return chosen_ > 0; }
  void admitted() override { --chosen_; }
  void head_blocked() override { chosen_ = 0; }
  bool takes_arrivals(std::int64_t) const override { return false; }
  bool reserves_output() const override { return true; }

 private:
  std::int64_t limit_;
  std::int64_t chosen_ = 0;
};

}  // namespace

std::string_view scheduler_name(SchedulerKind kind) {
  for (const NamedKind& one : kSchedulers) {
    if (one.kind == kind) return one.name;
  }
  return "unknown";
}

std::optional<SchedulerKind> scheduler_by_name(std::string_view name) {
  for (const NamedKind& one : kSchedulers) {
    if (one.name == name) return one.kind;
  }
  return std::nullopt;
}

std::unique_ptr<BatchScheduler> make_scheduler(SchedulerKind kind, std::int64_t max_num_seqs) {
  switch (kind) {
    case SchedulerKind::kContinuousFcfs:
      return std::make_unique<ContinuousFcfs>(max_num_seqs);
    case SchedulerKind::kStaticFcfs:
      return std::make_unique<StaticFcfs>(max_num_seqs);
  }
  return nullptr;
}

}  // namespace inferscale
