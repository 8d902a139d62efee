#include "catalog/hardware_options.h"

#include "catalog/accelerators.h"

namespace inferscale {
namespace {

constexpr double kGib = 1024.0 * 1024.0 * 1024.0;

void read_peaks(ConfigReader& hardware, HardwareSpec& spec) {
  spec.memory_bytes =
      kGib *
      hardware.number("memory_gib", {.min = 0,
                                     .max = 4096,
                                     .above_min = true,
                                     .unit = "GiB",
                                     .doc = "memory of one accelerator, as its driver reports it"});
  spec.memory_bandwidth =
      1e9 * hardware.number(
                "memory_bandwidth_gb_s",
                {.min = 1, .max = 1e6, .unit = "GB/s", .doc = "peak bandwidth of that memory"});
  spec.flops_16bit = 1e12 * hardware.number("flops_16bit_tflops",
                                            {.min = 0.01,
                                             .max = 1e6,
                                             .unit = "TFLOP/s",
                                             .doc = "peak of dense bf16 or fp16 matrix products"});
  spec.flops_8bit =
      1e12 * hardware.number("flops_8bit_tflops",
                             {.fallback = 0.0,
                              .min = 0,
                              .max = 1e6,
                              .unit = "TFLOP/s",
                              .doc = "peak of dense fp8 matrix products; 0: it has none"});
  spec.link_bandwidth =
      1e9 * hardware.number("link_bandwidth_gb_s",
                            {.fallback = 19.0,
                             .min = 0.01,
                             .max = 1e5,
                             .unit = "GB/s",
                             .doc = "what one accelerator sends to the others of its node; the "
                                    "default is PCIe 4.0 as measured"});
  spec.link_latency_s =
      1e-6 * hardware.number("link_latency_us", {.fallback = 5.0,
                                                 .min = 0,
                                                 .max = 1e6,
                                                 .unit = "us",
                                                 .doc = "time of one message between two of them"});
}

void read_network(ConfigReader& hardware, HardwareSpec& spec) {
  spec.accelerators_per_node = hardware.integer(
      "accelerators_per_node",
      {.fallback = 8,
       .min = 1,
       .max = 1024,
       .unit = "accelerators",
       .doc = "accelerators of one machine; more than these reach each other over the network"});
  spec.node_link_bandwidth =
      1e9 * hardware.number("node_link_bandwidth_gb_s",
                            {.fallback = 9.0,
                             .min = 0.001,
                             .max = 1e5,
                             .unit = "GB/s",
                             .doc = "what one accelerator sends to other machines; the default is "
                                    "a 100 Gb/s adapter for each accelerator"});
  spec.node_link_latency_s =
      1e-6 *
      hardware.number("node_link_latency_us", {.fallback = 17.0,
                                               .min = 0,
                                               .max = 1e6,
                                               .unit = "us",
                                               .doc = "time of one message between two machines"});
}

void read_efficiencies(ConfigReader& hardware, HardwareSpec& spec) {
  spec.compute_efficiency = hardware.number(
      "compute_efficiency", {.fallback = 0.5,
                             .min = 0.001,
                             .max = 1,
                             .doc = "part of the peak FLOP/s that large matrix products reach"});
  spec.memory_efficiency =
      hardware.number("memory_efficiency",
                      {.fallback = 0.65,
                       .min = 0.001,
                       .max = 1,
                       .doc = "part of the peak bandwidth that reading weights and KV reaches"});
  spec.step_overhead_s =
      1e-3 * hardware.number("step_overhead_ms", {.fallback = 1.0,
                                                  .min = 0,
                                                  .max = 1e3,
                                                  .unit = "ms",
                                                  .doc = "what a step costs beside its kernels"});
  spec.sequence_overhead_s =
      1e-6 * hardware.number("sequence_overhead_us",
                             {.fallback = 5.0,
                              .min = 0,
                              .max = 1e6,
                              .unit = "us",
                              .doc = "what each sequence adds to a step beside its kernels"});
}

HardwareSpec read_inline_hardware(ConfigReader& deployment) {
  ConfigReader hardware = deployment.map("hardware", "an accelerator that you describe");
  HardwareSpec spec;
  spec.name = hardware.text("name", "custom", "how reports call it");
  spec.source = "the configuration";
  read_peaks(hardware, spec);
  read_network(hardware, spec);
  read_efficiencies(hardware, spec);
  hardware.finish();
  return spec;
}

}  // namespace

HardwareSpec read_hardware(ConfigReader& deployment) {
  const ConfigNode* written =
      deployment.raw("hardware", "text or map",
                     "the accelerator: a name of the catalogue (`inferscale hardware` lists them) "
                     "or a map that describes one",
                     "required");
  HardwareSpec inline_spec;
  if (deployment.is_describing()) {
    deployment.when("hardware", "", "{...}",
                    [&] { inline_spec = read_inline_hardware(deployment); });
    return inline_spec;
  }
  if (written == nullptr) {
    deployment.fail("hardware", "missing: expected a name of the catalogue or a map");
    return {};
  }
  if (written->is_map()) return read_inline_hardware(deployment);
  if (written->kind() != ConfigNode::Kind::kScalar) {
    deployment.fail("hardware", "expected a name of the catalogue or a map");
    return {};
  }
  const Result<HardwareSpec> found = find_accelerator(written->text());
  if (!found) {
    deployment.fail("hardware", found.error().message);
    return {};
  }
  return *found;
}

}  // namespace inferscale
