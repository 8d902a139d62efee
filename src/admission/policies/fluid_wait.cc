#include "admission/policies/fluid_wait.h"

#include <algorithm>
#include <array>
#include <map>

#include "admission/policies/attempt_identity.h"
#include "admission/policies/fluid_balance.h"
#include "base/exact_math.h"

namespace inferscale {
namespace {

class FluidWait final : public AdmissionPolicy {
 public:
  explicit FluidWait(const FluidWaitOptions& options)
      : options_(options),
        interval_(Duration::from_seconds(options.interval_s)),
        max_hold_(Duration::from_seconds(options.max_hold_s)),
        groups_((options.prompt_edges.size() + 1) * (options.output_edges.size() + 1)) {}

  const PolicyNeeds& needs() const override { return needs_; }
  std::optional<Duration> tick_interval() const override { return interval_; }

  Decision decide(const RequestView& request, const PoolView& pool) override {
    const std::size_t index = group_of(request);
    Group& group = groups_[index];
    const auto place = held_.find(identity_of(request));
    const bool is_held = place != held_.end();
    if (!is_held) {
      advance(pool.now());
      group.come(request);
      // Who was deferred last was not held: nothing is gathered at this door.
      if (deferred_unheld_) {
        deferred_unheld_ = false;
        return Decision::admit();
      }
    }
    if (is_held && place->second.order < group.released_before) return Decision::admit();
    const Duration left = left_to_hold(request, pool);
    const std::int64_t gathered = group.held + (is_held ? 0 : 1);
    if (gathered < group.threshold && left.ns() > 0) {
      deferred_unheld_ = !is_held;
      return Decision::defer(Reason::kBatchForming, left);
    }
    Decision decision = Decision::admit();
    group.released_before = next_order_;
    decision.wakes_held = group.held > (is_held ? 1 : 0);
    return decision;
  }

  void on_admit(const RequestView& request, Instant /*now*/) override { leave(request); }
  void on_left_hold(const RequestView& request, Instant /*now*/) override { leave(request); }

  void on_held(const RequestView& request, Instant /*now*/) override {
    deferred_unheld_ = false;
    const std::size_t index = group_of(request);
    const Held held{.group = index, .order = next_order_};
    if (!held_.emplace(identity_of(request), held).second) return;
    ++next_order_;
    ++groups_[index].held;
  }

  void on_tick(const PoolView& pool) override {
    advance(pool.now());
    const ServiceModel& model = pool.service();
    const double replicas = std::max(pool.replicas(), 1U);
    std::vector<FluidClass> classes;
    classes.reserve(groups_.size());
    for (const Group& group : groups_) classes.push_back(fluid_class(group, model, replicas));
    if (!model.is_known()) return;
    const std::vector<std::int64_t> thresholds =
        fluid_thresholds(classes, 1e-9 * model.step_ns,
                         static_cast<double>(model.kv_capacity_tokens), options_.most);
    for (std::size_t j = 0; j < groups_.size(); ++j) {
      const auto whole_pool = static_cast<std::int64_t>(pool.replicas()) * thresholds[j];
      groups_[j].threshold = thresholds[j] > 1 ? whole_pool : 1;
    }
  }

 private:
  struct Group {
    // Of the last window: older ones count less and less.
    double arrivals = 0;
    double prompt_tokens = 0;
    double output_tokens = 0;
    std::int64_t held = 0;
    std::uint64_t released_before = 0;  // those held with a lower order may go
    std::int64_t threshold = 1;

    void come(const RequestView& request) {
      arrivals += 1;
      prompt_tokens += static_cast<double>(request.prompt_tokens);
      output_tokens += static_cast<double>(request.predicted_output_tokens);
    }
    void fade(double factor) {
      arrivals *= factor;
      prompt_tokens *= factor;
      output_tokens *= factor;
    }
  };

  struct Held {
    std::size_t group = 0;
    std::uint64_t order = 0;  // in which they were held
  };

  static std::size_t band_of(const std::vector<double>& edges, TokenCount tokens) {
    const auto at = std::ranges::upper_bound(edges, static_cast<double>(tokens));
    return static_cast<std::size_t>(at - edges.begin());
  }

  std::size_t group_of(const RequestView& request) const {
    return band_of(options_.prompt_edges, request.prompt_tokens) *
               (options_.output_edges.size() + 1) +
           band_of(options_.output_edges, request.predicted_output_tokens);
  }

  Duration left_to_hold(const RequestView& request, const PoolView& pool) const {
    const Duration left = max_hold_ - request.held;
    if (!request.has_deadline()) return left;
    const double alone_ns = pool.service().prefill_ns(request.tokens_to_compute());
    const Duration slack =
        request.ttft_deadline - pool.now() - Duration::nanos(static_cast<std::int64_t>(alone_ns));
    return std::min(left, slack);
  }

  void advance(Instant now) {
    if (now <= faded_at_) return;
    const double factor = exact_exp(-(now - faded_at_).seconds() / options_.window_s);
    for (Group& group : groups_) group.fade(factor);
    seen_ = factor * seen_ + (1 - factor);
    faded_at_ = now;
  }

  FluidClass fluid_class(const Group& group, const ServiceModel& model, double replicas) const {
    // The window is not full at the start: as much of it as has been seen.
    if (!(group.arrivals > 0) || !(seen_ > 0)) return {};
    const double prompt = group.prompt_tokens / group.arrivals;
    const double output = group.output_tokens / group.arrivals;
    const double memory = stage_memory_tokens(prompt, output);
    const double work_ns =
        options_.step_ns_per_kv_token
            ? *options_.step_ns_per_kv_token * memory
            : model.prefill_ns_per_token * prompt + model.decode_ns_per_sequence * output;
    return {.rate_per_s = group.arrivals / (options_.window_s * seen_ * replicas),
            .work_s = 1e-9 * work_ns,
            .memory_tokens = memory};
  }

  void leave(const RequestView& request) {
    const auto place = held_.find(identity_of(request));
    if (place == held_.end()) return;
    --groups_[place->second.group].held;
    held_.erase(place);
  }

  FluidWaitOptions options_;
  Duration interval_;
  Duration max_hold_;
  PolicyNeeds needs_{.request = {.predicted_output = true}, .service_model = true};
  std::vector<Group> groups_;
  std::map<AttemptIdentity, Held> held_;
  std::uint64_t next_order_ = 0;
  bool deferred_unheld_ = false;
  Instant faded_at_;
  double seen_ = 0;  // part of a full window
};

std::vector<double> read_edges(ConfigReader& parameters, std::string_view key,
                               const std::vector<double>& fallback, std::string_view doc) {
  std::vector<double> edges =
      parameters.numbers(key, {.min = 1, .max = 1e9, .unit = "tokens", .doc = doc});
  if (!parameters.has(key)) return fallback;
  if (!std::ranges::is_sorted(edges, std::ranges::less_equal())) {
    parameters.fail(key, "expected each edge to be above the one before");
  }
  if (edges.size() > 16) parameters.fail(key, "expected at most 16 edges");
  return edges;
}

}  // namespace

const PolicyCard& fluid_wait_card() {
  static constexpr std::array<ParameterNote, 7> kParameters = {{
      {"prompt_edges", "default", "null: 512, 2048"},
      {"output_edges", "default", "null: 128, 512"},
      {"max_hold_s", "default", "the paper has no bound: a class that comes rarely would wait on"},
      {"window_s", "default", "the paper knows the rates"},
      {"interval_s", "default", "from one reckoning to the next"},
      {"most", "default", "where there is no balance"},
      {"step_ns_per_kv_token", "paper", "d1; null: the service estimate's work"},
  }};
  static constexpr PolicyCard kCard = {
      .name = "fluid_wait",
      .summary = "gathers requests of like lengths and lets them in together",
      .slo_awareness = "throughput",
      .signal_structure = "composite",
      .inspired_by = "Fluid-WAIT (Ao, Luo, Simchi-Levi, Wang 2025)",
      .preserved = "a threshold for each class from the balance n = lambda tau, within the memory",
      .dropped = "Nested WAIT's segments inside the engine; waiting without a bound",
      .parameters = kParameters,
  };
  return kCard;
}

PolicyFactory read_fluid_wait(ConfigReader& parameters) {
  FluidWaitOptions options;
  options.prompt_edges = read_edges(
      parameters, "prompt_edges", options.prompt_edges,
      "prompt lengths at which a class ends and the next begins; not written: 512, 2048");
  options.output_edges = read_edges(
      parameters, "output_edges", options.output_edges,
      "predicted output lengths at which a class ends and the next begins; not written: 128, 512");
  const auto seconds = [&parameters](std::string_view key, double fallback, std::string_view doc) {
    return parameters.number(
        key, {.fallback = fallback, .min = 1e-3, .max = 1e6, .unit = "s", .doc = doc});
  };
  options.max_hold_s =
      seconds("max_hold_s", options.max_hold_s, "after which a group goes as it is");
  options.window_s = seconds("window_s", options.window_s, "over which rates are reckoned");
  options.interval_s = seconds("interval_s", options.interval_s, "between thresholds");
  options.most = parameters.integer("most", {.fallback = options.most,
                                             .min = 1,
                                             .max = 1'000'000,
                                             .unit = "requests",
                                             .doc = "in a group, a replica"});
  options.step_ns_per_kv_token = parameters.optional_number(
      "step_ns_per_kv_token",
      {.min = 0,
       .max = 1e9,
       .unit = "ns/token",
       .doc = "that a token in the KV cache adds to an iteration; null: by the service estimate"});
  return [options](const PolicySetting&) { return std::make_unique<FluidWait>(options); };
}

}  // namespace inferscale
