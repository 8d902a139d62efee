#include "base/edge/input_file.h"

#include <zlib.h>

#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "base/edge/byte_source.h"

namespace inferscale {
namespace {

constexpr std::size_t kBufferBytes = 256 * 1024;
constexpr std::size_t kLongestLine = 16 * 1024 * 1024;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

}  // namespace

Result<std::string> read_file(const std::string& path, std::uint64_t max_bytes) {
  Result<ByteSource> source = ByteSource::open(path);
  if (!source) return std::unexpected(source.error());
  std::string content;
  std::vector<char> buffer(kBufferBytes);
  while (true) {
    const Result<std::size_t> count = source->read(buffer.data(), buffer.size());
    if (!count) return std::unexpected(count.error());
    if (*count == 0) return content;
    if (*count > max_bytes - content.size()) {
      return fail(ErrorCode::kInvalidInput,
                  "too large: expected at most " + std::to_string(max_bytes) + " bytes", path);
    }
    content.append(buffer.data(), *count);
  }
}

struct LineReader::State {
  State(std::string file, ByteSource bytes)
      : path(std::move(file)), source(std::move(bytes)), buffer(kBufferBytes) {}

  Result<bool> read_line(std::string& line);
  // Reads on when the buffer is used up; false at the end of the file.
  Result<bool> refill();
  Result<void> take(std::string& line, std::size_t count);
  std::uint32_t checksum_of_taken() const;
  std::unexpected<Error> broken(ErrorCode code, std::string message) const;

  std::string path;
  ByteSource source;
  std::vector<char> buffer;  // unpacked: [begin, end) is not used yet
  std::size_t begin = 0;
  std::size_t end = 0;
  std::int64_t line_number = 0;
  std::uint32_t checksum = 0;  // of everything before this buffer
  std::optional<Error> error;
};

std::unexpected<Error> LineReader::State::broken(ErrorCode code, std::string message) const {
  return fail(code, std::move(message), path + ":" + std::to_string(line_number + 1));
}

std::uint32_t LineReader::State::checksum_of_taken() const {
  const auto* taken = reinterpret_cast<const Bytef*>(buffer.data());
  return static_cast<std::uint32_t>(::crc32(checksum, taken, static_cast<uInt>(begin)));
}

Result<bool> LineReader::State::refill() {
  if (begin < end) return true;
  checksum = checksum_of_taken();
  begin = end = 0;
  const Result<std::size_t> count = source.read(buffer.data(), buffer.size());
  if (!count) return broken(count.error().code, count.error().message);
  end = *count;
  return end > 0;
}

// Moves `count` bytes from the buffer to the line.
Result<void> LineReader::State::take(std::string& line, std::size_t count) {
  const char* from = buffer.data() + begin;
  if (std::memchr(from, '\0', count) != nullptr) {
    return broken(ErrorCode::kInvalidInput, "a NUL byte: expected a text file in UTF-8");
  }
  if (count > kLongestLine - line.size()) {
    return broken(ErrorCode::kInvalidInput, "a line longer than 16 MiB: expected a text file");
  }
  line.append(from, count);
  begin += count;
  return {};
}

Result<bool> LineReader::State::read_line(std::string& line) {
  line.clear();
  bool any = false;
  while (true) {
    const Result<bool> more = refill();
    if (!more) return std::unexpected(more.error());
    if (!*more) return any;
    any = true;
    const void* found = std::memchr(buffer.data() + begin, '\n', end - begin);
    const char* stop = found == nullptr ? buffer.data() + end : static_cast<const char*>(found);
    const auto count = static_cast<std::size_t>(stop - (buffer.data() + begin));
    if (Result<void> taken = take(line, count); !taken) return std::unexpected(taken.error());
    if (found == nullptr) continue;
    ++begin;
    if (!line.empty() && line.back() == '\r') line.pop_back();
    return true;
  }
}

Result<LineReader> LineReader::open(const std::string& path) {
  Result<ByteSource> source = ByteSource::open(path);
  if (!source) return std::unexpected(source.error());
  return LineReader(std::make_unique<State>(path, std::move(*source)));
}

Result<bool> LineReader::next(std::string& line) {
  State& state = *state_;
  if (state.error) return std::unexpected(*state.error);
  Result<bool> got = state.read_line(line);
  if (!got) {
    state.error = got.error();
  } else if (*got) {
    if (++state.line_number == 1 && line.starts_with(kByteOrderMark)) {
      line.erase(0, kByteOrderMark.size());
    }
  }
  return got;
}

std::int64_t LineReader::line_number() const {
  return state_->line_number;
}
const std::string& LineReader::path() const {
  return state_->path;
}
std::uint32_t LineReader::crc32() const {
  return state_->checksum_of_taken();
}

LineReader::LineReader(std::unique_ptr<State> state) : state_(std::move(state)) {}
LineReader::LineReader(LineReader&&) noexcept = default;
LineReader& LineReader::operator=(LineReader&&) noexcept = default;
LineReader::~LineReader() = default;

}  // namespace inferscale
