#include "replica/latency/linear.h"

namespace inferscale {
namespace {

class Linear final : public LatencyModel {
 public:
  Linear(const LinearLatencyOptions& options, const LatencyScales& scales)
      : options_(options), scales_(scales) {}

  std::string_view name() const override { return "linear"; }

  StepCost cost(const StepShape& shape) const override {
    const double decode_ns =
        needs_decode_part(scales_, shape) ? unscaled(decode_part(shape)).first_ns : 0.0;
    return scaled(scales_, shape, unscaled(shape), decode_ns);
  }

 private:
  StepCost unscaled(const StepShape& shape) const {
    const double decoding = static_cast<double>(shape.decode_sequences * shape.decode_tokens);
    const double first =
        1e3 * (options_.step_us +
               options_.prefill_us_per_token * static_cast<double>(shape.prefill_tokens) +
               options_.decode_us_per_sequence * decoding) +
        options_.decode_ns_per_context_token * static_cast<double>(shape.decode_context);
    return {.first_ns = first,
            .growth_ns =
                options_.decode_ns_per_context_token * static_cast<double>(shape.decode_sequences)};
  }

  LinearLatencyOptions options_;
  LatencyScales scales_;
};

}  // namespace

std::unique_ptr<LatencyModel> make_linear(const LinearLatencyOptions& options,
                                          const LatencyScales& scales) {
  return std::make_unique<Linear>(options, scales);
}

}  // namespace inferscale
