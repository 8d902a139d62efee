// An accelerator's published figures, and the efficiencies that make them achievable ones.

#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace inferscale {

struct HardwareSpec {
  std::string name;
  std::string source;           // where the figures come from
  double memory_bytes = 0;      // of one accelerator, as the driver reports it
  double memory_bandwidth = 0;  // bytes/s, peak
  double flops_16bit = 0;       // dense bf16/fp16 tensor FLOP/s, peak
  double flops_8bit = 0;        // dense fp8 (or int8) tensor FLOP/s, peak; 0: none, 16-bit is used
  bool int8_only = false;  // flops_8bit is an int8 rate; fp8 weights compute at the 16-bit rate
  // What collectives reach between the accelerators of a node, not the peak of the wires.
  double link_bandwidth = 0;  // bytes/s from one accelerator to the others of the node, one way
  double link_latency_s = 0;  // seconds for one message between two of them
  // A node is a machine whose accelerators reach each other over these links; between nodes it is:
  std::int64_t accelerators_per_node = 8;
  double node_link_bandwidth = 0;  // bytes/s from one accelerator to other nodes, one way
  double node_link_latency_s = 0;  // seconds for one message to another node
  // Fractions of the peaks that large kernels reach, and what each step costs beside its kernels.
  double compute_efficiency = 0;   // of flops_*
  double memory_efficiency = 0;    // of memory_bandwidth
  double step_overhead_s = 0;      // seconds a step: scheduling, launches, sampling
  double sequence_overhead_s = 0;  // seconds a step for each sequence in it
};

}  // namespace inferscale
