// The preset `coding_agent` against the table that it is fitted to: quantiles of the table, counted
// here from its cells, and those of the preset's distributions. Skipped where the data folder
// isn't.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "workload/programs/generate_programs.h"
#include "workload/readers/test_real_files.h"
#include "workload/workload_options.h"

namespace inferscale {
namespace {

double number(const std::string& cell) {
  return cell.empty() ? 0 : std::stod(cell);
}

double quantile(std::vector<double> values, double p) {
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(p * static_cast<double>(values.size()))];
}

// What the main agents of the table did.
struct Table {
  std::vector<double> turns;
  std::vector<double> fresh_first_prompts;
  std::vector<double> system_prompts;
  std::vector<double> appended;
  std::vector<double> outputs;
  std::vector<double> tool_gaps;
  std::vector<double> person_gaps;
};

Table read_table() {
  constexpr double kFresh = 60'000;  // longer first prompts are of sessions under way
  Table table;
  std::map<std::string, double> system_prompt;
  for (const Row& row : rows_of("claude_code_sessions.csv.gz")) {
    system_prompt[row[0]] = number(row[3]) + number(row[4]);
    table.system_prompts.push_back(system_prompt[row[0]]);
  }
  std::map<std::string, std::vector<Row>> calls;
  for (const Row& row : rows_of("claude_code_requests.csv.gz")) {
    if (row[1] == "main" && row[4] != "spawn") calls[row[0]].push_back(row);
  }
  for (const auto& [session, rows] : calls) {
    table.turns.push_back(static_cast<double>(rows.size()));
    const double first = number(rows[0][5]);
    if (first <= kFresh) table.fresh_first_prompts.push_back(first - system_prompt[session]);
    for (std::size_t k = 0; k < rows.size(); ++k) {
      table.outputs.push_back(number(rows[k][6]));
      if (k == 0) continue;
      const Row& before = rows[k - 1];
      table.appended.push_back(number(rows[k][5]) - number(before[5]) - number(before[6]));
      const double gap = number(rows[k][3]) - number(before[3]) - number(before[10]);
      if (before[13] == "tool_use") table.tool_gaps.push_back(gap);
      if (before[13] == "end_turn") table.person_gaps.push_back(gap);
    }
  }
  return table;
}

GeneratedSessions preset(const std::string& name) {
  const SourcePosition here{"run.yaml", 1};
  ConfigNode node = ConfigNode::map(here);
  EXPECT_TRUE(node.set_path("sessions.preset", ConfigNode::scalar(name, false, here)));
  EXPECT_TRUE(node.set_path("arrivals.rate_rps", ConfigNode::scalar("1", false, here)));
  ConfigSession session;
  ConfigReader reader(node, session);
  return read_workload_options(reader).sessions->generated;
}

// Both quantiles of a log-normal distribution, within one percent.
void expect_fit(const char* what, double mean, double cv, const std::vector<double>& values) {
  const double sigma = std::sqrt(std::log1p(cv * cv));
  const double median = mean / std::sqrt(1 + cv * cv);
  const double p50 = quantile(values, 0.5);
  const double p90 = quantile(values, 0.9);
  EXPECT_NEAR(median, p50, 0.01 * p50) << what;
  EXPECT_NEAR(median * std::exp(1.2815515655 * sigma), p90, 0.01 * p90) << what;
}

void expect_fit(const char* what, const LengthOptions& options, const std::vector<double>& values) {
  const auto& shape = std::get<LognormalLength>(options.shape);
  expect_fit(what, shape.mean, shape.cv, values);
}

class RealSessionPresets : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(traces_folder())) {
      GTEST_SKIP() << "no data folder: set INFERSCALE_DATA";
    }
  }
};

TEST_F(RealSessionPresets, CodingAgentHasTheTablesMediansAndNinetiethPercentiles) {
  const Table table = read_table();
  EXPECT_EQ(table.turns.size(), 692U);
  const GeneratedSessions sessions = preset("coding_agent");
  expect_fit("turns", sessions.turns, table.turns);
  expect_fit("first prompts", sessions.first_prompt_tokens, table.fresh_first_prompts);
  expect_fit("appended", sessions.appended_tokens, table.appended);
  expect_fit("output", sessions.output_tokens, table.outputs);
  expect_fit("tool gaps", sessions.tool_gap.mean_s, sessions.tool_gap.cv, table.tool_gaps);
  expect_fit("person gaps", sessions.person_gap.mean_s, sessions.person_gap.cv, table.person_gaps);
  const auto people = static_cast<double>(table.person_gaps.size());
  const auto tools = static_cast<double>(table.tool_gaps.size());
  EXPECT_NEAR(sessions.person_share, people / (people + tools), 0.0001);
  EXPECT_NEAR(sessions.system_prompt_tokens, quantile(table.system_prompts, 0.5), 20);
}

TEST_F(RealSessionPresets, ProgramsOfCodingAgentLookLikeTheTable) {
  const Table table = read_table();
  GeneratedSessions sessions = preset("coding_agent");
  sessions.count = 2000;
  sessions.max_context_tokens = 2'000'000;
  const Programs programs = generate_programs(sessions, PoissonArrivals{.rate_rps = 1}, 1);
  std::vector<double> turns;
  std::vector<double> outputs;
  std::vector<double> appended;
  std::vector<double> tool_gaps;
  std::vector<double> person_gaps;
  for (const ProgramChain& chain : programs.chains) turns.push_back(chain.turns);
  for (const ProgramTurn& turn : programs.turns) {
    outputs.push_back(turn.output_tokens);
    if (turn.call.history_tokens > 0) {
      appended.push_back(turn.prompt_tokens - turn.call.history_tokens);
    }
    if (turn.call.ends_chain) continue;
    (turn.waits_for_person ? person_gaps : tool_gaps).push_back(turn.gap.seconds());
  }
  const std::vector<std::pair<const std::vector<double>*, const std::vector<double>*>> pairs = {
      {&turns, &table.turns},
      {&outputs, &table.outputs},
      {&appended, &table.appended},
      {&tool_gaps, &table.tool_gaps},
      {&person_gaps, &table.person_gaps}};
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    for (const double p : {0.5, 0.9}) {
      const double real = quantile(*pairs[i].second, p);
      EXPECT_NEAR(quantile(*pairs[i].first, p), real, 0.08 * real) << "pair " << i << ", p " << p;
    }
  }
}

}  // namespace
}  // namespace inferscale
