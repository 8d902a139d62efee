// For tests: ranks of one study as threads of one process, and a small study.

#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "base/config_json.h"
#include "base/number_text.h"
#include "study/executors/executors.h"
#include "study/study_test_support.h"

namespace inferscale {

// Mail boxes that ranks of one process share.
class LocalPost {
 public:
  explicit LocalPost(int ranks) : boxes_(static_cast<std::size_t>(ranks)) {}
  int ranks() const { return static_cast<int>(boxes_.size()); }
  void put(int from, int to, std::string bytes) {
    const std::lock_guard lock(mutex_);
    boxes_[static_cast<std::size_t>(to)].emplace_back(from, std::move(bytes));
  }
  bool take(int rank, int& from, std::string& bytes) {
    const std::lock_guard lock(mutex_);
    auto& box = boxes_[static_cast<std::size_t>(rank)];
    if (box.empty()) return false;
    std::tie(from, bytes) = std::move(box.front());
    box.pop_front();
    return true;
  }

 private:
  std::mutex mutex_;
  std::vector<std::deque<std::pair<int, std::string>>> boxes_;
};

class LocalWorld final : public MpiWorld {
 public:
  LocalWorld(LocalPost& post, int rank) : post_(post), rank_(rank) {}
  int rank() const override { return rank_; }
  int ranks() const override { return post_.ranks(); }
  int ranks_on_machine() const override { return post_.ranks(); }
  void send(int to, std::string bytes) override { post_.put(rank_, to, std::move(bytes)); }
  bool receive(int& from, std::string& bytes) override { return post_.take(rank_, from, bytes); }
  void leave() override {}

 private:
  LocalPost& post_;
  int rank_;
};

// Runs `rank_course` as each rank, and says what rank 0 came to. A course's error is its farewell.
inline Result<std::string> on_ranks(
    int ranks, const std::function<Result<std::string>(RankMail&)>& rank_course) {
  LocalPost post(ranks);
  Result<std::string> of_rank_0;
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&, rank] {
      RankMail mail(std::make_unique<LocalWorld>(post, rank));
      Result<std::string> result = rank_course(mail);
      mail.leave(result ? std::nullopt : std::optional(result.error()));
      if (rank == 0) of_rank_0 = std::move(result);
    });
  }
  for (std::thread& thread : threads) thread.join();
  return of_rank_0;
}

inline std::vector<Scenario> small_scenarios() {
  constexpr const char* kText = R"(
deployment: {model: llama-3.1-8b, hardware: h100-sxm}
workload:
  requests: 40
  arrivals: {process: poisson, rate_rps: 10}
  prompt_tokens: {distribution: lognormal, mean: 256, cv: 0.7}
  output_tokens: {distribution: lognormal, mean: 32, cv: 0.8}
slo: {ttft_ms: 500, itl_ms: 50}
)";
  std::vector<Scenario> scenarios;
  scenarios.push_back(scenario_of(kText));
  scenarios.push_back(scenario_of(std::string(kText) + "measurement: {warmup_s: 0.5}\n"));
  return scenarios;
}

// A study of two batches: the second one hangs on what came out of the first, and asks again for
// some of its runs. One run of the first can't be simulated. What it came to, as text.
inline Result<std::string> small_study(RunExecutor& executor) {
  std::vector<RunRequest> first;
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    first.push_back({.scenario = seed % 2, .settings = {}, .seed = seed / 4, .scales = {}});
    if (seed % 3 == 0) first.back().scales.prefill = 1.25;
  }
  first.push_back({.scenario = 0,
                   .settings = {{"deployment.engine.max_num_seqs", number_node(-1, "study")}},
                   .seed = 1,
                   .scales = {}});
  const Result<std::vector<RunResult>> one = executor.run(first);
  if (!one) return std::unexpected(one.error());
  std::string text;
  std::vector<RunRequest> second = {first[3], first[3]};
  for (std::size_t run = 0; run < one->size(); ++run) {
    const RunResult& record = (*one)[run];
    text += request_text(first[run]) + ": " + record.failure + " " +
            number_text(record.figures[Metric::kTtftMean].value_or(-1)) + "\n";
    const double rate = 2 + record.figures[Metric::kTtftMean].value_or(0);
    second.push_back({.scenario = 1,
                      .settings = {{"workload.arrivals.rate_rps", number_node(rate, "study")}},
                      .seed = 7,
                      .scales = {}});
  }
  const Result<std::vector<RunResult>> two = executor.run(second);
  if (!two) return std::unexpected(two.error());
  for (const RunResult& record : *two) {
    text +=
        record.failure + " " + number_text(record.figures[Metric::kE2eMean].value_or(-1)) + "\n";
  }
  return text;
}

}  // namespace inferscale
