// `inferscale capacity` from outside: each kind of search, and what it refuses.

#include <gtest/gtest.h>

#include <string>

#include "cli/program.h"

namespace inferscale {
namespace {

class CapacityCommand : public Cli {};

constexpr char kExample[] = "capacity --example --set repeats=2 --set workload.requests=400 ";

// The value of a key of the result's outer object, as it is written.
std::string value_of(const std::string& json, const std::string& key) {
  const std::string start = "\n  \"" + key + "\": ";
  const std::size_t at = json.find(start);
  if (at == std::string::npos) return "missing";
  const std::size_t from = at + start.size();
  return json.substr(from, json.find_first_of(",\n", from) - from);
}

TEST_F(CapacityCommand, AnswersForTheExampleAndItsAnswerIsWhatSimulateSays) {
  const Ended ended = run(std::string(kExample) + "--json");
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(value_of(ended.out, "verdict"), "\"found\"");
  EXPECT_EQ(value_of(ended.out, "within_tolerance"), "true");
  // At the capacity each seed reaches the attainment, at the load above it some seed does not.
  const auto goodputs_at = [&](const std::string& key) {
    int reached = 0;
    for (const char* seed : {"42", "43"}) {
      const Ended one =
          run("simulate --example --json --set workload.requests=400 --set "
              "workload.arrivals.rate_rps=" +
              value_of(ended.out, key) + " --set seed=" + seed);
      EXPECT_EQ(one.code, 0) << one.err;
      const std::string start = "\"goodput\": ";
      const std::size_t at = one.out.find(start);
      EXPECT_NE(at, std::string::npos) << one.out;
      if (std::stod(one.out.substr(at + start.size())) >= 0.99) ++reached;
    }
    return reached;
  };
  EXPECT_EQ(goodputs_at("carried"), 2);
  EXPECT_LT(goodputs_at("not_carried"), 2);
}

TEST_F(CapacityCommand, SameSeedSameBytes) {
  const Ended text = run(kExample);
  EXPECT_EQ(text.code, 0) << text.err;
  EXPECT_EQ(text.out.find("Capacity of example.yaml (simulated)\n\nCarries "), 0U) << text.out;
  EXPECT_EQ(text.out, run(kExample).out);
  EXPECT_NE(text.out, run(std::string(kExample) + "--set seed=7").out);
}

TEST_F(CapacityCommand, RefusesSeedsThatLeaveNoRoomForTheRepetitions) {
  const std::string seed = " --set seed=9223372036854775807";
  for (const char* kind : {"capacity", "ab", "explore", "sensitivity"}) {
    expect_error(std::string(kind) + " --example --set repeats=2" + seed,
                 "expected at most 9223372036854775806 with repeats 2");
  }
}

TEST_F(CapacityCommand, SearchesTheSmallestFleetForALoad) {
  const Ended ended = run(std::string(kExample) + "--for-load 60 --json");
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(value_of(ended.out, "search"), "\"replicas\"");
  EXPECT_EQ(value_of(ended.out, "fixed_load"), "60");
  const int carried = std::stoi(value_of(ended.out, "carried"));
  EXPECT_GT(carried, 1);
  EXPECT_EQ(value_of(ended.out, "not_carried"), std::to_string(carried - 1));
}

TEST_F(CapacityCommand, ScalesATraceAndSaysThatItIsADerivedWorkload) {
  std::string rows = "arrival_time,prompt_tokens,output_tokens\n";
  for (int i = 0; i < 200; ++i) rows += std::to_string(i) + ",500,100\n";
  write("trace.csv", rows);
  write("c.yaml",
        "deployment: {model: llama-3.1-8b, hardware: h100-sxm}\n"
        "workload: {trace: {file: trace.csv}}\n"
        "slo: {ttft_ms: 200}\n"
        "repeats: 1\n");
  expect_error("capacity c.yaml",
               "another rate would not change them: expected "
               "study.capacity.search: trace_rate_scale");
  const std::string scaled = "c.yaml --set study.capacity.search=trace_rate_scale";
  const Ended ended = run("capacity " + scaled);
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_NE(ended.out.find("times the trace's rate"), std::string::npos) << ended.out;
  EXPECT_NE(ended.out.find("Derived workload: each load"), std::string::npos) << ended.out;
  const Ended one = run("simulate c.yaml --set workload.trace.rate_scale=2");
  EXPECT_NE(one.out.find("Note: Derived workload: arrival times are divided by 2."),
            std::string::npos)
      << one.out;
}

TEST_F(CapacityCommand, SaysWhatItDoesNotUnderstand) {
  expect_error("capacity", "expected a configuration file, or --example");
  expect_error("capacity a.yaml --example", "expected one of them");
  expect_error("capacity --example --set slo=null", "slo: expected at least one target");
  expect_error("capacity --example --for-load many", "study.capacity.for_load: 'many'");
  expect_error("capacity --example --set study.capacity.low=5 --set study.capacity.high=2",
               "study.capacity.low: '5': expected at most study.capacity.high");
  expect_error("capacity --example --set study.capacity.for_load=5",
               "expected it with search: replicas only");
}

}  // namespace
}  // namespace inferscale
