// The catalogue of accelerators: published peaks, memory as the driver reports it, and the part of
// the peaks that large kernels reach. Sources and derivations: docs/catalog.md.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "catalog/hardware_spec.h"

namespace inferscale {

enum class Provenance : std::uint8_t {
  kReported,  // what a driver or engine printed
  kMeasured,  // derived from measurements of this accelerator
  kBorrowed,  // derived from measurements of a similar one
};

std::string_view provenance_name(Provenance provenance);

// Peaks (bandwidth, FLOP/s) are always published ones, dense.
struct CatalogAccelerator {
  HardwareSpec spec;
  std::vector<std::string> aliases;
  Provenance memory = Provenance::kReported;
  Provenance efficiency = Provenance::kMeasured;
  Provenance link = Provenance::kMeasured;
};

// In the order of the listing, oldest first.
const std::vector<CatalogAccelerator>& catalog_accelerators();

// By name or alias, case ignored. The error names the nearest name and lists all.
Result<HardwareSpec> find_accelerator(std::string_view name);

}  // namespace inferscale
