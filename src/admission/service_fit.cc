#include "admission/service_fit.h"

#include <algorithm>

#include "base/check.h"

namespace inferscale {
namespace {

// Prompts that differ by less than a tenth of their mean are taken to be alike.
constexpr double kAlike = 0.1;

double slope_or_proportion(const StraightLine& line) {
  const double alike = kAlike * line.mean_x();
  return line.variance_x() > alike * alike ? line.slope() : line.slope_through_origin();
}

}  // namespace

ServiceFit::ServiceFit(const ServiceFitOptions& options)
    : options_(options),
      gap_(1 - 1 / options.answers_remembered),
      prompt_(1 - 1 / options.answers_remembered),
      prefill_(1 - 1 / options.answers_remembered),
      chunks_(1 - 1 / options.answers_remembered) {
  CHECK(options.start.replicas >= 1 && options.start.chunk_tokens >= 1);
  CHECK(options.answers_remembered > 1) << options.answers_remembered;
}

ServiceFit::Mark& ServiceFit::mark(Instant now) {
  if (marks_.empty()) return marks_.emplace_back(Mark{.at = now});
  if (marks_.back().at < now) {
    Mark next = marks_.back();
    next.decoding_ns += next.decoding * static_cast<double>((now - next.at).ns());
    next.at = now;
    marks_.push_back(next);
    if (marks_.size() > kMarks) marks_.pop_front();
  }
  return marks_.back();
}

ServiceFit::Mark ServiceFit::before(Instant at) const {
  auto next = std::ranges::lower_bound(marks_, at, {}, &Mark::at);
  if (next == marks_.begin()) return *next;
  Mark sums = *--next;
  sums.decoding_ns += sums.decoding * static_cast<double>((at - sums.at).ns());
  return sums;
}

ServiceFit::Mark ServiceFit::after(Instant at) const {
  auto next = std::ranges::upper_bound(marks_, at, {}, &Mark::at);
  Mark sums = *--next;
  sums.decoding_ns += sums.decoding * static_cast<double>((at - sums.at).ns());
  return sums;
}

void ServiceFit::on_dispatched(Instant now) {
  mark(now).dispatched += 1;
}

void ServiceFit::on_first_token(const RequestView& request, Instant now) {
  Mark& sums = mark(now);
  sums.decoding += 1;
  sums.prompt_tokens += static_cast<double>(request.tokens_to_compute());
}

void ServiceFit::on_outcome(const RequestView& request, const AttemptEnd& end) {
  if (end.first_token == Instant::never()) return;
  mark(end.now).decoding -= 1;
  if (end.end != PermitEnd::kFinished) return;
  learn_gap(end);
  learn_prefill(request, end);
}

void ServiceFit::learn_gap(const AttemptEnd& end) {
  const double span_ns = static_cast<double>((end.now - end.first_token).ns());
  if (end.output_tokens < 2 || !(span_ns > 0) || !knows(end.first_token)) return;
  const double steps = static_cast<double>(end.output_tokens - 1);
  const double replicas = static_cast<double>(options_.start.replicas);
  const Mark from = after(end.first_token);
  const Mark to = before(end.now);
  const double decoding = (to.decoding_ns - from.decoding_ns) / (span_ns * replicas);
  gap_.add(decoding, span_ns / steps);
  prompt_.add(decoding, (to.prompt_tokens - from.prompt_tokens) / (steps * replicas));
  ++answers_;
}

void ServiceFit::learn_prefill(const RequestView& request, const AttemptEnd& end) {
  const TokenCount tokens = request.tokens_to_compute();
  if (end.in_flight_at_admission != 1 || end.dispatched_at == Instant::never()) return;
  if (tokens < 1 || !knows(end.dispatched_at)) return;
  if (after(end.first_token).dispatched > after(end.dispatched_at).dispatched) return;
  const TokenCount chunk = options_.start.chunk_tokens;
  const double x = static_cast<double>(tokens);
  prefill_.add(x, static_cast<double>((end.first_token - end.dispatched_at).ns()));
  const TokenCount chunks = (tokens + chunk - 1) / chunk;
  chunks_.add(x, static_cast<double>(chunks));
  ++prefills_;
}

bool ServiceFit::is_fitted() const {
  return answers_ >= options_.least_answers && prefills_ >= options_.least_prefills &&
         gap_.variance_x() >= options_.least_deviation * options_.least_deviation;
}

ServiceModel ServiceFit::model() const {
  ServiceModel model = options_.start;
  if (!is_fitted()) return model;
  const double a = slope_or_proportion(prefill_);
  const double c = slope_or_proportion(chunks_);
  const double g = gap_.intercept();
  const double h = prompt_.intercept();
  const double alpha = std::max(0.0, (a - c * g) / (1 - c * h));
  model.prefill_ns_per_token = alpha;
  model.step_ns = std::max(0.0, g - alpha * h);
  model.decode_ns_per_sequence = std::max(0.0, gap_.slope() - alpha * prompt_.slope());
  model.provenance = ServiceProvenance::kFitted;
  model.confidence = gap_.r_squared();
  if (prefill_.has_slope()) model.confidence = std::min(model.confidence, prefill_.r_squared());
  return model;
}

}  // namespace inferscale
