// Named streams of random numbers.
//
// A run has one seed. Each consumer (arrivals, prompt lengths, ...) draws from a stream of its own,
// derived from the seed and the stream's name, so that a feature that starts to draw never shifts
// the numbers that another one sees. The same seed and name give the same numbers on every machine.
//
// Generator: xoshiro256++ 1.0 (D. Blackman and S. Vigna, "Scrambled linear pseudorandom number
// generators", ACM TOMS 47(4) 2021): 256 bits of state, period 2^256 - 1, about 1 ns a number. The
// state is filled by SplitMix64 from a 64-bit key, so two of a run's streams overlap with a
// probability of about 2^-64.

#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace inferscale {

// A 64-bit hash of text that never changes: FNV-1a.
std::uint64_t stable_hash(std::string_view text);

// A generator with 64 bits of state, good for spreading a seed over larger states (G. Steele,
// D. Lea, C. Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014).
class SplitMix64 {
 public:
  explicit SplitMix64(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next();

 private:
  std::uint64_t state_;
};

class RandomStream {
 public:
  RandomStream(std::uint64_t run_seed, std::string_view name);
  // REQUIRES: not all words are zero.
  static RandomStream from_state(const std::array<std::uint64_t, 4>& state);

  // 64 random bits.
  std::uint64_t next() {
    const std::uint64_t result = rotate(state_[0] + state_[3], 23) + state_[0];
    const std::uint64_t shifted = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = rotate(state_[3], 45);
    return result;
  }

  // Uniform in (0, 1), never 0 and never 1: one of the 2^52 odd multiples of 2^-53.
  double uniform() { return (static_cast<double>(next() >> 12) + 0.5) * 0x1p-52; }

  // Uniform in {0, ..., bound - 1}, without bias. REQUIRES: bound > 0.
  std::uint64_t below(std::uint64_t bound);

 private:
  explicit RandomStream(const std::array<std::uint64_t, 4>& state) : state_(state) {}
  static constexpr std::uint64_t rotate(std::uint64_t value, int bits) {
    return (value << bits) | (value >> (64 - bits));
  }

  std::array<std::uint64_t, 4> state_;
};

}  // namespace inferscale
