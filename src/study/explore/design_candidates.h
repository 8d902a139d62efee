// The candidates of a design study: a list by name, a grid over any keys, or a sample of one; and
// without either the bounded grid of bounded_grid.h.

#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "study/prepared_run.h"
#include "study/run_request.h"

namespace inferscale {

constexpr std::size_t kMostCandidates = 20'000;

// One configuration: what differs from the one that the study was given.
struct Candidate {
  std::string name;
  bool named = false;  // by people or by the bounded grid; else made of its settings
  std::vector<Setting> settings;
};

struct CandidateList {
  std::vector<Candidate> candidates;  // in the order: as configured, by name, of the grid
  std::vector<std::string> keys;      // that any of them sets, in the order of their first one
  bool bounded_grid = false;
  std::vector<std::string> notes;  // what a reader must know, in sentences
};

// Samples are drawn by the run's seed, each axis from a stream of its own: the same seed and axes
// give the same candidates. Errors (kInvalidConfig): too many, or none.
Result<CandidateList> design_candidates(const PreparedRun& base);

// "max_num_seqs" for "deployment.engine.max_num_seqs": as little of the end of each key as tells
// them apart.
std::vector<std::string> short_keys(const std::vector<std::string>& keys);

}  // namespace inferscale
