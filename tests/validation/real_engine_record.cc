#include "validation/real_engine_record.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "base/number_text.h"
#include "validation/data_folder.h"
#include "validation/table_file.h"
#include "workload/readers/cell_values.h"

namespace inferscale {
namespace {

constexpr std::array<CsvColumn, 7> kRequestColumns = {{{"request_id"},
                                                       {"queued_s"},
                                                       {"input_toks"},
                                                       {"output_toks"},
                                                       {"scheduled_s"},
                                                       {"first_token_s"},
                                                       {"last_token_s"}}};
constexpr std::array<CsvColumn, 4> kTraceColumns = {
    {{"arrival_time_ns"}, {"input_toks"}, {"output_toks"}, {"max_prefix_hit_tokens_block16"}}};
constexpr std::array<CsvColumn, 6> kTickColumns = {
    {{"t"}, {"prompt_throughput"}, {"gen_throughput"}, {"running"}, {"waiting"}, {"kv_cache_pct"}}};

std::optional<Instant> seconds_cell(const CsvRows& rows, CsvIndex column) {
  const auto ns = scaled_decimal(rows.cell(column), 9);
  if (!ns) return std::nullopt;
  return Instant::nanos(*ns);
}

Result<void> read_requests(std::vector<EngineRequest>& requests) {
  return read_table(
      data_file("traces/llmservingsim_bench_RTX4090_Llama-3.1-8B.csv.gz"), kRequestColumns,
      [&](const CsvRows& rows) -> Result<void> {
        EngineRequest request;
        const std::array<std::pair<CsvIndex, Instant*>, 4> times = {{{1, &request.queued},
                                                                     {4, &request.scheduled},
                                                                     {5, &request.first_token},
                                                                     {6, &request.last_token}}};
        for (const auto& [column, to] : times) {
          const auto at = seconds_cell(rows, column);
          if (!at) return rows.wrong(column, "seconds");
          *to = *at;
        }
        const auto prompt = token_count(rows.cell(2), 1);
        if (!prompt) return rows.wrong(2, "a number of tokens, at least 1");
        const auto output = token_count(rows.cell(3), 1);
        if (!output) return rows.wrong(3, "a number of tokens, at least 1");
        request.prompt_tokens = *prompt;
        request.output_tokens = *output;
        requests.push_back(request);
        return {};
      });
}

// The instants of the trace, checked to be of the same requests.
Result<void> read_sent(std::vector<EngineRequest>& requests) {
  std::size_t at = 0;
  const std::string file = data_file("traces/llmservingsim_sharegpt-llama-3.1-8b-300-sps10.csv.gz");
  Result<void> read = read_table(file, kTraceColumns, [&](const CsvRows& rows) -> Result<void> {
    const auto ns = scaled_decimal(rows.cell(0), 0);
    if (!ns) return rows.wrong(0, "nanoseconds");
    const auto prompt = token_count(rows.cell(1), 1);
    if (at == requests.size() || !prompt || *prompt != requests[at].prompt_tokens) {
      return rows.wrong(1, "the prompt of the request that the engine recorded here");
    }
    requests[at++].sent = Instant::nanos(*ns);
    return {};
  });
  if (!read) return read;
  if (at != requests.size() || requests.empty()) {
    return fail(ErrorCode::kInvalidInput, "expected as many requests as the engine recorded", file);
  }
  Duration early;  // by how much the trace's clock is ahead of the engine's
  for (const EngineRequest& request : requests) {
    early = std::max(early, request.sent - request.queued);
  }
  for (EngineRequest& request : requests) request.sent = request.sent - early;
  return {};
}

// Makes the first request's sending the start of time.
void start_at_first(EngineRun& run) {
  const Duration ahead = Instant() - run.requests.front().sent;
  for (EngineRequest& request : run.requests) {
    for (Instant* at : {&request.sent, &request.queued, &request.scheduled, &request.first_token,
                        &request.last_token}) {
      *at = *at + ahead;
    }
  }
  for (EngineTick& tick : run.ticks) tick.at = tick.at + ahead;
}

Result<void> read_ticks(std::vector<EngineTick>& ticks) {
  return read_table(data_file("traces/llmservingsim_bench_RTX4090_Llama-3.1-8B_timeseries.csv.gz"),
                    kTickColumns, [&](const CsvRows& rows) -> Result<void> {
                      std::array<double, kTickColumns.size()> values{};
                      for (CsvIndex column = 0; column < values.size(); ++column) {
                        const auto value = parse_finite(rows.cell(column));
                        if (!value) return rows.wrong(column, "a number");
                        values[column] = *value;
                      }
                      ticks.push_back({.at = Instant() + Duration::from_seconds(values[0]),
                                       .prompt_tokens_per_s = values[1],
                                       .output_tokens_per_s = values[2],
                                       .running = static_cast<std::int64_t>(values[3]),
                                       .waiting = static_cast<std::int64_t>(values[4]),
                                       .kv_used_fraction = values[5] / 100});
                      return {};
                    });
}

Result<EngineSettings> read_settings() {
  const std::string file = data_file("measured/lss_bench_RTX4090_Llama-3.1-8B_meta.json");
  const Result<std::string> text = read_file(file, 1 << 24);
  if (!text) return std::unexpected(text.error());
  try {
    const auto meta = nlohmann::json::parse(*text);
    const auto& kv_cache = meta.at("kv_cache");
    const auto& resolved = meta.at("resolved_config");
    const auto& scheduler = resolved.at("scheduler_config");
    return EngineSettings{
        .kv_blocks = kv_cache.at("num_gpu_blocks"),
        .block_tokens = kv_cache.at("block_size"),
        .max_num_seqs = scheduler.at("max_num_seqs"),
        .max_num_batched_tokens = scheduler.at("max_num_batched_tokens"),
        .max_model_len = resolved.at("model_config").at("max_model_len"),
        .long_prefill_token_threshold = scheduler.at("long_prefill_token_threshold"),
        .prefix_caching = kv_cache.at("enable_prefix_caching"),
    };
  } catch (const nlohmann::json::exception& error) {
    return fail(ErrorCode::kInvalidInput, error.what(), file);
  }
}

}  // namespace

Result<EngineRun> read_engine_run() {
  EngineRun run;
  Result<EngineSettings> settings = read_settings();
  if (!settings) return std::unexpected(settings.error());
  run.settings = *settings;
  Result<void> read = read_requests(run.requests);
  if (read) read = read_sent(run.requests);
  if (read) read = read_ticks(run.ticks);
  if (!read) return std::unexpected(read.error());
  start_at_first(run);
  return run;
}

}  // namespace inferscale
