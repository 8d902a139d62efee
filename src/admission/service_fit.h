// The service estimate, learned from what is served (core/service_model.h).
//
// Each answer with a first token gives a point: its mean gap between tokens against the mean number
// n of sequences that decoded on a replica meanwhile, and the prompt tokens p that were computed
// there in each step.
//
//   gap = gamma + beta n + alpha p
//
// beta is the slope on n and gamma the intercept, never the whole gap; what prompts added to the
// steps is taken out. alpha is the slope of unloaded prefills on their tokens, net of gamma for
// each chunk: prefills of requests that were alone in the pool from dispatch to first token. Since
// each takes the other's coefficient, both are solved for together:
//
//   alpha = a - gamma c    gamma = g - alpha h    beta = b - alpha k
//
// with (g, b) the line of the gap on n, (h, k) that of p on n, a and c the slopes of an unloaded
// prefill's time and of its chunks on its tokens. Where prompts are all alike there is no slope:
// then the proportion.
//
// Throughput never enters: at low load it is only the load. Nothing is said before there are enough
// points of both kinds and enough difference in n; until then the estimate is the one that it began
// with. Of several replicas n and p are the means. Constant memory: an answer that began before the
// last kMarks events is left out.

#pragma once

#include <cstdint>
#include <deque>

#include "admission/policy.h"
#include "base/straight_line.h"
#include "core/service_model.h"

namespace inferscale {

struct ServiceFitOptions {
  // Sizes, and what is said until there is a fit. REQUIRES: replicas and chunk_tokens >= 1.
  ServiceModel start;
  double answers_remembered = 2000;  // older ones count less and less
  std::int64_t least_answers = 50;
  std::int64_t least_prefills = 10;  // unloaded ones
  double least_deviation = 1;        // of n: below it there is no slope to speak of
};

class ServiceFit {
 public:
  static constexpr std::size_t kMarks = 16'384;

  explicit ServiceFit(const ServiceFitOptions& options);

  // What becomes of admitted attempts. REQUIRES: instants never go back.
  void on_dispatched(Instant now);
  void on_first_token(const RequestView& request, Instant now);
  void on_outcome(const RequestView& request, const AttemptEnd& end);

  bool is_fitted() const;
  // The fit, with the smaller R^2 of its two lines as confidence; or the start.
  ServiceModel model() const;

 private:
  // Sums up to an instant, from which on `decoding` sequences decode.
  struct Mark {
    Instant at;
    double decoding = 0;
    double decoding_ns = 0;  // integral
    double prompt_tokens = 0;
    double dispatched = 0;
  };

  Mark& mark(Instant now);
  // Sums at an instant, just before or just after what happened then. REQUIRES: knows(at).
  Mark before(Instant at) const;
  Mark after(Instant at) const;
  bool knows(Instant at) const { return !marks_.empty() && marks_.front().at <= at; }
  void learn_gap(const AttemptEnd& end);
  void learn_prefill(const RequestView& request, const AttemptEnd& end);

  ServiceFitOptions options_;
  std::deque<Mark> marks_;
  std::int64_t answers_ = 0;
  std::int64_t prefills_ = 0;
  StraightLine gap_;     // on n
  StraightLine prompt_;  // p on n
  StraightLine prefill_;
  StraightLine chunks_;
};

}  // namespace inferscale
