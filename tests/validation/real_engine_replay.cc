#include "validation/real_engine_replay.h"

#include <algorithm>

#include "base/check.h"
#include "property/list_source.h"
#include "sim/simulator.h"

namespace inferscale {
namespace {

SimulatorOptions options_of(const EngineSettings& settings, const ReplayOptions& options) {
  SimulatorOptions simulator;
  ReplicaOptions& replica = simulator.replica;
  replica.scheduler = options.scheduler;
  replica.max_num_seqs = settings.max_num_seqs;
  replica.max_num_batched_tokens = settings.max_num_batched_tokens;
  replica.long_prefill_token_threshold = settings.long_prefill_token_threshold;
  replica.max_model_len = settings.max_model_len;
  replica.layout.block_tokens = settings.block_tokens;
  replica.kv_blocks = settings.kv_blocks - 1;  // the engine never uses one: its null block
  replica.prefix_caching = settings.prefix_caching && options.own_blocks;
  // Often enough for a sample at each of the engine's ticks, which are not on our whole seconds.
  simulator.signals_interval = Duration::from_millis(10);
  simulator.verify = true;
  return simulator;
}

std::vector<Request> requests_of(const EngineRun& run, std::vector<ContentPiece>& pieces) {
  std::vector<Request> requests;
  pieces.reserve(2 * run.requests.size());  // the requests point into it
  for (const EngineRequest& sent : run.requests) {
    const auto id = static_cast<RequestId>(requests.size());
    const ContentPiece* content = pieces.data() + pieces.size();
    pieces.push_back({.key = 2 * std::uint64_t{id}, .tokens = sent.prompt_tokens});
    pieces.push_back({.key = 2 * std::uint64_t{id} + 1, .tokens = sent.output_tokens});
    requests.push_back({.id = id,
                        .prompt_tokens = sent.prompt_tokens,
                        .output_tokens = sent.output_tokens,
                        .max_tokens = sent.output_tokens,
                        .arrival = sent.sent,
                        .content = content,
                        .content_pieces = 1,
                        .output_is_content = true});
  }
  return requests;
}

void take_series(const EngineRun& run, const std::vector<SignalSample>& samples, Replay& replay) {
  for (const EngineTick& tick : run.ticks) {
    const auto after = std::ranges::lower_bound(samples, tick.at, {}, &SignalSample::at);
    const bool ended = after == samples.end();  // everything had finished
    replay.running.push_back(ended ? 0 : static_cast<double>(after->running));
    replay.waiting.push_back(ended ? 0 : static_cast<double>(after->queue_depth));
    replay.engine_running.push_back(static_cast<double>(tick.running));
    replay.engine_waiting.push_back(static_cast<double>(tick.waiting));
  }
}

}  // namespace

Replay replay(const EngineRun& run, const LatencyModel& latency, const ReplayOptions& options) {
  std::vector<ContentPiece> pieces;
  ListSource source(requests_of(run, pieces));
  const SimulationResult result = simulate(options_of(run.settings, options), latency, source, {});
  Replay replay{.usage = result.usage, .violations = result.violations};
  CHECK(result.outcomes.size() == run.requests.size()) << "requests are missing";
  for (std::size_t i = 0; i < run.requests.size(); ++i) {
    const Outcome& ours = result.outcomes[i];
    const EngineRequest& engine = run.requests[i];
    CHECK(ours.finished()) << "request " << i << " did not finish";
    replay.start_s.push_back(ours.start.seconds());
    replay.first_token_s.push_back(ours.first_token.seconds());
    replay.finish_s.push_back(ours.finish.seconds());
    replay.wait_s.push_back(ours.queue_time().seconds());
    replay.engine_start_s.push_back(engine.scheduled.seconds());
    replay.engine_first_token_s.push_back(engine.first_token.seconds());
    replay.engine_finish_s.push_back(engine.last_token.seconds());
    replay.engine_wait_s.push_back((engine.scheduled - engine.sent).seconds());
  }
  take_series(run, result.signals, replay);
  return replay;
}

}  // namespace inferscale
