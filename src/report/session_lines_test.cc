// Lines of sessions and calls, in the shape of the document.

#include "report/session_lines.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace inferscale {
namespace {

Instant ms(std::int64_t millis) {
  return Instant::nanos(millis * 1'000'000);
}

// A call that was refused at 1 s and answered at its second attempt.
const std::vector<Outcome>& outcomes() {
  static const std::vector<Outcome> kOutcomes = {
      {.arrival = ms(1000), .status = OutcomeStatus::kRefused},
      {.arrival = ms(1500),
       .start = ms(1600),
       .first_token = ms(1750),
       .finish = ms(3000),
       .prompt_tokens = 900,
       .output_tokens = 40,
       .cached_tokens = 640,
       .replica = 2,
       .status = OutcomeStatus::kFinished}};
  return kOutcomes;
}

CallRecord finished_call() {
  return {.session = 4,
          .chain = 9,
          .turn = 3,
          .prompt_tokens = 900,
          .output_tokens = 40,
          .history_tokens = 800,
          .attempts = 2,
          .request = 1,
          .ready = ms(1000),
          .status = CallStatus::kFinished,
          .alone_ns = 1e9,
          .recompute_ns = 12'345'678};
}

TEST(SessionLines, ACallCountsFromWhenItWasReady) {
  std::string line;
  append_call_line(line, finished_call(), outcomes(), {});
  EXPECT_EQ(line,
            R"({"session":4,"chain":9,"turn":3,"status":"finished","attempts":2,"request":1,)"
            R"("ready_ns":1000000000,"prompt_tokens":900,"output_tokens":40,"history_tokens":800,)"
            R"("queue_ms":600.0,"ttft_ms":750.0,"e2e_ms":2000.0,"cached_tokens":640,)"
            R"("history_recomputed_tokens":160,"replica":2,"alone_ms":1000.0,)"
            R"("recompute_ms":12.345678,"slo_met":null})"
            "\n");
  Slo slo;
  slo.ttft = Duration::from_millis(749);  // from its last arrival it would be met
  line.clear();
  append_call_line(line, finished_call(), outcomes(), slo);
  EXPECT_NE(line.find("\"slo_met\":false}"), std::string::npos) << line;
}

TEST(SessionLines, WhatNeverCameIsNull) {
  CallRecord call{.session = 0, .chain = 0, .turn = 1, .prompt_tokens = 5, .output_tokens = 6};
  Slo slo;
  slo.e2e = Duration::from_millis(1);
  std::string line;
  append_call_line(line, call, outcomes(), slo);
  EXPECT_EQ(line,
            R"({"session":0,"chain":0,"turn":1,"status":"not_reached","attempts":0,"request":null,)"
            R"("ready_ns":null,"prompt_tokens":5,"output_tokens":6,"history_tokens":0,)"
            R"("queue_ms":null,"ttft_ms":null,"e2e_ms":null,"cached_tokens":null,)"
            R"("history_recomputed_tokens":null,"replica":null,"alone_ms":null,)"
            R"("recompute_ms":null,"slo_met":false})"
            "\n");
  call.status = CallStatus::kFailed;
  call.request = 0;
  call.ready = ms(1000);
  line.clear();
  append_call_line(line, call, outcomes(), slo);
  EXPECT_NE(line.find(R"("status":"failed","attempts":0,"request":0,"ready_ns":1000000000)"),
            std::string::npos)
      << line;
  EXPECT_NE(line.find(R"("ttft_ms":null)"), std::string::npos) << line;
}

TEST(SessionLines, ASessionSaysHowItEnded) {
  const std::vector<CallRecord> calls = {finished_call()};
  const SessionRecord session{.begin = ms(1000),
                              .end = ms(3000),
                              .calls = 1,
                              .finished = 1,
                              .chains = 1,
                              .gaps = Duration::from_millis(1)};
  const std::string name = "a \"name\"";
  std::string line;
  append_session_line(line, 4, session, calls, outcomes(), &name);
  EXPECT_EQ(line, R"({"session":4,"name":"a \"name\"","status":"complete","begin_ns":1000000000,)"
                  R"("end_ns":3000000000,"makespan_s":2.0,"gaps_s":0.001,"chains":1,"calls":1,)"
                  R"("finished":1,"failed":0,"stretch":2})"
                  "\n");
  SessionRecord failed = session;
  failed.calls = 3;
  failed.failed = 1;
  line.clear();
  append_session_line(line, 4, failed, calls, outcomes(), nullptr);
  EXPECT_EQ(line,
            R"({"session":4,"status":"failed","begin_ns":1000000000,"end_ns":3000000000,)"
            R"("makespan_s":null,"gaps_s":0.001,"chains":1,"calls":3,"finished":1,"failed":1,)"
            R"("stretch":null})"
            "\n");
}

}  // namespace
}  // namespace inferscale
