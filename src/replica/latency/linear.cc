#include "replica/latency/linear.h"

namespace inferscale {
namespace {

class Linear final : public LatencyModel {
 public:
  Linear(const LinearLatencyOptions& options, const LatencyScales& scales)
      : options_(options), scales_(scales) {}

  std::string_view name() const override { return "linear"; }

  StepCost cost(const StepShape& shape) const override {
    const double scale = shape.prefill_tokens > 0 ? scales_.prefill : scales_.decode;
    const double decoding = static_cast<double>(shape.decode_sequences);
    const double first =
        1e3 * (options_.step_us +
               options_.prefill_us_per_token * static_cast<double>(shape.prefill_tokens) +
               options_.decode_us_per_sequence * decoding) +
        options_.decode_ns_per_context_token * static_cast<double>(shape.decode_context);
    return {.first_ns = scale * first,
            .growth_ns = scale * options_.decode_ns_per_context_token * decoding};
  }

 private:
  LinearLatencyOptions options_;
  LatencyScales scales_;
};

}  // namespace

std::unique_ptr<LatencyModel> make_linear(const LinearLatencyOptions& options,
                                          const LatencyScales& scales) {
  return std::make_unique<Linear>(options, scales);
}

}  // namespace inferscale
