// What a generated session is made of, before the limit of its context.
//
// Each consumer has a stream of its own: "session_turns", "session_first_prompts",
// "session_appended", "session_outputs", "session_gap_kinds", "session_tool_gaps",
// "session_person_gaps"; for what is spawned "session_spawns", "spawned_chains", "spawned_turns",
// "spawned_first_prompts", "spawned_appended", "spawned_outputs", "spawned_gaps".

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/random.h"
#include "core/request.h"
#include "workload/programs/session_options.h"

namespace inferscale {

struct DrawnTurn {
  TokenCount fresh = 0;  // first prompt, or appended
  TokenCount answer = 0;
  Duration gap;
  bool waits_for_person = false;
};

struct DrawnChain {
  std::uint32_t spawned_by = 0;  // turn of the main chain
  std::vector<DrawnTurn> turns;
};

// What sessions are made of, before any limit.
class SessionDraws {
 public:
  SessionDraws(const GeneratedSessions& options, std::uint64_t run_seed);
  void draw(std::vector<DrawnTurn>& main, std::vector<DrawnChain>& spawned);

 private:
  struct SpawnDraws {
    SpawnDraws(const SpawnOptions& options, const GeneratedSessions& sessions,
               std::uint64_t run_seed);
    void draw(std::uint32_t turn, std::vector<DrawnChain>& spawned);

    double probability;
    RandomStream whether;
    LengthSampler chains;
    LengthSampler turns;
    LengthSampler first_prompts;
    LengthSampler appended;
    LengthSampler outputs;
    DelaySampler gaps;
  };

  double person_share_;
  LengthSampler turns_;
  LengthSampler first_prompts_;
  LengthSampler appended_;
  LengthSampler outputs_;
  RandomStream gap_kinds_;
  DelaySampler tool_gaps_;
  DelaySampler person_gaps_;
  std::optional<SpawnDraws> spawns_;
};

}  // namespace inferscale
