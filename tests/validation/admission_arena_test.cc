// The published admission sweep: one trace of 1,500 requests of 27 clients, served by Llama-7B on
// an A10G with a KV pool of 10,000 tokens, with limits of requests a client and minute.
//
// The rows are measured (VTC's artifact, Apache-2.0): per limit the refused requests, the requests
// served a second until the last one ended, and the mean and 95th percentile of TTFT. What is
// tested: the number of refusals, throughput, and the order of TTFT; TTFT's own value is a matter
// of the latency model. docs/validation_admission.md has all figures.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <map>
#include <set>

#include "base/number_text.h"
#include "validation/admission_runs.h"
#include "validation/data_folder.h"
#include "validation/table_file.h"

namespace inferscale {
namespace {

// Requests a client and minute; 0: no limit.
struct Measured {
  int per_minute;
  int rejected;
  double served_rps;
};

// The data's README, counted anew below from the rows that the data has.
constexpr std::array<Measured, 6> kMeasured = {{{0, 0, 1.98},
                                                {30, 176, 1.92},
                                                {20, 342, 1.82},
                                                {15, 447, 1.67},
                                                {10, 600, 1.45},
                                                {5, 919, 0.94}}};

struct Row {
  std::string arrival_s;
  std::string client;
  std::string prompt;
  std::string output;
  double ttft_s = 0;  // -1: rejected
  double e2e_s = 0;
  double arrival() const { return *parse_finite(arrival_s); }
};

class Arena : public testing::Test {
 protected:
  static constexpr const char* kTrace = "traces/vtc_real_arena_with_outcomes.csv.gz";

  void SetUp() override {
    if (!has_data()) GTEST_SKIP() << "no data folder: set INFERSCALE_DATA";
    static constexpr std::array<CsvColumn, 7> kColumns = {{{"scheduler"},
                                                           {"req_time_s"},
                                                           {"client"},
                                                           {"prompt_len"},
                                                           {"output_len"},
                                                           {"ttft_s"},
                                                           {"e2e_s"}}};
    const Result<void> read = read_table(data_file(kTrace), kColumns, [&](const CsvRows& rows) {
      measured_[std::string(rows.cell(0))].push_back({.arrival_s = std::string(rows.cell(1)),
                                                      .client = std::string(rows.cell(2)),
                                                      .prompt = std::string(rows.cell(3)),
                                                      .output = std::string(rows.cell(4)),
                                                      .ttft_s = *parse_finite(rows.cell(5)),
                                                      .e2e_s = *parse_finite(rows.cell(6))});
      return Result<void>();
    });
    ASSERT_TRUE(read) << read.error().to_string();
    ASSERT_EQ(trace().size(), 1500U);
    std::string text = "arrival_time,prompt_tokens,output_tokens,tenant\n";
    for (const Row& row : trace()) {
      text +=
          fmt::format("{},{},{},client {}\n", row.arrival_s, row.prompt, row.output, row.client);
    }
    folder_.write("arena.csv", text);
    config_ = folder_.write("arena.yaml",
                            "deployment:\n"
                            "  model: llama-2-7b\n"  // the same shape as Llama-7B
                            "  hardware: a10g\n"
                            "  precision: {weights: fp16, kv: fp16}\n"
                            "  engine: {kv_cache_tokens: 10000, kv_block_tokens: 1}\n"
                            "workload: {trace: {file: arena.csv}}\n"
                            "admission: {policy: rate_limit}\n");
  }

  const std::vector<Row>& trace() { return measured_["FCFS"]; }
  const std::vector<Row>& rows_at(int per_minute) {
    return measured_[fmt::format("LShare/rpm{}", per_minute)];
  }
  ProgramRun run_at(int per_minute) const {
    return {"simulate", config_,
            per_minute == 0
                ? Settings{"admission.policy=none"}
                : Settings{fmt::format("admission.parameters.requests={}", per_minute)}};
  }

  std::map<std::string, std::vector<Row>> measured_;
  ScratchFolder folder_;
  std::string config_;
};

// Who a limit that counts anew at each full minute would refuse.
int refused_by_tumbling_window(const std::vector<Row>& trace, int per_minute) {
  std::map<std::pair<std::string, int>, int> admitted;
  int refused = 0;
  for (const Row& row : trace) {
    int& count = admitted[{row.client, static_cast<int>(row.arrival() / 60)}];
    if (count < per_minute) {
      ++count;
    } else {
      ++refused;
    }
  }
  return refused;
}

double served_rps(const std::vector<Row>& rows) {
  double served = 0;
  double last_s = 0;
  for (const Row& row : rows) {
    if (row.ttft_s < 0) continue;
    ++served;
    last_s = std::max(last_s, row.arrival() + row.e2e_s);
  }
  return served / last_s;
}

TEST_F(Arena, RefusedRequestsAreTheMeasuredOnesWithinOne) {
  for (const Measured& row : kMeasured) {
    if (row.per_minute == 0) continue;
    const ProgramRun run = run_at(row.per_minute);
    ASSERT_TRUE(run.succeeded()) << run.error();
    EXPECT_LE(std::abs(run.refused() - row.rejected), 1)
        << row.per_minute << " a minute: refused " << run.refused();
  }
}

TEST_F(Arena, AWindowThatTumblesIsFarOff) {
  for (const Measured& row : kMeasured) {
    if (row.per_minute == 0) continue;
    const double off =
        1 - refused_by_tumbling_window(trace(), row.per_minute) / (1.0 * row.rejected);
    EXPECT_GT(off, 0.05) << row.per_minute;
    EXPECT_LT(off, 0.28) << row.per_minute;
  }
}

// Which requests were refused, where the data has the rows: the same but for a few of a client at
// its limit.
TEST_F(Arena, RowsThatDifferAreFew) {
  const std::map<int, int> expected = {{5, 16}, {15, 6}, {30, 9}};
  for (const auto& [per_minute, differing] : expected) {
    const ProgramRun run = run_at(per_minute);
    ASSERT_TRUE(run.succeeded()) << run.error();
    const std::vector<Row>& rows = rows_at(per_minute);
    std::set<std::size_t> differ;
    int rejected = 0;
    for (const nlohmann::json& line : run.decisions()) {
      const std::size_t request = line.at("request");
      const bool ours = line.at("effective").at("verdict") != "admit";
      const bool theirs = rows.at(request).ttft_s < 0;
      rejected += theirs ? 1 : 0;
      if (ours != theirs) differ.insert(request);
    }
    EXPECT_EQ(differ.size(), static_cast<std::size_t>(differing)) << per_minute;
    const auto row = std::ranges::find(kMeasured, per_minute, &Measured::per_minute);
    EXPECT_EQ(rejected, row->rejected);
    EXPECT_NEAR(served_rps(rows), row->served_rps, 0.006);
  }
  EXPECT_NEAR(served_rps(trace()), kMeasured[0].served_rps, 0.006);
}

TEST_F(Arena, ThroughputIsTheMeasuredOneWithinATenthAndTtftIsInOrder) {
  double last_mean = 1e12;
  double last_p95 = 1e12;
  for (const Measured& row : kMeasured) {  // measured: falls with each row, mean and p95
    const ProgramRun run = run_at(row.per_minute);
    ASSERT_TRUE(run.succeeded()) << run.error();
    const double served = run.summary().at("throughput").at("finished_rps");
    RecordProperty(fmt::format("served_rps_{}", row.per_minute), fmt::format("{:.3f}", served));
    EXPECT_NEAR(served, row.served_rps, 0.1 * row.served_rps) << row.per_minute;
    EXPECT_LT(run.ttft_ms("mean"), last_mean) << row.per_minute;
    EXPECT_LT(run.ttft_ms("p95"), last_p95) << row.per_minute;
    last_mean = run.ttft_ms("mean");
    last_p95 = run.ttft_ms("p95");
  }
}

}  // namespace
}  // namespace inferscale
