#include "study/validation/case_mapping.h"

#include <cmath>

#include "base/check.h"
#include "base/number_text.h"
#include "catalog/accelerators.h"
#include "study/validation/case_names.h"

namespace inferscale {
namespace {

// Requests that are all there at the start come this fast: n of them within n microseconds.
constexpr double kAllAtOnceRps = 1e6;
// A run that lost more than this part of its requests to timeouts tells of the survivors only.
constexpr double kMostFailed = 0.01;
// SGLang derives its limit from the size of its KV pool, and takes 2048 at least (model_runner.py,
// init_memory_pool).
constexpr std::int64_t kSglangSequences = 2048;
constexpr double kUnquantisedBits = 16;

enum class Arrivals { kPoisson, kEven, kBurst, kBatch };

struct Parts {
  ModelSpec model;
  std::string accelerator;
  std::string scheduler;
  std::string weights;
  Arrivals arrivals = Arrivals::kPoisson;
  std::int64_t requests = 0;
};

std::unexpected<NotSimulated> refuse(std::string reason, std::string detail) {
  return std::unexpected(NotSimulated{std::move(reason), std::move(detail)});
}

std::expected<Arrivals, NotSimulated> arrivals_of(const DescribedCase& described) {
  const std::string& mode = described.arrival_mode;
  if (mode.starts_with("closed")) return refuse("closed loop: a request waits for an answer", mode);
  const bool poisson = mode == "open-poisson" || mode == "poisson";
  const bool even = mode == "open-uniform" || mode == "uniform" || mode == "constant";
  if (poisson || even) {
    if (described.on_off) {
      return refuse("arrivals that stop and go (arrival.on_off_s): expected `config`", mode);
    }
    if (!described.rate_rps)
      return refuse("the arrival rate is not known (arrival.rate_rps)", mode);
    return poisson ? Arrivals::kPoisson : Arrivals::kEven;
  }
  if (mode.starts_with("burst")) {
    // "burst (rate 1000)" has a rate, and is as good as a stream.
    return described.rate_rps ? Arrivals::kPoisson : Arrivals::kBurst;
  }
  if (mode.starts_with("batch")) return Arrivals::kBatch;
  return refuse("arrivals neither open-poisson, open-uniform, burst nor batch (arrival.mode)",
                mode);
}

std::expected<std::int64_t, NotSimulated> requests_of(const DescribedCase& described,
                                                      Arrivals arrivals) {
  if (described.requests) return *described.requests;
  if (arrivals == Arrivals::kBatch && described.concurrency) return *described.concurrency;
  const bool stream = arrivals == Arrivals::kPoisson || arrivals == Arrivals::kEven;
  if (stream && described.duration_s) {
    const auto requests = std::llround(*described.rate_rps * *described.duration_s);
    if (requests > 0) return requests;
  }
  return refuse("the number of requests is not known", described.arrival_mode);
}

// What has nothing to do with names: the figures and the features of the system.
std::optional<NotSimulated> feature_not_simulated(const DescribedCase& described) {
  const double failed = static_cast<double>(described.failed);
  const bool lost =
      described.requests && failed > kMostFailed * static_cast<double>(*described.requests);
  if (described.tier == "B-overload" || lost) {
    return NotSimulated{"the figures are of the survivors of client timeouts",
                        lost ? "more than 1 % of the requests failed" : described.tier};
  }
  if (described.disaggregated) {
    return NotSimulated{"split pools: expected `config` with deployment.disaggregation", ""};
  }
  if (!described.policy.empty()) {
    return NotSimulated{"admission or fairness policies are not simulated", described.policy};
  }
  if (described.speculative) {
    return NotSimulated{"speculative decoding: expected `config` with an acceptance rate", ""};
  }
  if (described.mixed_parallelism) {
    return NotSimulated{"data-parallel attention or expert parallelism: expected `config`", ""};
  }
  if (!described.prompt_tokens || !described.output_tokens) {
    return NotSimulated{"prompt or answer lengths are not known", ""};
  }
  return std::nullopt;
}

std::expected<Parts, NotSimulated> parts_of(const DescribedCase& described,
                                            const ModelResolver& resolve_model) {
  Parts parts;
  const auto arrivals = arrivals_of(described);
  if (!arrivals) return std::unexpected(arrivals.error());
  parts.arrivals = *arrivals;
  const auto scheduler = scheduler_of_engine(described.engine);
  if (!scheduler) return refuse("engine is not modelled", described.engine);
  parts.scheduler = *scheduler;
  const auto model = resolve_model(catalogue_model_name(described.model));
  if (!model) return refuse("unknown model", described.model);
  parts.model = *model;
  parts.accelerator = catalogue_accelerator_name(described.accelerator);
  if (!find_accelerator(parts.accelerator)) {
    return refuse("unknown accelerator", described.accelerator);
  }
  const auto weights = weights_of_precision(described.precision);
  if (!weights) return refuse("unknown precision", described.precision);
  parts.weights = *weights;
  if (auto feature = feature_not_simulated(described)) return std::unexpected(*feature);
  const auto requests = requests_of(described, parts.arrivals);
  if (!requests) return std::unexpected(requests.error());
  parts.requests = *requests;
  return parts;
}

// Writes keys into a tree as if they stood where the case stands.
class TreeWriter {
 public:
  explicit TreeWriter(const SourcePosition& at) : at_(at), tree_(ConfigNode::map(at)) {}
  void text(std::string_view key, std::string value) {
    put(key, ConfigNode::scalar(std::move(value), true, at_));
  }
  void number(std::string_view key, double value) {
    put(key, ConfigNode::scalar(number_text(value), false, at_));
  }
  void whole(std::string_view key, std::int64_t value) {
    put(key, ConfigNode::scalar(std::to_string(value), false, at_));
  }
  void flag(std::string_view key) { put(key, ConfigNode::scalar("true", false, at_)); }
  void put(std::string_view key, ConfigNode value) {
    const Result<void> set = tree_.set_path(key, std::move(value));
    CHECK(set.has_value()) << "a tree that was written key by key: " << key;
  }
  ConfigNode take() { return std::move(tree_); }

 private:
  SourcePosition at_;
  ConfigNode tree_;
};

void write_deployment(const DescribedCase& described, const Parts& parts, TreeWriter& out,
                      std::vector<std::string>& assumptions) {
  out.text("deployment.model", catalogue_model_name(described.model));
  out.text("deployment.hardware", parts.accelerator);
  out.whole("deployment.parallel.tensor", described.tensor);
  out.whole("deployment.parallel.pipeline", described.pipeline);
  out.whole("deployment.parallel.data", described.data);
  const bool published_smaller = parts.model.native_weight_bits < kUnquantisedBits;
  const bool says_unquantised = parts.weights == "bf16" || parts.weights == "fp16";
  if (published_smaller && says_unquantised) {
    assumptions.push_back("weights in the format of the checkpoint, which is smaller than said");
  }
  const bool as_published = published_smaller && (says_unquantised || parts.weights == "mxfp4");
  out.text("deployment.precision.weights", as_published ? "native" : parts.weights);
  out.text("deployment.engine.scheduler", parts.scheduler);
  std::optional<std::int64_t> sequences = described.max_num_seqs;
  if (!sequences && parts.scheduler == "sglang") sequences = kSglangSequences;
  if (sequences) out.whole("deployment.engine.max_num_seqs", *sequences);
  if (!described.max_num_seqs) assumptions.push_back("max_num_seqs not given: a default");
  if (described.max_num_batched_tokens) {
    out.whole("deployment.engine.max_num_batched_tokens", *described.max_num_batched_tokens);
  } else {
    assumptions.push_back("max_num_batched_tokens not given: the default");
  }
  if (described.kv_cache_tokens) {
    out.whole("deployment.engine.kv_cache_tokens", *described.kv_cache_tokens);
  }
  if (described.gpu_memory_utilization) {
    out.number("deployment.engine.gpu_memory_utilization", *described.gpu_memory_utilization);
  }
  if (described.kv_offload) {
    assumptions.push_back("offload of KV blocks to the host is not simulated");
  }
}

void write_lengths(std::string_view key, double mean, double cv, TreeWriter& out) {
  const std::string at(key);
  if (cv == 0) {
    out.text(at + ".distribution", "constant");
    out.whole(at + ".value", std::llround(mean));
    return;
  }
  out.text(at + ".distribution", "lognormal");
  out.number(at + ".mean", mean);
  out.number(at + ".cv", cv);
}

// A model that was made to go beyond its context, as benchmarks do.
void write_context(const DescribedCase& described, const Parts& parts, LengthKnowledge lengths,
                   TreeWriter& out, std::vector<std::string>& assumptions) {
  if (lengths != LengthKnowledge::kFixed) return;
  const std::int64_t longest =
      std::llround(*described.prompt_tokens) + std::llround(*described.output_tokens);
  if (longest <= parts.model.max_context) return;
  out.whole("deployment.engine.max_model_len", longest);
  assumptions.push_back("longer than the model's context: the engine takes it, as measured");
}

bool of_one_length(const DescribedCase& described, Arrivals arrivals) {
  const std::string& kind = described.workload_kind;
  return arrivals == Arrivals::kBatch || kind.find("fixed-length") != std::string::npos ||
         kind.find("shared_prefix") != std::string::npos;
}

LengthKnowledge write_all_lengths(const DescribedCase& described, Arrivals arrivals,
                                  const ValidateOptions& options, TreeWriter& out) {
  const bool fixed = of_one_length(described, arrivals);
  const auto cv = [&](const std::optional<double>& given, double assumed) {
    return given.value_or(fixed ? 0 : assumed);
  };
  write_lengths("workload.prompt_tokens", *described.prompt_tokens,
                cv(described.prompt_cv, options.prompt_cv), out);
  write_lengths("workload.output_tokens", *described.output_tokens,
                cv(described.output_cv, options.output_cv), out);
  if (described.prompt_cv && described.output_cv) return LengthKnowledge::kGiven;
  return fixed ? LengthKnowledge::kFixed : LengthKnowledge::kAssumed;
}

void write_arrivals(const DescribedCase& described, const Parts& parts, TreeWriter& out) {
  const bool at_once = parts.arrivals == Arrivals::kBurst || parts.arrivals == Arrivals::kBatch;
  out.whole("workload.requests", parts.requests);
  out.text("workload.arrivals.process",
           at_once || parts.arrivals == Arrivals::kEven ? "constant" : "poisson");
  out.number("workload.arrivals.rate_rps", at_once ? kAllAtOnceRps : *described.rate_rps);
}

// A load generator that asks the same questions again and again finds its prompts in the cache.
void write_prefixes(const DescribedCase& described, TreeWriter& out,
                    std::vector<std::string>& assumptions) {
  const bool repeats = described.workload_kind.find("shared_prefix") != std::string::npos;
  if (described.prefix_caching.value_or(repeats)) out.flag("deployment.engine.prefix_caching");
  if (!repeats || !described.prefix_caching.value_or(true)) return;
  out.whole("workload.shared_prefix.tokens", std::llround(*described.prompt_tokens));
  out.number("workload.shared_prefix.hit_probability", 1);
  assumptions.push_back("the same prompts again and again: all of each is in the prefix cache");
}

}  // namespace

std::expected<MappedCase, NotSimulated> map_described_case(const DescribedCase& described,
                                                           const ValidateOptions& options,
                                                           const ModelResolver& resolve_model) {
  const auto parts = parts_of(described, resolve_model);
  if (!parts) return std::unexpected(parts.error());
  MappedCase mapped;
  TreeWriter out(described.at);
  write_deployment(described, *parts, out, mapped.assumptions);
  write_arrivals(described, *parts, out);
  mapped.lengths = write_all_lengths(described, parts->arrivals, options, out);
  write_context(described, *parts, mapped.lengths, out, mapped.assumptions);
  write_prefixes(described, out, mapped.assumptions);
  if (described.slo) out.put("slo", *described.slo);
  mapped.config = out.take();
  mapped.load.batch = parts->arrivals == Arrivals::kBatch;
  mapped.load.burst = parts->arrivals == Arrivals::kBurst;
  if (!mapped.load.batch && !mapped.load.burst) mapped.load.offered_rps = described.rate_rps;
  mapped.load.requests = static_cast<double>(parts->requests);
  return mapped;
}

}  // namespace inferscale
