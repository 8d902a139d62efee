// The figures of a run's classes of service, each by its own targets.

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/outcome.h"
#include "core/slo_class.h"

namespace inferscale {

// Of the requests that count (run_summary.h), but for those named otherwise.
struct ClassFigures {
  std::string name;
  Slo slo;
  std::int32_t priority = 0;
  bool judged = false;       // some class of the run has a target
  std::int64_t arrived = 0;  // of all, those of the warm-up too
  std::int64_t counted = 0;
  std::int64_t finished = 0;
  std::int64_t refused = 0;
  std::int64_t deferred = 0;  // told to come again, and did not
  std::int64_t abandoned = 0;
  std::int64_t met = 0;               // finished within every target of the class
  std::optional<double> ttft_p95_ms;  // of finished ones, nearest rank

  std::int64_t admitted() const { return counted - refused - deferred; }
  // None where nothing is judged, or of nobody.
  std::optional<double> goodput() const { return share_of(counted); }
  std::optional<double> attainment_admitted() const { return share_of(admitted()); }

 private:
  std::optional<double> share_of(std::int64_t whole) const {
    if (whole == 0 || !judged) return std::nullopt;
    return static_cast<double>(met) / static_cast<double>(whole);
  }
};

// In the order of the classes; none without them. Requests before `first_counted` are of the
// warm-up. Memory: eight bytes for each finished request.
std::vector<ClassFigures> summarize_classes(std::span<const Outcome> outcomes,
                                            const RequestClasses& classes,
                                            std::size_t first_counted);

}  // namespace inferscale
