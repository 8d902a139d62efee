#include "validation/knees_cases.h"

#include <nlohmann/json.hpp>

#include "base/edge/input_file.h"
#include "validation/data_folder.h"

namespace inferscale {
namespace {

using nlohmann::json;

// A number of `object`, or nothing where it is absent or null.
std::optional<double> number(const json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || found->is_null()) return std::nullopt;
  return found->get<double>();
}

// Sources write whole numbers as 512 and as 512.0.
std::optional<std::int64_t> whole(const json& object, const char* key) {
  const auto value = number(object, key);
  if (!value) return std::nullopt;
  return static_cast<std::int64_t>(*value);
}

MeasuredLatency latency(const json& measured, const char* key) {
  const auto found = measured.find(key);
  if (found == measured.end()) return {};
  return {
      .mean = number(*found, "mean"), .p50 = number(*found, "p50"), .p99 = number(*found, "p99")};
}

MeasuredCase case_of(const json& line) {
  const json& arrival = line.at("arrival");
  const json& measured = line.at("measured");
  MeasuredCase result{
      .id = line.at("id"),
      .model = line.at("model"),
      .gpu = line.at("gpu"),
      .tensor = whole(line, "tp").value_or(1),
      .precision = line.at("precision"),
      .max_num_seqs = whole(line, "max_num_seqs"),
      .max_num_batched_tokens = whole(line, "max_num_batched_tokens"),
      .gpu_memory_utilization = number(line, "gpu_memory_utilization"),
      .rate_rps = number(arrival, "rate_rps"),
      .concurrency = number(arrival, "concurrency"),
      .duration_s = number(arrival, "duration_s"),
      .prompt_tokens = number(line, "prompt_tokens"),
      .output_tokens = number(line, "output_tokens"),
      .requests = whole(line, "n_requests"),
      .ttft_ms = latency(measured, "ttft_ms"),
      .itl_ms = latency(measured, "itl_ms"),
      .tpot_ms = latency(measured, "tpot_ms"),
      .e2e_ms = latency(measured, "e2e_ms"),
      .finished_rps = number(measured, "request_throughput"),
  };
  const auto split = line.find("disagg");
  if (split != line.end()) {
    result.prefill_workers = whole(*split, "prefill_workers");
    result.decode_workers = whole(*split, "decode_workers");
  }
  return result;
}

}  // namespace

Result<std::vector<MeasuredCase>> read_measured_cases(std::string_view prefix) {
  Result<LineReader> lines = LineReader::open(data_file("measured/cases.jsonl.gz"));
  if (!lines) return std::unexpected(lines.error());
  std::vector<MeasuredCase> cases;
  std::string text;
  for (;;) {
    const Result<bool> more = lines->next(text);
    if (!more) return std::unexpected(more.error());
    if (!*more) return cases;
    try {
      const json line = json::parse(text);
      if (!line.at("id").get<std::string>().starts_with(prefix)) continue;
      cases.push_back(case_of(line));
    } catch (const json::exception& error) {
      return fail(ErrorCode::kInvalidInput, error.what(),
                  lines->path() + ":" + std::to_string(lines->line_number()));
    }
  }
}

}  // namespace inferscale
