#include "plugin/plugin_policy.h"

#include <array>
#include <expected>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "base/number_text.h"
#include "core/pool_view.h"

namespace inferscale {
namespace {

static_assert(INFERSCALE_NEVER == Instant::never().ns());

inferscale_request as_plugin_sees(const RequestView& request) {
  return {.size = sizeof(inferscale_request),
          .attempt = request.attempt,
          .request = request.request,
          .tenant = request.tenant,
          .session = request.session,
          .root_session = request.root_session,
          .sequences = request.sequences,
          .priority = request.priority,
          .prompt_tokens = request.prompt_tokens,
          .reusable_tokens = request.reusable_tokens,
          .max_tokens = request.max_tokens,
          .predicted_output_tokens = request.predicted_output_tokens,
          .arrival_ns = request.arrival.ns(),
          .ttft_deadline_ns = request.ttft_deadline.ns(),
          .itl_target_ns = request.itl_target.ns(),
          .held_ns = request.held.ns(),
          .body_bytes = request.body_bytes,
          .slo_class = request.slo_class,
          .streamed = request.streamed,
          .prompt_is_estimated = request.prompt_is_estimated,
          .identity_is_known = request.identity_is_known,
          .reserved = 0};
}

inferscale_service as_plugin_sees(const ServiceModel& service) {
  return {.size = sizeof(inferscale_service),
          .is_known = service.is_known() ? 1U : 0U,
          .step_ns = service.step_ns,
          .prefill_ns_per_token = service.prefill_ns_per_token,
          .decode_ns_per_sequence = service.decode_ns_per_sequence,
          .chunk_tokens = service.chunk_tokens,
          .kv_capacity_tokens = service.kv_capacity_tokens,
          .max_num_seqs = service.max_num_seqs};
}

// The pool as a plug-in sees it; lasts as long as one call.
class PluginPool {
 public:
  PluginPool(const PoolView& pool, std::span<const Signal> signals)
      : pool_(&pool), signals_(signals), service_(as_plugin_sees(pool.service())) {
    seen_ = {.size = sizeof(inferscale_pool),
             .replicas = pool.replicas(),
             .now_ns = pool.now().ns(),
             .service = &service_,
             .context = this,
             .read = read,
             .read_replica = read_replica};
  }
  PluginPool(const PluginPool&) = delete;
  PluginPool& operator=(const PluginPool&) = delete;
  const inferscale_pool* seen() const { return &seen_; }

 private:
  static const PluginPool& of(const inferscale_pool* pool) {
    return *static_cast<const PluginPool*>(pool->context);
  }
  static int give(const Reading& reading, double* value, std::int64_t* observed_at_ns) {
    if (!reading.is_known()) return 0;
    if (value != nullptr) *value = reading.value;
    if (observed_at_ns != nullptr) *observed_at_ns = reading.observed_at.ns();
    return 1;
  }
  static int read(const inferscale_pool* pool, std::uint32_t signal, double* value,
                  std::int64_t* observed_at_ns) {
    const PluginPool& self = of(pool);
    if (signal >= self.signals_.size()) return 0;
    return give(self.pool_->read(self.signals_[signal]), value, observed_at_ns);
  }
  static int read_replica(const inferscale_pool* pool, std::uint32_t signal, std::uint32_t replica,
                          double* value, std::int64_t* observed_at_ns) {
    const PluginPool& self = of(pool);
    if (signal >= self.signals_.size() || replica >= self.pool_->replicas()) return 0;
    const Signal which = self.signals_[signal];
    if (spec_of(which).over_replicas == SignalSum::kOfPool) return 0;
    return give(self.pool_->read_replica(which, replica), value, observed_at_ns);
  }

  const PoolView* pool_;
  std::span<const Signal> signals_;
  inferscale_service service_;
  inferscale_pool seen_{};
};

// A decision, or why there is none.
using Decided = std::expected<Decision, std::string>;

bool is_reason_of_policies(Reason reason) {
  return reason >= Reason::kQueueDepth && reason <= Reason::kRule;
}

Decided decision_of(const inferscale_decision& said) {
  Decision decision;
  decision.wakes_held = said.wakes_held != 0;
  if (said.verdict == INFERSCALE_ADMIT) return decision;
  if (said.verdict != INFERSCALE_DEFER && said.verdict != INFERSCALE_REJECT) {
    return std::unexpected("it gave a verdict that there is not: " + std::to_string(said.verdict));
  }
  decision.reason = Reason::kRule;
  if (said.reason != nullptr) {
    const std::optional<Reason> reason = reason_of(said.reason);
    if (!reason || !is_reason_of_policies(*reason)) {
      return std::unexpected("it gave a reason that policies do not have: '" +
                             std::string(said.reason) + "'");
    }
    decision.reason = *reason;
  }
  decision.verdict = Verdict::kReject;
  if (said.verdict == INFERSCALE_REJECT) return decision;
  decision.verdict = Verdict::kDefer;
  decision.may_hold = said.may_hold != 0;
  if (said.retry_after_ns < 0) {
    return std::unexpected("it asked for a wait of " + std::to_string(said.retry_after_ns) + " ns");
  }
  if (said.retry_after_ns != INFERSCALE_NEVER) {
    decision.retry_after = Duration::nanos(said.retry_after_ns);
  }
  return decision;
}

using Values = std::vector<std::string>;  // of the parameters, in the order of the declaration

struct Made {
  void* object = nullptr;
  std::string error;
};

Made make(const PluginTable& table, const Values& values, const PolicySetting& setting) {
  std::vector<inferscale_value> given;
  given.reserve(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    given.push_back({.key = table.policy.parameters[i].key, .value = values[i].c_str()});
  }
  const inferscale_setting passed = {.size = sizeof(inferscale_setting),
                                     .is_shadow = setting.is_shadow ? 1U : 0U,
                                     .seed = setting.seed,
                                     .values = given.data(),
                                     .value_count = given.size()};
  std::array<char, 256> error{};
  Made made;
  made.object = table.policy.create(&passed, error.data(), error.size());
  error.back() = '\0';
  if (made.object == nullptr) {
    made.error = error.front() != '\0' ? std::string(error.data()) : "create() made no policy";
  }
  return made;
}

class PluginPolicy final : public AdmissionPolicy {
 public:
  // `object` may be null: then every decision fails.
  PluginPolicy(const PluginTable& table, void* object) : table_(&table), object_(object) {}
  PluginPolicy(const PluginPolicy&) = delete;
  PluginPolicy& operator=(const PluginPolicy&) = delete;
  ~PluginPolicy() override {
    if (object_ != nullptr) functions().destroy(object_);
  }

  const PolicyNeeds& needs() const override { return table_->needs; }

  Decision decide(const RequestView& request, const PoolView& pool) override {
    if (object_ == nullptr) return failed("create() made no policy");
    const inferscale_request seen = as_plugin_sees(request);
    const PluginPool seen_pool(pool, table_->signals);
    inferscale_decision said = {.size = sizeof(inferscale_decision),
                                .verdict = INFERSCALE_ADMIT,
                                .reason = nullptr,
                                .retry_after_ns = INFERSCALE_NEVER,
                                .may_hold = 1,
                                .wakes_held = 0,
                                .reserved = {}};
    const int code = functions().decide(object_, &seen, seen_pool.seen(), &said);
    if (code != 0) return failed("decide() returned " + std::to_string(code));
    Decided decided = decision_of(said);
    return decided ? *decided : failed(std::move(decided.error()));
  }

  std::string failure() const override { return failure_; }

  void on_admit(const RequestView& request, Instant now) override {
    if (object_ == nullptr || functions().on_admit == nullptr) return;
    const inferscale_request seen = as_plugin_sees(request);
    functions().on_admit(object_, &seen, now.ns());
  }

  void on_outcome(const RequestView& request, const AttemptEnd& end) override {
    if (object_ == nullptr || functions().on_outcome == nullptr) return;
    const inferscale_request seen = as_plugin_sees(request);
    const inferscale_end seen_end = {.size = sizeof(inferscale_end),
                                     .end = static_cast<std::int32_t>(end.end),
                                     .admitted_ns = end.admitted_at.ns(),
                                     .dispatched_ns = end.dispatched_at.ns(),
                                     .first_token_ns = end.first_token.ns(),
                                     .now_ns = end.now.ns(),
                                     .output_tokens = end.output_tokens,
                                     .in_flight_at_admission = end.in_flight_at_admission};
    functions().on_outcome(object_, &seen, &seen_end);
  }

  void on_reading(const PoolView& pool) override { look(functions().on_reading, pool); }
  void on_tick(const PoolView& pool) override { look(functions().on_tick, pool); }

  std::optional<Duration> tick_interval() const override {
    if (functions().on_tick == nullptr) return std::nullopt;
    return Duration::nanos(functions().tick_interval_ns);
  }

  std::optional<double> limit() const override {
    double value = 0;
    if (object_ == nullptr || functions().limit == nullptr) return std::nullopt;
    return functions().limit(object_, &value) != 0 ? std::optional(value) : std::nullopt;
  }

 private:
  Decision failed(std::string why) {
    if (failure_.empty()) failure_ = std::move(why);
    Decision decision = Decision::admit();
    decision.failed = true;
    return decision;
  }
  const inferscale_policy& functions() const { return table_->policy; }
  void look(void (*function)(void*, const inferscale_pool*), const PoolView& pool) {
    if (object_ == nullptr || function == nullptr) return;
    const PluginPool seen(pool, table_->signals);
    function(object_, seen.seen());
  }

  const PluginTable* table_;
  void* object_;
  std::string failure_;
};

static_assert(static_cast<int>(PermitEnd::kFinished) == INFERSCALE_FINISHED &&
              static_cast<int>(PermitEnd::kIgnored) == INFERSCALE_IGNORED &&
              static_cast<int>(PermitEnd::kDropped) == INFERSCALE_DROPPED);

// A declared fallback as a number; nothing when there is none, or it is none.
std::optional<double> number_of(const char* text) {
  return text != nullptr ? parse_finite(text) : std::nullopt;
}

std::string read_value(ConfigReader& reader, const inferscale_parameter& parameter) {
  const std::string_view unit = parameter.unit != nullptr ? parameter.unit : "";
  const std::string_view doc = parameter.meaning != nullptr ? parameter.meaning : "";
  const std::optional<double> number = number_of(parameter.fallback);
  switch (parameter.kind) {
    case INFERSCALE_NUMBER:
      return number_text(
          reader.number(parameter.key, {.fallback = number, .unit = unit, .doc = doc}));
    case INFERSCALE_INTEGER: {
      std::optional<std::int64_t> whole;
      if (parameter.fallback != nullptr) whole = parse_whole(parameter.fallback);
      return std::to_string(
          reader.integer(parameter.key, {.fallback = whole, .unit = unit, .doc = doc}));
    }
    case INFERSCALE_BOOLEAN: {
      const bool fallback =
          parameter.fallback != nullptr && std::string_view(parameter.fallback) == "true";
      return reader.boolean(parameter.key, fallback, doc) ? "true" : "false";
    }
    default: {
      std::optional<std::string> fallback;
      if (parameter.fallback != nullptr) fallback = parameter.fallback;
      return reader.text(parameter.key, std::move(fallback), doc);
    }
  }
}

PolicyFactory read_plugin(const PluginTable& table, ConfigReader& reader) {
  Values values;
  for (std::size_t i = 0; i < table.policy.parameter_count; ++i) {
    values.push_back(read_value(reader, table.policy.parameters[i]));
  }
  if (!reader.is_describing()) {
    reader.finish_missing();
    // Whether the plug-in takes the values shows only when it makes a policy with them.
    const Made made = make(table, values, {});
    if (made.object == nullptr) {
      reader.fail(
          "", "policy " + std::string(table.policy.name) + " of " + table.path + ": " + made.error);
    }
    const PluginPolicy tried(table, made.object);
  }
  return [&table, values](const PolicySetting& setting) -> std::unique_ptr<AdmissionPolicy> {
    return std::make_unique<PluginPolicy>(table, make(table, values, setting).object);
  };
}

// A pool of which nothing is known.
class UnknownPool final : public PoolView {
 public:
  Instant now() const override { return {}; }
  Reading read(Signal) const override { return {}; }
  std::uint32_t replicas() const override { return 1; }
  Reading read_replica(Signal, std::uint32_t) const override { return {}; }
  const ServiceModel& service() const override { return service_; }

 private:
  ServiceModel service_;
};

std::string_view structure_of(std::size_t signals) {
  if (signals == 0) return "none";
  return signals == 1 ? "scalar" : "composite";
}

}  // namespace

PolicyEntry plugin_entry(const PluginTable& table) {
  const inferscale_policy& policy = table.policy;
  return {.card = {.name = policy.name,
                   .summary = policy.summary != nullptr ? policy.summary : "",
                   .slo_awareness = table.needs.request.deadline ? "deadline" : "none",
                   .signal_structure = structure_of(table.signals.size()),
                   .parameters = table.notes},
          .read = [&table](ConfigReader& reader) { return read_plugin(table, reader); }};
}

Result<void> try_plugin(const PluginTable& table) {
  Values values;
  for (std::size_t i = 0; i < table.policy.parameter_count; ++i) {
    if (table.policy.parameters[i].fallback == nullptr) return {};
    values.emplace_back(table.policy.parameters[i].fallback);
  }
  const Made made = make(table, values, {});
  if (made.object == nullptr) {
    return fail(ErrorCode::kInvalidInput, "plug-in: with its defaults: " + made.error, table.path);
  }
  PluginPolicy policy(table, made.object);
  policy.decide({.prompt_tokens = 1}, UnknownPool());
  return {};
}

}  // namespace inferscale
