// The right of one attempt to be served: taken at the door, given back exactly once.
//
// Move-only. It ends by finish(), ignore() or drop(); a permit that is destroyed before is dropped,
// so no way out of a handler leaks a place. Safe to end from any thread; one thread at a time uses
// one permit. The gate outlives its permits.

#pragma once

#include <cstdint>
#include <utility>

#include "base/time.h"
#include "core/request.h"

namespace inferscale {

class AdmissionGate;

class Permit {
 public:
  Permit() = default;
  Permit(AdmissionGate* gate, std::uint64_t ticket) : gate_(gate), ticket_(ticket) {}
  Permit(Permit&& other) noexcept
      : gate_(std::exchange(other.gate_, nullptr)), ticket_(other.ticket_) {}
  Permit& operator=(Permit&& other) noexcept;
  Permit(const Permit&) = delete;
  Permit& operator=(const Permit&) = delete;
  ~Permit() { drop_now(); }

  bool is_held() const { return gate_ != nullptr; }
  // Handed to a replica; may be called again when it is tried on another one.
  void dispatched(std::uint32_t replica, Instant now);
  void first_token(Instant now);
  // The endings. REQUIRES: is_held(). `output_tokens`: that it generated.
  void finish(TokenCount output_tokens, Instant now);
  void ignore(Instant now);
  void drop(Instant now);

 private:
  void drop_now() noexcept;
  AdmissionGate* gate_ = nullptr;
  std::uint64_t ticket_ = 0;
};

}  // namespace inferscale
