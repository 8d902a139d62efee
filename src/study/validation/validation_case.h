// A measured case as the study sees it: what was measured, and the configuration that stands for
// the measured system, or why there is none.
//
// The format of the files is in docs/formats/validation_cases.md.

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/config_node.h"
#include "study/metric.h"
#include "study/validation/load_regime.h"

namespace inferscale {

struct MeasuredFigure {
  Metric metric;
  double value = 0;
};

// A figure of the case that is compared with nothing.
struct UnscoredFigure {
  std::string figure;  // as the case names it: "ttft_ms.stat_unspecified"
  std::string reason;
};

// `reason` is one of few, so that cases can be counted by it; `detail` is the case's own.
struct NotSimulated {
  std::string reason;
  std::string detail;
};

// How the spread of prompt and answer lengths is known.
enum class LengthKnowledge : std::uint8_t {
  kGiven,    // the case says it
  kFixed,    // of one length, by the kind of the workload
  kAssumed,  // only means are known
};

std::string_view length_knowledge_name(LengthKnowledge knowledge);

struct ValidationCase {
  std::string id;
  std::string source;  // where the figures come from, for people; may be empty
  SourcePosition at;
  std::vector<MeasuredFigure> measured;  // what is compared, each metric once
  std::vector<UnscoredFigure> unscored;

  std::optional<NotSimulated> not_simulated;
  // All of these are for cases that are simulated.
  bool described = false;  // in its publisher's words, not as a configuration of ours
  ConfigNode config;
  std::string config_file;  // where it was read from, relative to the case file; empty: inline
  LengthKnowledge lengths = LengthKnowledge::kGiven;
  std::vector<std::string> assumptions;
  LoadEvidence load;  // what is known of it without a run
};

}  // namespace inferscale
