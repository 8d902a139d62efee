#include "admission/policies/wcrt.h"

#include <array>
#include <cmath>
#include <limits>

#include "admission/policies/busiest_bucket.h"
#include "admission/policies/limit_scope.h"

namespace inferscale {

double worst_response(double rho, double deadline, double cost) {
  if (!(rho < 1)) return std::numeric_limits<double>::infinity();
  return rho * deadline / (1 - rho) + cost;
}

double most_decoding(double itl, double gamma, double beta) {
  if (itl < gamma) return 0;
  if (!(beta > 0)) return std::numeric_limits<double>::infinity();
  return std::floor((itl - gamma) / beta);
}

namespace {

std::int64_t buckets_of(const WcrtOptions& options) {
  return static_cast<std::int64_t>(std::ceil(options.window_s / options.bucket_s));
}

class Wcrt final : public AdmissionPolicy {
 public:
  explicit Wcrt(const WcrtOptions& options)
      : options_(options), window_(Duration::from_seconds(options.bucket_s), buckets_of(options)) {
    needs_.request.deadline = true;
    needs_.service_model = !is_overridden();
    if (options_.judges_gaps) needs_.signals.add(Signal::kRunning);
  }

  const PolicyNeeds& needs() const override { return needs_; }

  Decision decide(const RequestView& request, const PoolView& pool) override {
    model_ = pool.service();
    if (!model_.is_known() && !is_overridden()) return Decision::admit();
    model_.prefill_ns_per_token = options_.alpha_ns_per_token.value_or(model_.prefill_ns_per_token);
    model_.decode_ns_per_sequence =
        options_.beta_ns_per_sequence.value_or(model_.decode_ns_per_sequence);
    model_.step_ns = options_.gamma_ns.value_or(model_.step_ns);
    window_.advance(pool.now());
    // Who is decided about again has been counted.
    if (options_.counts_arrivals && request.held == Duration()) window_.add(cost_ns(request));
    return judge(request, pool);
  }

  void on_admit(const RequestView& request, Instant now) override {
    if (options_.counts_arrivals) return;
    window_.advance(now);
    window_.add(cost_ns(request));
  }

 private:
  bool is_overridden() const {
    return options_.alpha_ns_per_token && options_.gamma_ns &&
           (options_.beta_ns_per_sequence || !options_.judges_gaps);
  }

  double cost_ns(const RequestView& request) const {
    return model_.prefill_ns(request.tokens_to_compute());
  }

  Decision judge(const RequestView& request, const PoolView& pool) const {
    const double cost = cost_ns(request);
    const double replicas = std::max(pool.replicas(), 1U);
    const BusiestBucket::Load load =
        options_.counts_arrivals ? window_.load() : window_.load_with(cost);
    const double rho = load.rate_per_s * load.mean_cost * 1e-9 / replicas;
    if (rho >= 1) return refuse(options_.defers, Reason::kOverloaded);
    if (request.has_deadline()) {
      const auto left_ns = static_cast<double>((request.ttft_deadline - pool.now()).ns());
      // What can't be in time on an idle pool is not helped by waiting.
      if (cost * options_.safety_factor > left_ns) {
        return Decision::reject(Reason::kDeadlineInfeasible);
      }
      if (worst_response(rho, left_ns, cost) * options_.safety_factor > left_ns) {
        return refuse(options_.defers, Reason::kDeadlineInfeasible);
      }
    }
    if (!options_.judges_gaps || request.itl_target == Duration()) return Decision::admit();
    return judge_gaps(request, pool, replicas);
  }

  Decision judge_gaps(const RequestView& request, const PoolView& pool, double replicas) const {
    const double most = most_decoding(static_cast<double>(request.itl_target.ns()), model_.step_ns,
                                      model_.decode_ns_per_sequence);
    if (most < 1) return Decision::reject(Reason::kItlInfeasible);
    const Reading running = pool.read(Signal::kRunning);
    if (!running.is_known() || running.value / replicas + 1 <= most) return Decision::admit();
    return refuse(options_.defers, Reason::kItlInfeasible);
  }

  WcrtOptions options_;
  PolicyNeeds needs_;
  BusiestBucket window_;
  ServiceModel model_;  // as it was when the last one was decided about
};

std::optional<double> read_override(ConfigReader& parameters, std::string_view key,
                                    std::string_view unit, std::string_view doc) {
  return parameters.optional_number(key, {.min = 0, .max = 1e12, .unit = unit, .doc = doc});
}

}  // namespace

const PolicyCard& wcrt_card() {
  static constexpr std::array<ParameterNote, 9> kParameters = {{
      {"window_s", "paper", "a sliding window of 60 s"},
      {"bucket_s", "default", "1 s makes single bursts the load; 5 to 10 s does not"},
      {"safety_factor", "field", "AdmitPerf's, not the paper's; 1 is the bound itself"},
      {"counts", "derived", "who is refused brings no load"},
      {"judges_gaps", "paper", "theorem 3"},
      {"then", "default", "reject, as most doors do"},
      {"alpha_ns_per_token", "derived", "null: the service estimate"},
      {"beta_ns_per_sequence", "derived", "null: the service estimate"},
      {"gamma_ns", "derived", "null: the service estimate"},
  }};
  static constexpr PolicyCard kCard = {
      .name = "wcrt",
      .summary = "refuses whose worst-case first token would be late, or slow all tokens down",
      .slo_awareness = "deadline",
      .signal_structure = "bound",
      .inspired_by = "Chronos (Marref, Tarmissi, Chaibi 2026)",
      .preserved = "the three tests, their order and formulas; the busiest part of 60 s",
      .dropped =
          "the sporadic task set known in advance: the load is what the window saw; "
          "preemption between chunks",
      .parameters = kParameters,
  };
  return kCard;
}

PolicyFactory read_wcrt(ConfigReader& parameters) {
  WcrtOptions options;
  options.window_s = parameters.number("window_s", {.fallback = options.window_s,
                                                    .min = 1e-3,
                                                    .max = 1e6,
                                                    .unit = "s",
                                                    .doc = "in which the load is looked at"});
  options.bucket_s =
      parameters.number("bucket_s", {.fallback = options.bucket_s,
                                     .min = 1e-3,
                                     .max = 1e6,
                                     .unit = "s",
                                     .doc = "parts of the window; the busiest one is the load"});
  options.safety_factor = parameters.number(
      "safety_factor", {.fallback = options.safety_factor,
                        .min = 0,
                        .max = 1e6,
                        .above_min = true,
                        .doc = "by which the bound is multiplied before it meets the deadline"});
  options.counts_arrivals =
      parameters.choice("counts", {"admitted", "arrivals"}, "admitted",
                        "whose prompts are the load: of those admitted, or of all who come") ==
      "arrivals";
  options.judges_gaps = parameters.boolean(
      "judges_gaps", true, "requests with a limit for token gaps are judged by it too");
  options.defers = read_defers(parameters);
  options.alpha_ns_per_token = read_override(parameters, "alpha_ns_per_token", "ns/token",
                                             "of prefill; null: by the service estimate");
  options.beta_ns_per_sequence = read_override(parameters, "beta_ns_per_sequence", "ns/sequence",
                                               "of a decode step; null: by the service estimate");
  options.gamma_ns =
      read_override(parameters, "gamma_ns", "ns", "of any step; null: by the service estimate");
  if (options.window_s < options.bucket_s || options.window_s > 1e4 * options.bucket_s) {
    parameters.fail("bucket_s", "expected between window_s / 10000 and window_s");
  }
  return [options](const PolicySetting&) { return std::make_unique<Wcrt>(options); };
}

}  // namespace inferscale
