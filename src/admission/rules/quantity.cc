#include "admission/rules/quantity.h"

#include <array>

#include "base/number_text.h"

namespace inferscale {
namespace {

struct FieldRow {
  RequestField field;
  std::string_view name;
  std::string_view unit;
  std::string_view meaning;
};

constexpr std::array<FieldRow, kRequestFieldCount> kFields = {{
    {RequestField::kPromptTokens, "prompt_tokens", "tokens", "its prompt"},
    {RequestField::kTokens, "tokens", "tokens", "its prompt and predicted output"},
    {RequestField::kTokensToCompute, "tokens_to_compute", "tokens",
     "its prompt without the tokens that are probably in a prefix cache"},
    {RequestField::kMaxTokens, "max_tokens", "tokens", "the output that it asks for at most"},
    {RequestField::kPredictedOutputTokens, "predicted_output_tokens", "tokens",
     "the output that is predicted"},
    {RequestField::kReusableTokens, "reusable_tokens", "tokens",
     "of its prompt, those that are probably in a prefix cache"},
    {RequestField::kReusableFraction, "reusable_fraction", "fraction",
     "the same as a part of its prompt"},
    {RequestField::kSequences, "sequences", "answers", "answers that it asks for"},
    {RequestField::kAttempt, "attempt", "attempts", "attempts before this one"},
    {RequestField::kPriority, "priority", "priority", "its priority; higher is better"},
    {RequestField::kSloClass, "slo_class", "index", "the index of its SLO class"},
    {RequestField::kHeldS, "held_s", "s", "what it has spent at the door so far"},
    {RequestField::kDeadlineLeftS, "deadline_left_s", "s",
     "time until its first token is due; below zero when that has passed"},
    {RequestField::kPredictedFirstTokenS, "predicted_first_token_s", "s",
     "queue_age_s, where somebody waits, plus its unloaded prefill by the service model"},
}};

constexpr bool rows_are_in_order() {
  for (std::size_t i = 0; i < kRequestFieldCount; ++i) {
    if (static_cast<std::size_t>(kFields[i].field) != i) return false;
  }
  return true;
}
static_assert(rows_are_in_order());

const FieldRow& row_of(RequestField field) {
  return kFields[static_cast<std::size_t>(field)];
}

// The value where the view says 0 for "not known".
std::optional<double> above_zero(TokenCount tokens) {
  return tokens > 0 ? std::optional(static_cast<double>(tokens)) : std::nullopt;
}

// No waiting request means no wait that is known of: the prefill alone is a lower bound then.
std::optional<double> predicted_first_token_s(const RequestView& request, const PoolView& pool) {
  const ServiceModel& service = pool.service();
  if (!service.is_known()) return std::nullopt;
  const Reading age = pool.read(Signal::kQueueAgeS);
  return (age.is_known() ? age.value : 0.0) +
         service.prefill_ns(request.tokens_to_compute()) * 1e-9;
}

std::optional<double> field_value(RequestField field, const RequestView& request,
                                  const PoolView& pool) {
  const bool predicted = request.predictor != OutputPredictor::kNone;
  switch (field) {
    case RequestField::kPromptTokens:
      return static_cast<double>(request.prompt_tokens);
    case RequestField::kTokens:
      return predicted ? std::optional(static_cast<double>(request.tokens())) : std::nullopt;
    case RequestField::kTokensToCompute:
      return static_cast<double>(request.tokens_to_compute());
    case RequestField::kMaxTokens:
      return above_zero(request.max_tokens);
    case RequestField::kPredictedOutputTokens:
      return predicted ? above_zero(request.predicted_output_tokens) : std::nullopt;
    case RequestField::kReusableTokens:
      return above_zero(request.reusable_tokens);
    case RequestField::kReusableFraction:
      if (request.reusable_tokens <= 0 || request.prompt_tokens <= 0) return std::nullopt;
      return static_cast<double>(request.reusable_tokens) /
             static_cast<double>(request.prompt_tokens);
    case RequestField::kSequences:
      return static_cast<double>(request.sequences);
    case RequestField::kAttempt:
      return static_cast<double>(request.attempt);
    case RequestField::kPriority:
      return static_cast<double>(request.priority);
    case RequestField::kSloClass:
      return static_cast<double>(request.slo_class);
    case RequestField::kHeldS:
      return request.held.seconds();
    case RequestField::kDeadlineLeftS:
      if (!request.has_deadline()) return std::nullopt;
      return (request.ttft_deadline - pool.now()).seconds();
    case RequestField::kPredictedFirstTokenS:
      return predicted_first_token_s(request, pool);
  }
  return std::nullopt;
}

bool is_of_tenant(Signal signal) {
  return signal == Signal::kTenantInFlight || signal == Signal::kTenantTokenShare;
}

std::optional<double> signal_value(Signal signal, const RequestView& request,
                                   const PoolView& pool) {
  if (is_of_tenant(signal) && request.tenant == kNoCaller) return std::nullopt;
  if (signal == Signal::kSessionInFlight && request.session == kNoCaller) return std::nullopt;
  const Reading reading = pool.read(signal);
  return reading.is_known() ? std::optional(reading.value) : std::nullopt;
}

}  // namespace

std::string_view field_name(RequestField field) {
  return row_of(field).name;
}
std::string_view field_unit(RequestField field) {
  return row_of(field).unit;
}
std::string_view field_meaning(RequestField field) {
  return row_of(field).meaning;
}

std::optional<RequestField> field_of(std::string_view name) {
  for (const FieldRow& row : kFields) {
    if (row.name == name) return row.field;
  }
  return std::nullopt;
}

std::optional<Quantity> quantity_of(std::string_view name) {
  if (const std::optional<Signal> signal = signal_of(name)) return *signal;
  if (const std::optional<RequestField> field = field_of(name)) return *field;
  return std::nullopt;
}

std::string_view unit_of(const Quantity& quantity) {
  if (const Signal* signal = std::get_if<Signal>(&quantity)) return spec_of(*signal).unit;
  if (const RequestField* field = std::get_if<RequestField>(&quantity)) return field_unit(*field);
  return {};
}

std::string text_of(const Quantity& quantity) {
  if (const Signal* signal = std::get_if<Signal>(&quantity)) {
    return std::string(spec_of(*signal).name);
  }
  if (const RequestField* field = std::get_if<RequestField>(&quantity)) {
    return std::string(field_name(*field));
  }
  return number_text(std::get<double>(quantity));
}

void add_needs(const Quantity& quantity, PolicyNeeds& needs) {
  if (const Signal* signal = std::get_if<Signal>(&quantity)) {
    needs.signals.add(*signal);
    needs.request.tenant |= is_of_tenant(*signal);
    needs.request.session |= *signal == Signal::kSessionInFlight;
    return;
  }
  const RequestField* field = std::get_if<RequestField>(&quantity);
  if (field == nullptr) return;
  needs.request.deadline |= *field == RequestField::kDeadlineLeftS;
  needs.request.predicted_output |=
      *field == RequestField::kTokens || *field == RequestField::kPredictedOutputTokens;
  if (*field == RequestField::kPredictedFirstTokenS) {
    needs.signals.add(Signal::kQueueAgeS);
    needs.service_model = true;
  }
}

std::optional<double> value_of(const Quantity& quantity, const RequestView& request,
                               const PoolView& pool) {
  if (const Signal* signal = std::get_if<Signal>(&quantity)) {
    return signal_value(*signal, request, pool);
  }
  if (const RequestField* field = std::get_if<RequestField>(&quantity)) {
    return field_value(*field, request, pool);
  }
  return std::get<double>(quantity);
}

}  // namespace inferscale
