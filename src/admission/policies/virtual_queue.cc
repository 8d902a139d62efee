#include "admission/policies/virtual_queue.h"

#include <algorithm>
#include <array>
#include <compare>
#include <map>

#include "admission/policies/attempt_identity.h"
#include "admission/policies/batch_places.h"
#include "admission/policies/limit_scope.h"

namespace inferscale {

double total_lateness_s(std::span<const VirtualGroup> in_order, double tokens_per_s) {
  double at = 0;
  double late = 0;
  for (const VirtualGroup& group : in_order) {
    at += group.tokens / tokens_per_s;
    late += std::max(0.0, at - group.deadline_s);
  }
  return late;
}

namespace {

class VirtualQueue final : public AdmissionPolicy {
 public:
  explicit VirtualQueue(const VirtualQueueOptions& options)
      : options_(options), granularity_(Duration::from_seconds(options.slo_granularity_s)) {}

  const PolicyNeeds& needs() const override { return needs_; }

  Decision decide(const RequestView& request, const PoolView& pool) override {
    model_ = pool.service();
    replicas_ = std::max(pool.replicas(), 1U);
    if (!model_.is_known()) return Decision::admit();
    const double in_flight = pool.read(Signal::kInFlight).value;
    if (request.has_deadline()) {
      const auto left_ns = static_cast<double>((request.ttft_deadline - pool.now()).ns());
      const double alone_ns = model_.prefill_ns(request.tokens_to_compute());
      // What can't be in time even now is not helped by waiting.
      if (alone_ns > left_ns) return Decision::reject(Reason::kWaitTooLong);
      if (predicted_wait_ns(request, pool, in_flight) + alone_ns > left_ns) {
        return refuse(options_.defers, Reason::kWaitTooLong);
      }
    }
    if (!options_.pull_below || in_flight < *options_.pull_below * replicas_) {
      return Decision::admit();
    }
    return Decision::defer(Reason::kPoolFull);
  }

  void on_admit(const RequestView& request, Instant now) override {
    leave(request);
    serving_.add(request);
    const double prefill_ns = model_.prefill_ns(request.tokens_to_compute()) / replicas_;
    prompts_done_ =
        std::max(prompts_done_, now) + Duration::nanos(static_cast<std::int64_t>(prefill_ns));
  }

  void on_outcome(const RequestView& request, const AttemptEnd& /*end*/) override {
    serving_.remove(request);
  }

  void on_held(const RequestView& request, Instant /*now*/) override {
    const GroupKey group = group_of(request);
    if (!places_.emplace(identity_of(request), group).second) return;
    groups_[group].add(request);
  }

  void on_left_hold(const RequestView& request, Instant /*now*/) override { leave(request); }

  std::optional<double> rank(const RequestView& request) const override {
    return static_cast<double>(group_of(request).deadline);
  }

 private:
  struct Tokens {
    double requests = 0;
    double output = 0;
    double prompt = 0;  // to compute
    void add(const RequestView& request) { add(request, 1); }
    void remove(const RequestView& request) { add(request, -1); }
    void add(const RequestView& request, double times) {
      requests += times;
      output += times * output_of(request);
      prompt += times * static_cast<double>(request.tokens_to_compute());
    }
  };
  struct GroupKey {
    std::int64_t deadline = 0;  // in units of the granularity
    std::uint8_t slo_class = 0;
    auto operator<=>(const GroupKey&) const = default;
  };

  static double output_of(const RequestView& request) {
    return static_cast<double>(request.predicted_output_tokens) *
           static_cast<double>(request.sequences);
  }

  GroupKey group_of(const RequestView& request) const {
    return {.deadline = request.ttft_deadline.ns() / granularity_.ns(),
            .slo_class = request.slo_class};
  }

  void leave(const RequestView& request) {
    const auto place = places_.find(identity_of(request));
    if (place == places_.end()) return;
    const auto group = groups_.find(place->second);
    group->second.remove(request);
    if (group->second.requests <= 0) groups_.erase(group);
    places_.erase(place);
  }

  // Of the held, those in groups with an earlier deadline.
  Tokens held_before(const RequestView& request) const {
    Tokens ahead;
    const std::int64_t deadline = group_of(request).deadline;
    for (const auto& [group, held] : groups_) {
      if (group.deadline >= deadline) break;
      ahead.requests += held.requests;
      ahead.output += held.output;
      ahead.prompt += held.prompt;
    }
    return ahead;
  }

  double predicted_wait_ns(const RequestView& request, const PoolView& pool,
                           double in_flight) const {
    const Tokens held = held_before(request);
    const double held_prompts_ns =
        held.prompt * model_.prefill_ns_per_token + held.requests * model_.step_ns;
    const auto begun_ns =
        static_cast<double>((std::max(prompts_done_, pool.now()) - pool.now()).ns());
    const double prompts_ns = begun_ns + held_prompts_ns / replicas_;

    Tokens mean;  // of all that are ahead, or else of the request itself
    const double known = serving_.requests + held.requests;
    if (known > 0) {
      mean.output = (serving_.output + held.output) / known;
      mean.prompt = (serving_.prompt + held.prompt) / known;
    } else {
      mean.add(request);
    }
    const BatchPlaces places =
        batch_places(pool, mean.output + static_cast<double>(request.prompt_tokens));
    const double needed = in_flight + held.requests + 1 - places.in_all;
    if (needed <= 0) return prompts_ns;
    const double each_ns = mean.output * places.step_ns / places.in_all +
                           mean.prompt * model_.prefill_ns_per_token / replicas_;
    return std::max(prompts_ns, needed * each_ns);
  }

  VirtualQueueOptions options_;
  Duration granularity_;
  PolicyNeeds needs_{.signals = {Signal::kInFlight},
                     .request = {.deadline = true, .predicted_output = true},
                     .service_model = true,
                     .outcomes = true};
  ServiceModel model_;  // as it was when the last one was decided about
  double replicas_ = 1;
  Instant prompts_done_;               // of those admitted, if the replicas do nothing else before
  Tokens serving_;                     // admitted and not ended
  std::map<GroupKey, Tokens> groups_;  // of the held
  std::map<AttemptIdentity, GroupKey> places_;
};

}  // namespace

const PolicyCard& virtual_queue_card() {
  static constexpr std::array<ParameterNote, 3> kParameters = {{
      {"slo_granularity_s", "field", "100 of QLM's units, taken as ms"},
      {"pull_below", "field", "null: off; QLM pulls while fewer than 10 are in the engine"},
      {"then", "paper", "what waits in the virtual queue is not refused"},
  }};
  static constexpr PolicyCard kCard = {
      .name = "virtual_queue",
      .summary =
          "refuses whose predicted wait is longer than its deadline; earliest deadline first",
      .slo_awareness = "deadline",
      .signal_structure = "bound",
      .inspired_by = "QLM (Patke and others, SoCC 2024)",
      .preserved =
          "groups by SLO; the wait as tokens ahead over token throughput; pulling from a "
          "virtual queue, the earliest deadline first",
      .dropped = "the integer program, eviction and swapping of models: they belong to the engines",
      .parameters = kParameters,
  };
  return kCard;
}

PolicyFactory read_virtual_queue(ConfigReader& parameters) {
  VirtualQueueOptions options;
  options.slo_granularity_s =
      parameters.number("slo_granularity_s", {.fallback = options.slo_granularity_s,
                                              .min = 1e-6,
                                              .max = 1e6,
                                              .unit = "s",
                                              .doc = "deadlines this near are one group"});
  options.pull_below = parameters.optional_number(
      "pull_below", {.min = 1,
                     .max = 1e9,
                     .unit = "requests",
                     .doc = "in flight, a replica: with more, requests are held at the door; null: "
                            "never"});
  options.defers = parameters.choice("then", {"defer", "reject"}, "defer",
                                     "what becomes of requests that would be late") == "defer";
  return [options](const PolicySetting&) { return std::make_unique<VirtualQueue>(options); };
}

}  // namespace inferscale
