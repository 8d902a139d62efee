// Candidates that are not asked for the same, or not judged by the same: what a reader must know
// before one of them is called the best.
//
// Designs are compared by the same requests, the same targets and the same part of the run. A study
// may vary these too; then its figures draw a map, and the best of them need not be a design.

#pragma once

#include <string>
#include <vector>

#include "study/explore/design_candidates.h"

namespace inferscale {

struct UnlikeSection {
  std::string name;  // "workload", "slo" or "measurement"
  std::string note;  // a sentence
};

// Of the sections in which candidates differ, in that order. `as_configured` has what the
// configuration says for each of `list`'s keys, as JSON: a candidate without a key has that.
std::vector<UnlikeSection> unlike_sections(const CandidateList& list,
                                           const std::vector<std::string>& as_configured);

}  // namespace inferscale
