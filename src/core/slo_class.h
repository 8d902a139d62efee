// Classes of service: which targets a request is judged by, and how urgent it is.
//
// A class states its whole SLO; one without targets asks for no more than an answer, so a request
// of it meets its SLO when it finishes. In a run with classes every request has one, and nothing is
// judged by a target that all share; in a run without, all requests are judged alike.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/slo.h"

namespace inferscale {

struct SloClass {
  std::string name;
  Slo slo;
  std::int32_t priority = 0;  // of its requests, where the workload gives them none
  double share = 0;           // of the requests that draw their class
};

inline constexpr std::size_t kMostSloClasses = 255;  // Request::slo_class is a byte

// The classes of a run, and the one of each request as an index into them. Owned by the run.
struct RequestClasses {
  std::span<const SloClass> classes;  // empty: there are none
  std::span<const std::uint8_t> of;   // by request; as many as there are requests, or none

  bool exist() const { return !classes.empty(); }
  // What `request` is judged by; `common` where there are no classes.
  const Slo& slo(std::size_t request, const Slo& common) const {
    return classes.empty() ? common : classes[of[request]].slo;
  }
  // Of the requests from `first` on, which are then numbered from 0.
  RequestClasses from(std::size_t first) const {
    return {.classes = classes, .of = of.empty() ? of : of.subspan(first)};
  }
  bool any(const Slo& common) const { return judges(common, &Slo::any); }
  bool any_ttft(const Slo& common) const {
    return judges(common, [](const Slo& slo) { return slo.ttft.has_value(); });
  }
  bool any_itl(const Slo& common) const {
    return judges(common, [](const Slo& slo) { return slo.itl.has_value(); });
  }
  bool any_e2e(const Slo& common) const {
    return judges(common, [](const Slo& slo) { return slo.e2e.has_value(); });
  }

 private:
  template <typename Has>
  bool judges(const Slo& common, Has has) const {
    if (classes.empty()) return std::invoke(has, common);
    return std::any_of(classes.begin(), classes.end(),
                       [&](const SloClass& each) { return std::invoke(has, each.slo); });
  }
};

}  // namespace inferscale
