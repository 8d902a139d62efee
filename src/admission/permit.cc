#include "admission/permit.h"

#include "admission/gate.h"
#include "base/check.h"

namespace inferscale {

Permit& Permit::operator=(Permit&& other) noexcept {
  if (this == &other) return *this;
  drop_now();
  gate_ = std::exchange(other.gate_, nullptr);
  ticket_ = other.ticket_;
  return *this;
}

void Permit::dispatched(std::uint32_t replica, Instant now) {
  CHECK(is_held()) << "a permit that has ended";
  gate_->dispatched(ticket_, replica, now);
}

void Permit::first_token(Instant now) {
  CHECK(is_held()) << "a permit that has ended";
  gate_->first_token(ticket_, now);
}

void Permit::finish(TokenCount output_tokens, Instant now) {
  CHECK(is_held()) << "a permit that has ended";
  std::exchange(gate_, nullptr)->end(ticket_, PermitEnd::kFinished, output_tokens, now);
}

void Permit::ignore(Instant now) {
  CHECK(is_held()) << "a permit that has ended";
  std::exchange(gate_, nullptr)->end(ticket_, PermitEnd::kIgnored, 0, now);
}

void Permit::drop(Instant now) {
  CHECK(is_held()) << "a permit that has ended";
  std::exchange(gate_, nullptr)->end(ticket_, PermitEnd::kDropped, 0, now);
}

void Permit::drop_now() noexcept {
  if (gate_ == nullptr) return;
  std::exchange(gate_, nullptr)->end(ticket_, PermitEnd::kDropped, 0, std::nullopt);
}

}  // namespace inferscale
