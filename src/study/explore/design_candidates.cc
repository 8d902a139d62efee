#include "study/explore/design_candidates.h"

#include <algorithm>
#include <set>

#include "base/config_json.h"
#include "base/number_text.h"
#include "base/random.h"
#include "study/explore/bounded_grid.h"

namespace inferscale {
namespace {

// A place in the grid: of each axis the number of its value, or of a range the value drawn.
using Place = std::vector<double>;

// Combinations of the axes' values; more than can be enumerated count as that many.
std::uint64_t combinations(const std::vector<DesignAxis>& grid) {
  constexpr std::uint64_t kBeyond = std::uint64_t{1} << 62;
  std::uint64_t count = 1;
  for (const DesignAxis& axis : grid) {
    if (axis.values.empty()) return kBeyond;
    if (count > kBeyond / axis.values.size()) return kBeyond;
    count *= axis.values.size();
  }
  return count;
}

// All of it, the last axis fastest.
std::vector<Place> all_places(const std::vector<DesignAxis>& grid) {
  std::vector<Place> places = {Place()};
  for (const DesignAxis& axis : grid) {
    std::vector<Place> longer;
    for (const Place& place : places) {
      for (std::size_t i = 0; i < axis.values.size(); ++i) {
        longer.push_back(place);
        longer.back().push_back(static_cast<double>(i));
      }
    }
    places = std::move(longer);
  }
  return places;
}

// Different ones, in the grid's order. Uniform draws of which repetitions are thrown away are
// uniform draws without replacement. Fewer than asked for when ranges of whole numbers have no
// more.
std::vector<Place> drawn_places(const std::vector<DesignAxis>& grid, std::uint64_t seed,
                                std::int64_t samples) {
  std::vector<RandomStream> streams;
  streams.reserve(grid.size());
  for (const DesignAxis& axis : grid) streams.emplace_back(seed, "explore " + axis.key);
  std::set<Place> places;
  const std::int64_t most = 100 * samples + 1000;
  for (std::int64_t i = 0; i < most && std::ssize(places) < samples; ++i) {
    Place place;
    for (std::size_t k = 0; k < grid.size(); ++k) {
      const DesignAxis& axis = grid[k];
      place.push_back(axis.values.empty()
                          ? value_in(*axis.range, streams[k].uniform())
                          : static_cast<double>(streams[k].below(axis.values.size())));
    }
    places.insert(std::move(place));
  }
  return {places.begin(), places.end()};
}

// A scalar's text as it is, unless a terminal would obey a part of it.
std::string shown(const ConfigNode& value) {
  const std::string& text = value.text();
  const bool plain = std::none_of(text.begin(), text.end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
  });
  return value.kind() == ConfigNode::Kind::kScalar && plain ? text : to_json_text(value);
}

Candidate candidate_at(const std::vector<DesignAxis>& grid, const std::vector<std::string>& labels,
                       const Place& place) {
  Candidate candidate;
  for (std::size_t k = 0; k < grid.size(); ++k) {
    const DesignAxis& axis = grid[k];
    const ConfigNode value =
        axis.values.empty() ? ConfigNode::scalar(number_text(place[k]), false, axis.range->position)
                            : axis.values[static_cast<std::size_t>(place[k])];
    candidate.name += (k == 0 ? "" : " ") + labels[k] + "=" + shown(value);
    candidate.settings.push_back({axis.key, value});
  }
  return candidate;
}

std::string place_of_grid(const PreparedRun& base) {
  const ConfigNode* node = &base.effective;
  for (const char* key : {"study", "explore", "grid"}) {
    node = node == nullptr ? nullptr : node->find(key);
  }
  return node == nullptr ? std::string() : node->position().to_string();
}

Result<void> add_grid(const PreparedRun& base, CandidateList& list) {
  const ExploreOptions& options = base.study.explore;
  const std::uint64_t size = combinations(options.grid);
  const bool sampled = options.samples > 0 && size > static_cast<std::uint64_t>(options.samples);
  if (!sampled && size > kMostCandidates) {
    return fail(ErrorCode::kInvalidConfig,
                "study.explore.grid has " +
                    (size >> 62 == 0 ? std::to_string(size) : std::string("more than 2^62")) +
                    " combinations: expected at most " + std::to_string(kMostCandidates) +
                    ", or study.explore.samples",
                place_of_grid(base));
  }
  const std::vector<Place> places =
      sampled ? drawn_places(options.grid, base.config.seed, options.samples)
              : all_places(options.grid);
  std::vector<std::string> keys;
  keys.reserve(options.grid.size());
  for (const DesignAxis& axis : options.grid) keys.push_back(axis.key);
  const std::vector<std::string> labels = short_keys(keys);
  for (const Place& place : places) {
    list.candidates.push_back(candidate_at(options.grid, labels, place));
  }
  if (sampled && std::ssize(places) < options.samples) {
    list.notes.emplace_back(
        "The ranges have fewer different values than study.explore.samples asks "
        "for: " +
        std::to_string(places.size()) + " candidates were found.");
  }
  return {};
}

bool shares_prefixes(const PreparedRun& run) {
  const WorkloadOptions& workload = run.config.workload;
  if (workload.shared_prefix) return true;
  if (run.trace) return run.trace->content.any();
  return workload.sessions || workload.generated.prefixes || workload.generated.conversations;
}

void note_keys(CandidateList& list) {
  for (const Candidate& candidate : list.candidates) {
    for (const Setting& setting : candidate.settings) {
      if (std::find(list.keys.begin(), list.keys.end(), setting.key) == list.keys.end()) {
        list.keys.push_back(setting.key);
      }
    }
  }
}

// One price for accelerators of different kinds is most likely a mistake.
void note_prices(const PreparedRun& base, CandidateList& list) {
  const auto set = [&](const char* key) {
    return std::find(list.keys.begin(), list.keys.end(), key) != list.keys.end();
  };
  if (!base.config.deployment.price_per_accelerator_hour || !set("deployment.hardware") ||
      set("deployment.price_per_accelerator_hour")) {
    return;
  }
  list.notes.emplace_back(
      "Candidates differ in their hardware and have the same price: set "
      "deployment.price_per_accelerator_hour beside deployment.hardware in "
      "study.explore.candidates.");
}

}  // namespace

std::vector<std::string> short_keys(const std::vector<std::string>& keys) {
  const auto end_of = [](const std::string& key, std::size_t parts) {
    std::size_t at = key.size();
    for (std::size_t i = 0; i < parts && at != std::string::npos && at > 0; ++i) {
      at = key.rfind('.', at - 1);
    }
    return at == std::string::npos ? key : key.substr(at + 1);
  };
  std::vector<std::string> labels;
  for (const std::string& key : keys) {
    std::size_t parts = 1;
    const auto ambiguous = [&] {
      return std::count_if(keys.begin(), keys.end(), [&](const std::string& other) {
               return end_of(other, parts) == end_of(key, parts);
             }) > 1;
    };
    while (ambiguous() && end_of(key, parts) != key) ++parts;
    labels.push_back(end_of(key, parts));
  }
  return labels;
}

Result<CandidateList> design_candidates(const PreparedRun& base) {
  const ExploreOptions& options = base.study.explore;
  CandidateList list;
  if (options.as_configured) {
    list.candidates.push_back({.name = "as configured", .named = true, .settings = {}});
  }
  for (const NamedDesign& design : options.candidates) {
    list.candidates.push_back({.name = design.name, .named = true, .settings = design.settings});
  }
  if (!options.grid.empty()) {
    if (const Result<void> added = add_grid(base, list); !added) {
      return std::unexpected(added.error());
    }
  } else if (options.candidates.empty()) {
    Result<std::vector<Candidate>> grid = bounded_grid(base);
    if (!grid) return std::unexpected(grid.error());
    for (Candidate& candidate : *grid) list.candidates.push_back(std::move(candidate));
    list.bounded_grid = true;
    if (!shares_prefixes(base)) {
      list.notes.emplace_back(
          "No two prompts of this workload share anything, so a prefix cache "
          "has nothing to reuse: describe what they share in "
          "workload.shared_prefix, prefixes or conversations.");
    }
  }
  if (list.candidates.size() > kMostCandidates) {
    return fail(ErrorCode::kInvalidConfig,
                "study.explore has " + std::to_string(list.candidates.size()) +
                    " candidates: expected at most " + std::to_string(kMostCandidates));
  }
  note_keys(list);
  note_prices(base, list);
  return list;
}

}  // namespace inferscale
