// For tests of replays: runs with a door as people write them, and their decisions in memory.

#pragma once

#include <string>
#include <vector>

#include "study/replay/closed_replay.h"
#include "study/replay/open_replay.h"
#include "study/study_test_support.h"

namespace inferscale {

class KeptDecisions final : public DecisionSink {
 public:
  void on_decision(const DecisionRecord& record) override { records.push_back(record); }
  std::vector<DecisionRecord> records;
};

struct RecordedForTest {
  PreparedRun run;
  SimulatedRun simulated;
  std::vector<DecisionRecord> decisions;
};

inline PreparedRun prepared_for_test(const std::string& yaml) {
  const Result<ConfigNode> tree = parse_yaml(yaml, "test.yaml");
  CHECK(tree.has_value()) << tree.error().to_string();
  Result<PreparedRun> run = prepare_run(*tree, test_inputs(), {}, "test.yaml");
  CHECK(run.has_value()) << run.error().to_string();
  return std::move(*run);
}

inline RecordedForTest record_for_test(const std::string& yaml) {
  RecordedForTest recorded{.run = prepared_for_test(yaml), .simulated = {}, .decisions = {}};
  KeptDecisions kept;
  recorded.simulated = simulate_run(recorded.run, {}, {.tallies = true, .log = &kept}, {});
  recorded.decisions = std::move(kept.records);
  return recorded;
}

// Decides `recorded` anew with the policy of `run`, which has a door.
inline Result<OpenReplayFigures> replay_for_test(const RecordedForTest& recorded,
                                                 const PreparedRun& run) {
  Result<OpenReplay> replay =
      OpenReplay::create(run.deployment.fleet.door->gate, replicas_behind_gate(recorded.run));
  if (!replay) return std::unexpected(replay.error());
  for (const DecisionRecord& record : recorded.decisions) replay->on_decision(record);
  return replay->finish();
}

}  // namespace inferscale
