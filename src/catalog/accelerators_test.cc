// The accelerator table against measurements that are not in it.

#include "catalog/accelerators.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "catalog/models.h"
#include "catalog/name_lookup.h"

namespace inferscale {
namespace {

TEST(Accelerators, FiguresAreSaneAndNamesUnique) {
  std::set<std::string> seen;
  for (const CatalogAccelerator& entry : catalog_accelerators()) {
    const HardwareSpec& hardware = entry.spec;
    EXPECT_TRUE(seen.insert(lower_case(hardware.name)).second) << hardware.name;
    for (const std::string& alias : entry.aliases) {
      EXPECT_TRUE(seen.insert(lower_case(alias)).second) << alias;
    }
    EXPECT_FALSE(hardware.source.empty()) << hardware.name;
    // No accelerator reads all its memory in less than 10 ms or more than 100 ms.
    const double sweep = hardware.memory_bytes / hardware.memory_bandwidth;
    EXPECT_GT(sweep, 0.010) << hardware.name;
    EXPECT_LT(sweep, 0.100) << hardware.name;
    // 8-bit products run at twice the 16-bit rate on all of these.
    EXPECT_NEAR(hardware.flops_8bit / hardware.flops_16bit, 2.0, 0.03) << hardware.name;
    for (const double part : {hardware.compute_efficiency, hardware.memory_efficiency}) {
      EXPECT_GE(part, 0.3) << hardware.name;
      EXPECT_LE(part, 0.9) << hardware.name;
    }
    EXPECT_GT(hardware.link_bandwidth, 0) << hardware.name;
    EXPECT_GT(hardware.node_link_bandwidth, 0) << hardware.name;
    EXPECT_LE(hardware.node_link_bandwidth, hardware.link_bandwidth) << hardware.name;
    EXPECT_GE(hardware.node_link_latency_s, hardware.link_latency_s) << hardware.name;
  }
  EXPECT_GE(catalog_accelerators().size(), 10u);
}

// One decode step at low load reads the weights and the KV cache of what runs, and pays the host.
// Measured: ms for each token of Llama-3.1-8B in vLLM (docs/catalog.md names the runs). The
// embedding is looked up, not read; a running sequence holds about 700 tokens in those runs.
TEST(Accelerators, LowLoadDecodeIsWithinFivePercentOfMeasured) {
  struct Row {
    const char* hardware;
    double running;
    double measured_ms;
  };
  const ModelSpec model = *find_model("llama-3.1-8b");
  const double weights =
      2.0 * static_cast<double>(model.total_parameters() - model.embedding_parameters());
  for (const auto& [name, running, measured_ms] :
       {Row{"h100-sxm", 1, 7.13}, Row{"h100-pcie", 1, 10.6}, Row{"a100-80gb", 8, 12.8},
        Row{"rtx-4090", 1, 19.3}, Row{"l40s", 16, 26.5}}) {
    const HardwareSpec hardware = *find_accelerator(name);
    const double bytes = weights + running * 700 * 131072;
    const double step_ms = 1e3 * (bytes / (hardware.memory_bandwidth * hardware.memory_efficiency) +
                                  hardware.step_overhead_s);
    EXPECT_LT(std::abs(step_ms / measured_ms - 1), 0.05) << name << ": " << step_ms;
  }
}

TEST(Accelerators, FoundByNameAndAliasWhateverTheCase) {
  EXPECT_EQ(find_accelerator("H100-SXM")->name, "h100-sxm");
  EXPECT_EQ(find_accelerator("h100")->name, "h100-sxm");
  EXPECT_EQ(find_accelerator("A100")->name, "a100-80gb");
}

TEST(Accelerators, UnknownNameGetsTheNearestOneAndTheHint) {
  const auto hardware = find_accelerator("h100-sxn");
  ASSERT_FALSE(hardware);
  EXPECT_TRUE(hardware.error().message.starts_with(
      "unknown hardware 'h100-sxn': did you mean 'h100-sxm'? an inline description works too; "
      "known: a10g, "))
      << hardware.error().message;
}

}  // namespace
}  // namespace inferscale
