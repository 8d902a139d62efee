#include "study/validation/case_reader.h"

#include <gtest/gtest.h>

#include <map>

#include "study/validation/validate_test_support.h"

namespace inferscale {
namespace {

const ValidationCase& only(const Result<CaseFile>& file) {
  CHECK(file.has_value()) << file.error().to_string();
  CHECK(file->cases.size() == 1) << "one case";
  return file->cases.front();
}

TEST(CaseReader, ADescribedStreamBecomesAConfiguration) {
  const auto file = cases_of(described(
      std::string(kStream) +
          "  tp: 2\n  precision: fp8\n  max_num_seqs: 128.0\n  max_num_batched_tokens: 2048\n"
          "  total_kv_blocks: 100\n  gpu_memory_utilization: 0.85\n",
      "{e2e_ms: {mean: 1000}}"));
  const ValidationCase& each = only(file);
  EXPECT_FALSE(each.not_simulated) << each.not_simulated->reason;
  EXPECT_EQ(to_json_text(each.config),
            R"({"deployment":{"model":"meta-llama/Llama-3.1-8B","hardware":"H100-SXM-80GB",)"
            R"("parallel":{"tensor":2,"pipeline":1,"data":1},"precision":{"weights":"fp8"},)"
            R"("engine":{"scheduler":"vllm","max_num_seqs":128,"max_num_batched_tokens":2048,)"
            R"("kv_cache_tokens":1600,"gpu_memory_utilization":0.85}},)"
            R"("workload":{"requests":200,"arrivals":{"process":"poisson","rate_rps":4},)"
            R"("prompt_tokens":{"distribution":"lognormal","mean":500,"cv":1},)"
            R"("output_tokens":{"distribution":"lognormal","mean":100,"cv":0.8}}})");
  EXPECT_EQ(each.lengths, LengthKnowledge::kAssumed);
  EXPECT_TRUE(each.assumptions.empty());
  EXPECT_EQ(each.at.to_string(), "cases.yaml:2");
}

TEST(CaseReader, KnownSpreadsAreTakenAndNotAssumed) {
  const auto given =
      cases_of(described(std::string(kStream) + "  prompt_tokens_cv: 0\n  output_tokens_cv: 0.3\n",
                         "{e2e_ms: {mean: 1}}"));
  EXPECT_EQ(only(given).lengths, LengthKnowledge::kGiven);
  EXPECT_NE(to_json_text(only(given).config).find(R"("cv":0.3)"), std::string::npos);
  const auto fixed = cases_of(described(
      std::string(kStream) + "  workload: {kind: random fixed-length}\n", "{e2e_ms: {mean: 1}}"));
  EXPECT_EQ(only(fixed).lengths, LengthKnowledge::kFixed);
  EXPECT_NE(to_json_text(only(fixed).config).find(R"({"distribution":"constant","value":500})"),
            std::string::npos);
}

TEST(CaseReader, RepeatedPromptsAreInThePrefixCacheUnlessItIsOff) {
  const std::string kind = std::string(kStream) + "  workload: {kind: shared_prefix}\n";
  const auto on = cases_of(described(kind, "{e2e_ms: {mean: 1}}"));
  EXPECT_NE(to_json_text(only(on).config).find(R"("shared_prefix":{"tokens":500)"),
            std::string::npos);
  const auto off = cases_of(described(kind + "  prefix_caching: false\n", "{e2e_ms: {mean: 1}}"));
  EXPECT_EQ(to_json_text(only(off).config).find("shared_prefix"), std::string::npos);
}

TEST(CaseReader, LengthsBeyondTheContextWereMeasuredSo) {
  const auto longest = [](const std::string& prompt) {
    const auto file =
        cases_of(described("  arrival: {mode: batch, concurrency: 2}\n  prompt_tokens: " + prompt +
                               "\n  output_tokens: 72\n",
                           "{e2e_ms: {mean: 1}}"));
    const ConfigNode* engine = only(file).config.find("deployment")->find("engine");
    const ConfigNode* length = engine->find("max_model_len");
    return length == nullptr ? std::string("none") : length->text();
  };
  EXPECT_EQ(longest("131000"), "none");  // 131072 in all: the context of Llama 3.1
  EXPECT_EQ(longest("131001"), "131073");
}

TEST(CaseReader, SpreadsThatAreAssumedCanBeSet) {
  const std::string yaml =
      "study: {validate: {prompt_cv: 0.5}}\n" + described(kStream, "{e2e_ms: {mean: 1}}");
  EXPECT_NE(to_json_text(only(cases_of(yaml)).config).find(R"("mean":500,"cv":0.5)"),
            std::string::npos);
  const auto set = cases_of(yaml, "validate: {output_cv: 2}");
  EXPECT_NE(to_json_text(only(set).config).find(R"("mean":500,"cv":0.5)"), std::string::npos);
  EXPECT_NE(to_json_text(only(set).config).find(R"("mean":100,"cv":2)"), std::string::npos);
}

TEST(CaseReader, HeadCountsForCasesThatSayNothing) {
  const auto file = cases_of(
      "seed: 7\nrepeats: 3\ncases:\n"
      "- {id: a, config: {seed: 1}, measured: {ttft_ms: {p95: 1}}}\n"
      "- {id: b, config_file: own.yaml, measured: {ttft_ms: {p95: 1}}}\n");
  ASSERT_TRUE(file) << file.error().to_string();
  EXPECT_EQ(to_json_text(file->cases[0].config), R"({"seed":1,"repeats":3})");
  EXPECT_EQ(file->cases[1].config.find("seed")->text(), "7");
  EXPECT_EQ(file->cases[1].config_file, "own.yaml");
}

TEST(CaseReader, WhatCantBeSimulatedSaysWhy) {
  const std::string arrival = "  arrival: {mode: open-poisson, rate_rps: 1}\n";
  const std::string lengths = "  prompt_tokens: 500\n  output_tokens: 100\n";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"  arrival: {mode: closed-capped, concurrency: 4}\n" + lengths, "closed loop"},
      {"  arrival: {mode: open-real, rate_rps: 4}\n" + lengths, "arrivals neither open-poisson"},
      {"  arrival: {mode: poisson}\n" + lengths, "the arrival rate is not known"},
      {"  arrival: {mode: open-poisson, rate_rps: 4, on_off_s: 60}\n" + lengths,
       "arrivals that stop and go"},
      {arrival + lengths, "the number of requests is not known"},
      {arrival + "  n_requests: 10\n", "prompt or answer lengths are not known"},
      {kStream + std::string("  precision: fp4\n"), "unknown precision"},
      {kStream + std::string("  speculative: {method: eagle}\n"), "speculative decoding"},
      {kStream + std::string("  disagg: {prefill_workers: 1}\n"), "split pools"},
      {kStream + std::string("  policy: {name: kv_threshold}\n"), "admission or fairness"},
      {kStream + std::string("  moe_ep: 8\n"), "data-parallel attention or expert"},
      {kStream + std::string("  n_requests: 100\n  n_failed: 2\n"), "survivors"},
      {kStream + std::string("  tier: B-overload\n"), "survivors"},
  };
  for (const auto& [more, reason] : cases) {
    const auto file = cases_of(described(more, "{e2e_ms: {mean: 1}}"));
    ASSERT_TRUE(file) << file.error().to_string();
    ASSERT_TRUE(file->cases[0].not_simulated) << more;
    EXPECT_TRUE(file->cases[0].not_simulated->reason.find(reason) != std::string::npos)
        << more << file->cases[0].not_simulated->reason;
  }
}

TEST(CaseReader, NamesThatNobodyKnowsAreReasonsWithTheName) {
  const auto with = [](const std::string& from, const std::string& to) {
    std::string yaml = described(kStream, "{e2e_ms: {mean: 1}}");
    yaml.replace(yaml.find(from), from.size(), to);
    const auto file = cases_of(yaml);
    CHECK(file.has_value()) << file.error().to_string();
    return file->cases[0].not_simulated.value_or(NotSimulated{});
  };
  EXPECT_EQ(with("H100-SXM-80GB", "Ascend-910B").reason, "unknown accelerator");
  EXPECT_EQ(with("H100-SXM-80GB", "Ascend-910B").detail, "Ascend-910B");
  EXPECT_EQ(with("meta-llama/Llama-3.1-8B", "glm-5.2").reason, "unknown model");
  EXPECT_EQ(with("vllm 0.15.1", "trtllm 1.0").reason, "engine is not modelled");
  EXPECT_EQ(with("vllm 0.15.1", "vllmish").detail, "vllmish");
}

TEST(CaseReader, FiguresBecomeMetricsOrAreSetAside) {
  const auto file = cases_of(described(
      kStream,
      "{ttft_ms: {mean: 1, p95: 2, stat_unspecified: 3}, itl_ms: {p50: 4}, e2e_ms: {p95: 5}, "
      "output_tok_s: 6, request_throughput: 7, total_tok_s: 8}"));
  const ValidationCase& each = only(file);
  std::string found;
  for (const MeasuredFigure& figure : each.measured) {
    found += std::string(info_of(figure.metric).name) + " ";
  }
  EXPECT_EQ(found,
            "ttft_ms_mean ttft_ms_p95 itl_ms_p50 e2e_ms_p95 finished_rps output_tokens_per_s ");
  ASSERT_EQ(each.unscored.size(), 2U);
  EXPECT_EQ(each.unscored[0].figure, "ttft_ms.stat_unspecified");
  EXPECT_EQ(each.unscored[1].figure, "total_tok_s");
  EXPECT_EQ(each.load.measured_rps, 7);
}

TEST(CaseReader, NamesOfVllmBenchServeAreUnderstood) {
  const auto file = cases_of(described(
      kStream,
      "{mean_ttft_ms: 1, median_ttft_ms: 2, std_ttft_ms: 3, p99_tpot_ms: 4, p90_itl_ms: 5, "
      "median_e2el_ms: 6, tpot_ms: {median: 7, std: 8}, request_throughput: 9, "
      "output_throughput: 10, total_token_throughput: 11, request_goodput: null}"));
  const ValidationCase& each = only(file);
  const std::map<Metric, double> expected = {{Metric::kTtftMean, 1},
                                             {Metric::kTtftP50, 2},
                                             {Metric::kTpotP99, 4},
                                             {Metric::kE2eP50, 6},
                                             {Metric::kTpotP50, 7},
                                             {Metric::kFinishedRps, 9},
                                             {Metric::kOutputTokensPerSecond, 10}};
  std::map<Metric, double> found;
  for (const MeasuredFigure& figure : each.measured) found[figure.metric] = figure.value;
  EXPECT_EQ(found, expected);
  std::string aside;
  for (const UnscoredFigure& figure : each.unscored) aside += figure.figure + " ";
  EXPECT_EQ(aside, "tpot_ms.std ttft_ms.std itl_ms.p90 total_token_throughput ");
  EXPECT_NE(cases_error(described(kStream, "{mean_ttft_ms: 1, ttft_ms: {mean: 1}}"))
                .find("measured.mean_ttft_ms: '1': the same figure as another key"),
            std::string::npos);
  EXPECT_NE(cases_error(described(kStream, "{avg_ttft_ms: 1}")).find("unknown key"),
            std::string::npos);
}

TEST(CaseReader, ShortNamesOfArrivalsAreUnderstoodAndMissingOnesNamed) {
  const auto process = [](const std::string& mode) {
    const auto file = cases_of(described("  arrival: {mode: " + mode +
                                             ", rate_rps: 4, duration_s: 50}\n"
                                             "  prompt_tokens: 5\n  output_tokens: 5\n",
                                         "{e2e_ms: {mean: 1}}"));
    const ConfigNode* workload = only(file).config.find("workload");
    return workload->find("arrivals")->find("process")->text();
  };
  EXPECT_EQ(process("poisson"), "poisson");
  EXPECT_EQ(process("uniform"), "constant");
  EXPECT_EQ(process("constant"), "constant");
  EXPECT_TRUE(cases_error(described("  arrival: {rate_rps: 4}\n", "{e2e_ms: {mean: 1}}"))
                  .starts_with("cases.yaml:6: cases[0].arrival.mode: missing: expected "
                               "open-poisson or open-uniform (with rate_rps), burst, batch"));
  EXPECT_NE(cases_error(described("  arrival: {mod: burst}\n", "{e2e_ms: {mean: 1}}"))
                .find("did you mean 'mode'?"),
            std::string::npos);
}

TEST(CaseReader, TokenTimesOfABrokenClientAreNotScored) {
  const auto file = cases_of(
      described(kStream + std::string("  tier: B-tpot-unreliable\n"),
                "{ttft_ms: {mean: 1}, tpot_ms: {mean: 1}, e2e_ms: {mean: 9}, output_tok_s: 2}"));
  const ValidationCase& each = only(file);
  ASSERT_EQ(each.measured.size(), 2U);
  EXPECT_EQ(each.measured[0].metric, Metric::kE2eMean);
  EXPECT_EQ(each.measured[1].metric, Metric::kOutputTokensPerSecond);
  EXPECT_EQ(each.unscored.size(), 2U);
}

TEST(CaseReader, ACaseWithoutAComparableFigureIsListed) {
  const auto file = cases_of(described(kStream, "{tpot_ms: {stat_unspecified: 3}}"));
  ASSERT_TRUE(only(file).not_simulated);
  EXPECT_EQ(only(file).not_simulated->reason, "no figure that can be compared");
  EXPECT_EQ(only(file).not_simulated->detail, "the source does not say which statistic it is");
}

// 100 + 99 x 10 = 1090.
TEST(CaseReader, ABatchThatContradictsItselfIsListed) {
  const auto with = [](const std::string& e2e) {
    const auto file = cases_of(described(
        "  arrival: {mode: batch, concurrency: 1}\n  prompt_tokens: 9\n  output_tokens: 100\n",
        "{ttft_ms: {p50: 100}, tpot_ms: {p50: 10}, e2e_ms: {p50: " + e2e + "}}"));
    return only(file).not_simulated.value_or(NotSimulated{"none", ""}).reason;
  };
  EXPECT_EQ(with("1300"), "none");
  EXPECT_EQ(with("873"), "none");
  EXPECT_TRUE(with("1310").starts_with("the figures contradict each other"));
  EXPECT_TRUE(with("870").starts_with("the figures contradict each other"));
}

TEST(CaseReader, GoodputNeedsTheTargetsThatItWasJudgedBy) {
  EXPECT_EQ(cases_error(described(kStream, "{slo_attainment: 0.9}")),
            "cases.yaml:9: cases[0].measured.slo_attainment: '0.9': expected an slo beside it: "
            "goodput is judged by its targets");
  const std::string slo = std::string(kStream) + "  slo: {ttft_ms: 200}\n";
  EXPECT_NE(cases_error(described(slo, "{slo_attainment: 99}")).find("at most 1"),
            std::string::npos);
  const auto file =
      cases_of(described(kStream + std::string("  slo: {ttft_ms: 200, e2e_ms: 9000}\n"),
                         "{slo_attainment: 0.9, goodput_rps: 3}"));
  const ValidationCase& each = only(file);
  EXPECT_EQ(each.measured[0].metric, Metric::kGoodput);
  EXPECT_EQ(to_json_text(*each.config.find("slo")), R"({"ttft_ms":200,"e2e_ms":9000})");
}

TEST(CaseReader, ErrorsNameTheLine) {
  EXPECT_NE(cases_error(described(std::string(kStream) + "  slo: {ttft: 4}\n", "{goodput: 1}"))
                .find("cases.yaml:9: unknown key 'cases[0].slo.ttft'"),
            std::string::npos);
  EXPECT_EQ(cases_error(described(kStream + std::string("  colour: red\n"), "{ttft_ms: {p95: 1}}"))
                .substr(0, 47),
            "cases.yaml:9: unknown key 'cases[0].colour' (va");
  EXPECT_NE(cases_error(described(kStream, "{ttft_ms: {p96: 1}}")).find("cases.yaml:9"),
            std::string::npos);
  EXPECT_NE(cases_error(described(kStream, "{ttft_ms: {p95: fast}}")).find("cases.yaml:9"),
            std::string::npos);
  EXPECT_NE(cases_error("cases:\n- {id: a, config: {}}\n").find("cases.yaml:2"), std::string::npos);
  EXPECT_NE(cases_error("cases: []\n").find("no cases"), std::string::npos);
  EXPECT_NE(cases_error("casez: []\n").find("did you mean 'cases'?"), std::string::npos);
  EXPECT_NE(cases_error("cases:\n- {id: a, config: {}, config_file: own.yaml, measured: {}}\n")
                .find("expected config or config_file"),
            std::string::npos);
  EXPECT_EQ(cases_error("cases:\n- {id: a, config_file: none.yaml, measured: {}}\n"),
            "none.yaml: no such file");
}

TEST(CaseReader, TwoCasesWithOneNameAreRefused) {
  EXPECT_EQ(cases_error("cases:\n"
                        "- {id: a, config: {}, measured: {ttft_ms: {p95: 1}}}\n"
                        "- {id: a, config: {}, measured: {ttft_ms: {p95: 1}}}\n"),
            "cases.yaml:3: id 'a': expected another one, it is that of the case at cases.yaml:2");
}

TEST(CaseReader, OneFigureUnderTwoNamesIsRefused) {
  EXPECT_NE(cases_error(described(kStream, "{finished_rps: 1, request_throughput: 1}"))
                .find("the same figure as another key"),
            std::string::npos);
}

}  // namespace
}  // namespace inferscale
