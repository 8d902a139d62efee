// The lock of a gate: a mutex, or nothing where there are no threads (WebAssembly).

#pragma once

#ifndef __wasm__
#include <mutex>
#endif

namespace inferscale {

#ifdef __wasm__
struct GateLock {};
class GateGuard {
 public:
  explicit GateGuard(GateLock& /*lock*/) {}
};
#else
using GateLock = std::mutex;
using GateGuard = std::lock_guard<std::mutex>;
#endif

}  // namespace inferscale
