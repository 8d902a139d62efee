#include "base/random.h"

#include "base/check.h"

namespace inferscale {

std::uint64_t stable_hash(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (char c : text) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 0x100000001b3;
  }
  return hash;
}

std::uint64_t SplitMix64::next() {
  state_ += 0x9e3779b97f4a7c15;
  std::uint64_t mixed = state_;
  mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
  mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
  return mixed ^ (mixed >> 31);
}

RandomStream::RandomStream(std::uint64_t run_seed, std::string_view name) {
  // The seed is mixed before the name's hash joins it: neighbouring seeds and similar names must
  // not lead to neighbouring keys.
  SplitMix64 words(SplitMix64(run_seed).next() ^ stable_hash(name));
  for (std::uint64_t& word : state_) word = words.next();
}

RandomStream RandomStream::from_state(const std::array<std::uint64_t, 4>& state) {
  CHECK((state[0] | state[1] | state[2] | state[3]) != 0) << "an all-zero state yields only zeros";
  return RandomStream(state);
}

std::uint64_t RandomStream::below(std::uint64_t bound) {
  CHECK(bound > 0) << "no number is below 0";
  // Numbers under the threshold are drawn again: what remains is a whole multiple of `bound`.
  const std::uint64_t threshold = (0 - bound) % bound;
  std::uint64_t bits = next();
  while (bits < threshold) bits = next();
  return bits % bound;
}

}  // namespace inferscale
