// Any bytes as a trace file: lines come out or an error does, the same lines as reading the whole
// file at once gives, and nothing hangs.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/edge/input_file.h"
#include "base/edge/output_file.h"

namespace inferscale {
namespace {

void read_both_ways(const std::string& path) {
  constexpr std::uint64_t kMostBytes = 1 << 24;
  const Result<std::string> whole = read_file(path, kMostBytes);
  Result<LineReader> reader = LineReader::open(path);
  CHECK(reader) << reader.error().to_string();
  std::string line;
  std::size_t bytes = 0;
  while (true) {
    const Result<bool> more = reader->next(line);
    if (!more) return;
    if (!*more) break;
    bytes += line.size();
    CHECK(line.find('\n') == std::string::npos);
    if (bytes > kMostBytes) return;
  }
  CHECK(whole) << "every line was read, the file was not: " << whole.error().to_string();
  CHECK(bytes <= whole->size());
}

}  // namespace
}  // namespace inferscale

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace inferscale;
  const std::string path = "gzip_fuzz.input";  // in the folder that fuzz/run works in
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  CHECK(write_file(path, bytes));
  read_both_ways(path);
  return 0;
}
