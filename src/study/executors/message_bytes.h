// Numbers, texts and records as bytes, for messages between ranks: all of them run one program on
// machines of one kind.

#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "base/check.h"
#include "study/run_once.h"

namespace inferscale {

template <typename T>
  requires std::is_trivially_copyable_v<T>
void put(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}
void put_text(std::string& out, std::string_view text);
void put_record(std::string& out, const std::optional<RunResult>& record);

// Reads what was put, in the same order. A message that ends early is a programming error.
class MessageReader {
 public:
  explicit MessageReader(std::string_view bytes) : rest_(bytes) {}
  bool at_end() const { return rest_.empty(); }
  template <typename T>
    requires std::is_trivially_copyable_v<T>
  T take() {
    T value;
    const std::string_view bytes = take_bytes(sizeof value);
    std::copy(bytes.begin(), bytes.end(), reinterpret_cast<char*>(&value));
    return value;
  }
  std::string_view take_text() { return take_bytes(take<std::uint32_t>()); }
  std::optional<RunResult> take_record();

 private:
  std::string_view take_bytes(std::size_t size) {
    CHECK(rest_.size() >= size) << "a message that is cut off";
    const std::string_view bytes = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return bytes;
  }
  std::string_view rest_;
};

}  // namespace inferscale
