// For tests of studies: scenarios from YAML text, and an executor whose records are made up.

#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/edge/yaml_config.h"
#include "catalog/models.h"
#include "study/run_executor.h"
#include "study/scenario.h"

namespace inferscale {

inline RunInputs test_inputs() {
  return {.resolve_model = [](const std::string& name) -> Result<ModelSpec> {
            const auto model = find_model(name);
            if (!model) return fail(ErrorCode::kNotFound, "no such model", name);
            return *model;
          },
          .load_trace = [](const TraceOptions&, const std::string&,
                           std::uint64_t) -> Result<std::shared_ptr<const Trace>> {
            return fail(ErrorCode::kNotFound, "no traces in this test");
          }};
}

inline Scenario scenario_of(const std::string& yaml) {
  Result<ConfigNode> tree = parse_yaml(yaml, "test.yaml");
  CHECK(tree.has_value()) << tree.error().to_string();
  Result<Scenario> scenario = Scenario::make(std::move(*tree), test_inputs(), "test.yaml");
  CHECK(scenario.has_value()) << scenario.error().to_string();
  return std::move(*scenario);
}

// Says what the record of each request is, and keeps what was asked.
class FakeExecutor final : public RunExecutor {
 public:
  explicit FakeExecutor(std::function<RunResult(const RunRequest&)> answer)
      : answer_(std::move(answer)) {}

  Result<std::vector<RunResult>> run(std::span<const RunRequest> requests) override {
    std::vector<RunResult> records;
    for (const RunRequest& request : requests) {
      asked.push_back(request);
      records.push_back(answer_(request));
    }
    return records;
  }

  std::vector<RunRequest> asked;

 private:
  std::function<RunResult(const RunRequest&)> answer_;
};

}  // namespace inferscale
