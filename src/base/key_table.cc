#include "base/key_table.h"

#include <utility>

#include "base/check.h"

namespace inferscale {
namespace {

constexpr std::size_t kFewestCells = 16;

}  // namespace

std::size_t KeyTable::home(std::uint64_t key) const {
  // Eight neighbouring keys share two cache lines, so dense keys that come in turn are found fast.
  // The lines are spread by the finaliser of MurmurHash3, whose high bits also turn the eight
  // around: keys that agree in their low bits don't pile up.
  std::uint64_t spread = key >> 3;
  spread ^= spread >> 33;
  spread *= 0xff51afd7ed558ccd;
  spread ^= spread >> 33;
  const std::uint64_t within = (key + (spread >> 61)) & 7;
  return static_cast<std::size_t>((spread << 3 | within) & (cells_.size() - 1));
}

std::size_t KeyTable::cell_of(std::uint64_t key) const {
  std::size_t cell = home(key);
  while (cells_[cell].place != kNone && cells_[cell].key != key) {
    cell = (cell + 1) & (cells_.size() - 1);
  }
  return cell;
}

std::uint32_t KeyTable::find(std::uint64_t key) const {
  return size_ == 0 ? kNone : cells_[cell_of(key)].place;
}

void KeyTable::rebuild(std::size_t cells) {
  std::vector<Cell> old(cells);
  std::swap(old, cells_);
  for (const Cell& cell : old) {
    if (cell.place != kNone) cells_[cell_of(cell.key)] = cell;
  }
}

void KeyTable::insert(std::uint64_t key, std::uint32_t place) {
  DCHECK(place != kNone) << "that place stands for none";
  if (cells_.empty()) rebuild(kFewestCells);
  if (size_ + 1 > cells_.size() / 4 * 3) rebuild(cells_.size() * 2);
  Cell& cell = cells_[cell_of(key)];
  CHECK(cell.place == kNone) << "the key " << key << " is in the table already";
  cell = {key, place};
  ++size_;
}

void KeyTable::erase(std::uint64_t key) {
  CHECK(size_ > 0) << "the table is empty";
  std::size_t hole = cell_of(key);
  CHECK(cells_[hole].place != kNone) << "the key " << key << " is not in the table";
  const std::size_t mask = cells_.size() - 1;
  for (std::size_t next = (hole + 1) & mask; cells_[next].place != kNone;
       next = (next + 1) & mask) {
    // A cell may move back into the hole unless its home lies behind the hole.
    const std::size_t from_home = (next - home(cells_[next].key)) & mask;
    if (from_home < ((next - hole) & mask)) continue;
    cells_[hole] = cells_[next];
    hole = next;
  }
  cells_[hole] = {};
  --size_;
}

}  // namespace inferscale
