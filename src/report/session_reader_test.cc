// Sessions of a run folder come back as they were written; damage is named with its place.

#include "report/session_reader.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/edge/test_folder.h"
#include "metrics/session_summary.h"
#include "report/run_folder_writer.h"
#include "report/sample_run.h"
#include "report/session_page_data.h"

namespace inferscale {
namespace {

using nlohmann::json;

SampleRun sample() {
  return SampleRun({.requests = 2000,
                    .slots = 12,
                    .refusals = true,
                    .replicas = 3,
                    .prefix_cache = true,
                    .sessions = true});
}

std::vector<std::string> lines_of(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

void write_lines(const std::string& path, const std::vector<std::string>& lines) {
  std::ofstream file(path);
  for (const std::string& line : lines) file << line << "\n";
}

TEST(SessionReader, WhatIsReadIsWhatWasWritten) {
  const TestFolder folder;
  const SampleRun run = sample();
  const RunRecord record = run.record();
  ASSERT_TRUE(write_run_folder(folder / "run", record));
  const Result<RunFolder> read = read_run_folder(folder / "run");
  ASSERT_TRUE(read) << read.error().to_string();
  ASSERT_TRUE(read->has_sessions);
  ASSERT_EQ(read->programs.calls.size(), record.programs->calls.size());
  ASSERT_EQ(read->programs.sessions.size(), record.programs->sessions.size());
  // All but what needs the times alone follows from the folder.
  SessionFacts facts{.slo = record.slo, .end = read->end};
  const SessionSummary written = summarize_sessions(*record.programs, record.outcomes, facts);
  const SessionSummary again = summarize_sessions(read->programs, read->outcomes, facts);
  EXPECT_EQ(again.turns, written.turns);
  EXPECT_EQ(again.complete, written.complete);
  EXPECT_EQ(again.failed, written.failed);
  EXPECT_GT(again.failed, 0);
  EXPECT_EQ(again.turns_unreached, written.turns_unreached);
  EXPECT_EQ(again.turns_met, written.turns_met);
  EXPECT_EQ(again.history_recomputed, written.history_recomputed);
  EXPECT_GT(again.history_recomputed, 0);
  EXPECT_EQ(again.locality, written.locality);
  EXPECT_EQ(again.turn_ttft_ms.p95, written.turn_ttft_ms.p95);
  EXPECT_EQ(again.makespan_s.p95, written.makespan_s.p95);
  EXPECT_EQ(again.queue_s_max, written.queue_s_max);
}

TEST(SessionReader, WithoutOutcomesSessionsAreThere) {
  const TestFolder folder;
  ASSERT_TRUE(write_run_folder(
      folder / "run",
      SampleRun({.requests = 300, .with_outcomes = false, .sessions = true}).record()));
  EXPECT_FALSE(std::filesystem::exists(folder / "run/calls.jsonl"));
  const Result<RunFolder> read = read_run_folder(folder / "run");
  ASSERT_TRUE(read) << read.error().to_string();
  EXPECT_TRUE(read->has_sessions);
  EXPECT_FALSE(read->programs.sessions.empty());
  EXPECT_TRUE(read->programs.calls.empty());
  const json page = json::parse(session_page_json(*read).text());
  EXPECT_GT(page["cdf"]["makespan"]["count"], 0);
  EXPECT_TRUE(page["over_time"]["turns"].empty());
  EXPECT_EQ(page["over_time"]["sessions"].size(), 240U);
}

TEST(SessionReader, ALaterRunOfRequestsLeavesNoSessions) {
  const TestFolder folder;
  ASSERT_TRUE(write_run_folder(folder / "run", sample().record()));
  EXPECT_TRUE(std::filesystem::exists(folder / "run/sessions.jsonl"));
  ASSERT_TRUE(write_run_folder(folder / "run", SampleRun({.requests = 10}).record()));
  EXPECT_FALSE(std::filesystem::exists(folder / "run/sessions.jsonl"));
  EXPECT_FALSE(std::filesystem::exists(folder / "run/calls.jsonl"));
  std::filesystem::create_directories(folder / "mine");
  write_lines(folder / "mine/sessions.jsonl", {"{}"});
  const Result<void> refused = check_run_folder(folder / "mine");
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().to_string().find("holds 'sessions.jsonl'"), std::string::npos);
}

// Changes one line of a file of a good folder, and says what reading it leads to.
class Damage {
 public:
  Damage() { EXPECT_TRUE(write_run_folder(folder_ / "run", sample().record())); }
  std::string of(const std::string& file, std::size_t line, const std::string& from,
                 const std::string& to) {
    const std::string path = folder_ / "run/" + file;
    const std::vector<std::string> good = lines_of(path);
    std::vector<std::string> bad = good;
    const std::size_t at = bad[line - 1].find(from);
    EXPECT_NE(at, std::string::npos) << bad[line - 1];
    if (at != std::string::npos) bad[line - 1].replace(at, from.size(), to);
    write_lines(path, bad);
    const std::string message = reading();
    write_lines(path, good);
    return message;
  }
  std::string without(const std::string& file, std::size_t line) {
    const std::string path = folder_ / "run/" + file;
    const std::vector<std::string> good = lines_of(path);
    std::vector<std::string> bad = good;
    bad.erase(bad.begin() + static_cast<std::ptrdiff_t>(line - 1));
    write_lines(path, bad);
    const std::string message = reading();
    write_lines(path, good);
    return message;
  }
  std::string path(const std::string& file) const { return folder_ / "run/" + file; }

 private:
  std::string reading() const {
    const Result<RunFolder> run = read_run_folder(folder_ / "run");
    return run ? "read" : run.error().to_string();
  }
  TestFolder folder_;
};

TEST(SessionReader, DamageIsNamedWithItsPlace) {
  Damage damage;
  const auto says = [&](const std::string& message, const std::string& file, std::size_t line,
                        const std::string& what) {
    const std::string place = damage.path(file) + ":" + std::to_string(line) + ": key '" + what;
    EXPECT_EQ(message.find(place), 0U) << message << "\nexpected: " << place;
  };
  const std::string sessions = "sessions.jsonl";
  const std::string calls = "calls.jsonl";
  EXPECT_EQ(damage.of(sessions, 1, "\"chains\":1", "\"chains\":1"), "read");
  says(damage.without(sessions, 2), sessions, 2, "session': expected 1");
  says(damage.of(sessions, 2, "\"session\":1", "\"session\":7"), sessions, 2, "session'");
  says(damage.of(sessions, 1, "\"status\":\"", "\"status\":\"x"), sessions, 1,
       "status': expected one of complete, failed, unfinished, not_begun, got 'x");
  says(damage.of(sessions, 1, "\"failed\":0", "\"failed\":9"), sessions, 1, "status'");
  says(damage.of(sessions, 2, "\"begin_ns\":", "\"begin_ns\":-"), sessions, 2, "begin_ns'");
  says(damage.of(calls, 1, "\"request\":", "\"request\":99999"), calls, 1, "request'");
  says(damage.of(calls, 1, "\"ready_ns\":", "\"ready_ns\":9"), calls, 1, "ready_ns'");
  says(damage.of(calls, 1, "\"status\":\"finished\"", "\"status\":\"failed\""), calls, 1,
       "status'");
  says(damage.without(calls, 1), calls, 1, "session': expected 0, got 1");
  const std::size_t last = lines_of(damage.path(calls)).size();
  EXPECT_NE(damage.without(calls, last).find("lines are missing"), std::string::npos);
}

TEST(SessionPageData, PointsAreOfFinishedTurns) {
  const TestFolder folder;
  ASSERT_TRUE(write_run_folder(folder / "run", sample().record()));
  const Result<RunFolder> read = read_run_folder(folder / "run");
  ASSERT_TRUE(read) << read.error().to_string();
  const json page = json::parse(session_page_json(*read).text());
  const json summary = json::parse(read->summary_json)["sessions"];
  EXPECT_EQ(page["cdf"]["ttft"]["count"], summary["turns"]["finished"]);
  EXPECT_EQ(page["cdf"]["makespan"]["count"], summary["complete"]);
  const json& by_turn = page["by_turn"];
  EXPECT_EQ(by_turn["turn"][0], 1);
  EXPECT_TRUE(by_turn["history_percent"][0].is_null());  // first turns have none
  EXPECT_NEAR(by_turn["history_percent"][1].get<double>(), 95, 1);
  std::int64_t turns = 0;
  for (const json& count : by_turn["turns"]) {
    EXPECT_GE(count, 20);
    turns += count.get<std::int64_t>();
  }
  EXPECT_EQ(turns, summary["turns"]["finished"]);
  for (std::size_t i = 0; i < by_turn["turn"].size(); ++i) {
    EXPECT_LE(by_turn["ttft_p50"][i], by_turn["ttft_p95"][i]);
  }
}

}  // namespace
}  // namespace inferscale
