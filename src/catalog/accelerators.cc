#include "catalog/accelerators.h"

#include <utility>

#include "catalog/name_lookup.h"

namespace inferscale {
namespace {

constexpr double kGib = 1024.0 * 1024.0 * 1024.0;

// The host's part of a step. It belongs to the machine around the accelerator, so it is one figure
// for all: H100, Llama-3.1-8B at 1 request/s takes 7.13 ms a token, of which kernels take 6.14 ms.
constexpr double kStepOverhead = 1.0e-3;
// Sampling and bookkeeping of one sequence: BLIS fitted 4.4 us on H100.
constexpr double kSequenceOverhead = 5.0e-6;

// Published peaks: TB/s, dense TFLOP/s of bf16 and of fp8 (or int8).
struct Peaks {
  double bandwidth;
  double flops_16bit;
  double flops_8bit;
};

// What is reached: fractions of the peaks, GB/s and microseconds between accelerators of a node,
// and GB/s from one accelerator to other nodes.
struct Reached {
  double compute;
  double memory;
  double link_gb_s;
  double link_us;
  double node_gb_s;
};

// A message between two nodes: 17 us for 2 KiB between two H100 machines.
constexpr double kNodeLatency = 17.0e-6;
constexpr std::int64_t kPerNode = 8;

HardwareSpec accelerator(std::string name, double memory_bytes, Peaks peaks, Reached reached,
                         std::string source) {
  return {.name = std::move(name),
          .source = std::move(source),
          .memory_bytes = memory_bytes,
          .memory_bandwidth = peaks.bandwidth * 1e12,
          .flops_16bit = peaks.flops_16bit * 1e12,
          .flops_8bit = peaks.flops_8bit * 1e12,
          .link_bandwidth = reached.link_gb_s * 1e9,
          .link_latency_s = reached.link_us * 1e-6,
          .accelerators_per_node = kPerNode,
          .node_link_bandwidth = reached.node_gb_s * 1e9,
          .node_link_latency_s = kNodeLatency,
          .compute_efficiency = reached.compute,
          .memory_efficiency = reached.memory,
          .step_overhead_s = kStepOverhead,
          .sequence_overhead_s = kSequenceOverhead};
}

HardwareSpec int8_only(HardwareSpec spec) {
  spec.int8_only = true;
  return spec;
}

constexpr auto kMeasured = Provenance::kMeasured;
constexpr auto kBorrowed = Provenance::kBorrowed;
constexpr auto kReported = Provenance::kReported;

// Where memory, efficiencies and link figures come from. One borrowed efficiency makes both so.
struct Origins {
  Provenance memory;
  Provenance efficiency;
  Provenance link;
};

CatalogAccelerator entry(HardwareSpec spec, std::vector<std::string> aliases, Origins origins) {
  return {.spec = std::move(spec),
          .aliases = std::move(aliases),
          .memory = origins.memory,
          .efficiency = origins.efficiency,
          .link = origins.link};
}

// Columns: name, memory, {TB/s, bf16, 8-bit}, {compute, memory, GB/s, us, GB/s between nodes},
// source; aliases; origins.
std::vector<CatalogAccelerator> make_accelerators() {
  return {
      entry(int8_only(accelerator("a10g", 22.06 * kGib, {0.600, 70.0, 140.0},
                                  {0.52, 0.78, 19.0, 5.4, 9}, "NVIDIA A10G data sheet")),
            {"nvidia-a10g", "a10g-24gb"}, {kReported, kBorrowed, kBorrowed}),
      entry(int8_only(accelerator("a100-40gb", 39.39 * kGib, {1.555, 312.0, 624.0},
                                  {0.61, 0.65, 180.0, 5.0, 18},
                                  "NVIDIA A100 data sheet (SXM4, 40 GB)")),
            {"a100-40gb-sxm", "a100-sxm4-40gb"}, {kReported, kBorrowed, kBorrowed}),
      entry(int8_only(accelerator("a100-80gb", 79.25 * kGib, {2.039, 312.0, 624.0},
                                  {0.61, 0.65, 180.0, 5.0, 18},
                                  "NVIDIA A100 data sheet (SXM4, 80 GB)")),
            {"a100", "a100-sxm", "a100-80gb-sxm", "a100-sxm4-80gb"},
            {kReported, kMeasured, kMeasured}),
      entry(int8_only(accelerator("a100-80gb-pcie", 79.25 * kGib, {1.935, 312.0, 624.0},
                                  {0.55, 0.65, 19.0, 5.4, 9},
                                  "NVIDIA A100 data sheet (PCIe, 80 GB)")),
            {"a100-pcie"}, {kReported, kBorrowed, kBorrowed}),
      entry(accelerator("l4", 22.03 * kGib, {0.300, 121.0, 242.0}, {0.45, 0.78, 19.0, 5.4, 9},
                        "NVIDIA L4 data sheet"),
            {"nvidia-l4"}, {kReported, kBorrowed, kBorrowed}),
      entry(accelerator("l40s", 44.40 * kGib, {0.864, 362.05, 733.0}, {0.52, 0.78, 19.0, 5.4, 9},
                        "NVIDIA L40S data sheet"),
            {"l40s-48gb", "nvidia-l40s"}, {kReported, kMeasured, kMeasured}),
      entry(
          accelerator("rtx-4090", 25250627584.0, {1.008, 165.2, 330.3}, {0.80, 0.85, 10.0, 5.4, 9},
                      "NVIDIA Ada architecture white paper (GeForce RTX 4090)"),
          {"rtx4090", "4090", "geforce-rtx-4090"}, {kReported, kMeasured, kBorrowed}),
      entry(accelerator("h100-pcie", 79.18 * kGib, {2.000, 756.0, 1513.0},
                        {0.55, 0.75, 38.0, 5.4, 9}, "NVIDIA H100 data sheet (PCIe, 80 GB)"),
            {"h100-pcie-80gb"}, {kReported, kBorrowed, kBorrowed}),
      entry(accelerator("h100-sxm", 79.18 * kGib, {3.350, 989.4, 1978.9},
                        {0.58, 0.73, 290.0, 4.5, 36}, "NVIDIA H100 data sheet (SXM5, 80 GB)"),
            {"h100", "h100-80gb", "h100-sxm-80gb", "h100-sxm5"}, {kReported, kMeasured, kMeasured}),
      entry(accelerator("h200", 139.81 * kGib, {4.800, 989.4, 1978.9}, {0.58, 0.63, 300.0, 4.5, 36},
                        "NVIDIA H200 data sheet (SXM5, 141 GB)"),
            {"h200-sxm", "h200-141gb"}, {kReported, kMeasured, kMeasured}),
      entry(accelerator("mi300x", 191.98 * kGib, {5.300, 1307.4, 2614.9},
                        {0.40, 0.60, 220.0, 8.0, 36}, "AMD Instinct MI300X data sheet"),
            {"mi300x-192gb", "amd-mi300x"}, {kReported, kBorrowed, kBorrowed}),
      entry(accelerator("b200", 178.35 * kGib, {7.700, 2250.0, 4500.0},
                        {0.50, 0.60, 580.0, 4.5, 36}, "NVIDIA Blackwell data sheet (HGX B200)"),
            {"b200-sxm", "b200-180gb"}, {kReported, kBorrowed, kBorrowed}),
      entry(accelerator(
                "rtx-pro-6000", 94.97 * kGib, {1.792, 467.8, 935.6}, {0.70, 0.75, 38.0, 5.4, 9},
                "NVIDIA RTX PRO 6000 Blackwell Server Edition data sheet, at the 2430 MHz that "
                "it holds"),
            {"rtx-pro-6000-blackwell", "rtxpro6000", "rtx-pro-6000-server"},
            {kReported, kMeasured, kBorrowed}),
  };
}

}  // namespace

std::string_view provenance_name(Provenance provenance) {
  switch (provenance) {
    case Provenance::kReported:
      return "reported";
    case Provenance::kMeasured:
      return "measured";
    case Provenance::kBorrowed:
      return "borrowed";
  }
  return "";
}

const std::vector<CatalogAccelerator>& catalog_accelerators() {
  static const std::vector<CatalogAccelerator> accelerators = make_accelerators();
  return accelerators;
}

Result<HardwareSpec> find_accelerator(std::string_view name) {
  return find_by_name<HardwareSpec>(catalog_accelerators(), name, "hardware",
                                    "an inline description works too");
}

}  // namespace inferscale
