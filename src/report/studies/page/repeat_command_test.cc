#include "report/studies/page/repeat_command.h"

#include <gtest/gtest.h>

namespace inferscale {
namespace {

TEST(RepeatCommand, NamesTheFileTheSettingsAndTheSeed) {
  EXPECT_EQ(repeat_command({.scenario = "chat.yaml", .seed = 42}),
            "inferscale simulate chat.yaml --set seed=42");
  EXPECT_EQ(repeat_command({.scenario = "configs/chat.yaml",
                            .settings = {"deployment.replicas=2", "slo.ttft_ms=500.5"},
                            .seed = 7}),
            "inferscale simulate configs/chat.yaml --set deployment.replicas=2 "
            "--set slo.ttft_ms=500.5 --set seed=7");
}

TEST(RepeatCommand, SessionsHaveACommandOfTheirOwn) {
  EXPECT_EQ(repeat_command({.scenario = "agents.yaml", .seed = 42}, "agents"),
            "inferscale agents agents.yaml --set seed=42");
}

TEST(RepeatCommand, LeavesQuotationMarksOutWhereTheTextIsTheSame) {
  EXPECT_EQ(repeat_command({.scenario = "a.yaml",
                            .settings = {R"(deployment.engine.scheduler="vllm")", R"(name="7")",
                                         R"(name="null")"},
                            .seed = 1}),
            R"(inferscale simulate a.yaml --set deployment.engine.scheduler=vllm )"
            R"(--set 'name="7"' --set 'name="null"' --set seed=1)");
}

TEST(RepeatCommand, IsOneLineOfAShellWhateverTheValues) {
  EXPECT_EQ(repeat_command({.scenario = "my chat.yaml",
                            .settings = {R"(deployment.hardware={"name":"it's"})", "name=$(date)"},
                            .seed = 1}),
            "inferscale simulate 'my chat.yaml' --set "
            R"('deployment.hardware={"name":"it'\''s"}' --set 'name=$(date)' --set seed=1)");
}

TEST(RepeatCommand, ChangesOfATreatmentAreSettings) {
  EXPECT_EQ(repeat_command({.scenario = "my chat.yaml --change deployment.replicas=2 --change "
                                        "deployment.disaggregation={decode: {replicas: 2}}",
                            .seed = 1}),
            "inferscale simulate 'my chat.yaml' --set deployment.replicas=2 --set "
            "'deployment.disaggregation={decode: {replicas: 2}}' --set seed=1");
}

TEST(RepeatCommand, SaysWhichTimesWereScaled) {
  EXPECT_EQ(repeat_command({.scenario = "a.yaml",
                            .seed = 1,
                            .scales = Json::parse(R"({"prefill":1.1,"decode":0.5,"transfer":1})")}),
            "inferscale simulate a.yaml --set seed=1"
            "  # times of prefill x 1.1, decode x 0.5, transfer x 1");
}

}  // namespace
}  // namespace inferscale
