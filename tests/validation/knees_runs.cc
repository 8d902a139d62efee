#include "validation/knees_runs.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/check.h"

namespace inferscale {
namespace {

namespace fs = std::filesystem;

// A folder that goes when the run is over.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::string pattern = (fs::temp_directory_path() / "knees_test.XXXXXX").string();
    path_ = mkdtemp(pattern.data());
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder() { fs::remove_all(path_); }
  std::string file(const char* name) const { return (path_ / name).string(); }

 private:
  fs::path path_;
};

std::string text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// What sources call models and accelerators that the catalogue has under other names.
std::string catalogue_model(const std::string& model) {
  if (model.contains("Llama-3.1-405B")) return "llama-3.1-405b";
  if (model.contains("Llama-4-Scout-17B-16E")) return "meta-llama/Llama-4-Scout-17B-16E-Instruct";
  return model;
}

std::string catalogue_gpu(const std::string& gpu) {
  if (gpu == "H200-SXM-141GB") return "h200";
  return gpu;
}

std::string lengths(double mean, double cv) {
  if (cv == 0) return fmt::format("{{distribution: constant, value: {}}}", std::llround(mean));
  return fmt::format("{{distribution: lognormal, mean: {}, cv: {}}}", mean, cv);
}

std::string engine_of(const MeasuredCase& measured, const CaseOptions& options) {
  std::string engine = "scheduler: " + options.scheduler;
  if (measured.max_num_seqs) engine += fmt::format(", max_num_seqs: {}", *measured.max_num_seqs);
  if (measured.max_num_batched_tokens) {
    engine += fmt::format(", max_num_batched_tokens: {}", *measured.max_num_batched_tokens);
  }
  if (measured.gpu_memory_utilization) {
    engine += fmt::format(", gpu_memory_utilization: {}", *measured.gpu_memory_utilization);
  }
  if (options.repeated_prompts) engine += ", prefix_caching: true";
  return engine;
}

std::string config_of(const MeasuredCase& measured, const CaseOptions& options) {
  CHECK(measured.rate_rps && measured.prompt_tokens && measured.output_tokens &&
        (measured.duration_s || measured.requests))
      << measured.id << " is not an open stream";
  const std::int64_t requests = measured.requests.value_or(
      std::llround(*measured.rate_rps * measured.duration_s.value_or(0)));
  std::string config = fmt::format(
      "deployment:\n"
      "  model: {}\n"
      "  hardware: {}\n"
      "  parallel: {{tensor: {}}}\n"
      "  precision: {{weights: {}}}\n"
      "  engine: {{{}}}\n"
      "workload:\n"
      "  requests: {}\n"
      "  arrivals: {{process: poisson, rate_rps: {}}}\n"
      "  prompt_tokens: {}\n"
      "  output_tokens: {}\n",
      catalogue_model(measured.model), catalogue_gpu(measured.gpu), measured.tensor,
      measured.precision, engine_of(measured, options), requests, *measured.rate_rps,
      lengths(*measured.prompt_tokens, options.length_cv),
      lengths(*measured.output_tokens, options.length_cv));
  if (options.repeated_prompts) {
    config += fmt::format("  shared_prefix: {{tokens: {}, hit_probability: 1}}\n",
                          std::llround(*measured.prompt_tokens));
  }
  return config;
}

}  // namespace

Result<SimulatedCase> simulate_case(const MeasuredCase& measured, const CaseOptions& options) {
  const ScratchFolder folder;
  std::ofstream(folder.file("run.yaml")) << config_of(measured, options);
  const std::string command =
      fmt::format("'{}' simulate '{}' --json >'{}' 2>'{}'", INFERSCALE_BINARY,
                  folder.file("run.yaml"), folder.file("out"), folder.file("err"));
  const int status = std::system(command.c_str());
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    return fail(ErrorCode::kInvalidConfig, text_of(folder.file("err")), measured.id);
  }
  try {
    const auto summary = nlohmann::json::parse(text_of(folder.file("out")));
    return SimulatedCase{.ttft_ms_mean = summary.at("ttft_ms").at("mean"),
                         .tpot_ms_mean = summary.at("tpot_ms").at("mean"),
                         .finished_rps = summary.at("throughput").at("finished_rps")};
  } catch (const nlohmann::json::exception& error) {
    return fail(ErrorCode::kInvalidInput, error.what(), measured.id);
  }
}

}  // namespace inferscale
