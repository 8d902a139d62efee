// For tests of the validation study: cases from YAML text.

#pragma once

#include <string>

#include "base/config_json.h"
#include "study/study_test_support.h"
#include "study/validation/case_reader.h"
#include "study/validation/case_scenarios.h"

namespace inferscale {

inline CaseInputs test_case_inputs() {
  return {.resolve_model = test_inputs().resolve_model,
          .load_config = [](const std::string& file) -> Result<ConfigNode> {
            if (file != "own.yaml") return fail(ErrorCode::kNotFound, "no such file", file);
            return parse_yaml("deployment: {model: llama-3.1-8b, hardware: h100}\n", file);
          }};
}

inline Result<CaseFile> cases_of(const std::string& yaml, const std::string& study = "") {
  const Result<ConfigNode> tree = parse_yaml(yaml, "cases.yaml");
  CHECK(tree.has_value()) << tree.error().to_string();
  const Result<ConfigNode> set = parse_yaml(study, "--set");
  CHECK(set.has_value()) << set.error().to_string();
  return read_cases(*tree, *set, test_case_inputs());
}

inline std::string cases_error(const std::string& yaml) {
  const Result<CaseFile> file = cases_of(yaml);
  return file ? "no error" : file.error().to_string();
}

inline Result<CaseScenarios> scenarios_of(std::vector<ValidationCase>& cases) {
  return make_case_scenarios(cases, [](const ValidationCase&) { return test_inputs(); });
}

// A described open stream; `more` are further lines of the case, two spaces in.
inline std::string described(const std::string& more, const std::string& measured) {
  return "cases:\n- id: a\n  model: meta-llama/Llama-3.1-8B\n  gpu: H100-SXM-80GB\n"
         "  engine: vllm 0.15.1\n" +
         more + "  measured: " + measured + "\n";
}

inline constexpr char kStream[] =
    "  arrival: {mode: open-poisson, rate_rps: 4, duration_s: 50}\n"
    "  prompt_tokens: 500\n  output_tokens: 100\n";

}  // namespace inferscale
