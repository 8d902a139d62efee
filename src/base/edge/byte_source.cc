#include "base/edge/byte_source.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <vector>

#include "base/check.h"

namespace inferscale {
namespace {

constexpr std::size_t kBufferBytes = 256 * 1024;
constexpr int kGzipWindowBits = 15 + 16;  // zlib's code for "gzip, not zlib, of any window size"

std::unexpected<Error> refused(const std::string& path, const char* what, int error_number) {
  const ErrorCode code = error_number == ENOENT ? ErrorCode::kNotFound : ErrorCode::kIo;
  return fail(code, std::string(what) + ": " + std::generic_category().message(error_number), path);
}

}  // namespace

struct ByteSource::State {
  explicit State(std::string file) : path(std::move(file)), input(kBufferBytes) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    if (gzip) inflateEnd(&stream);
    if (descriptor >= 0) ::close(descriptor);
  }

  // Fills `input` when it is used up; leaves it empty at the end of the file.
  Result<void> refill();
  Result<std::size_t> read_gzip(char* to, std::size_t size);

  std::string path;
  int descriptor = -1;
  std::vector<char> input;  // what was read of the file: [begin, end) is not used yet
  std::size_t begin = 0;
  std::size_t end = 0;
  bool gzip = false;
  bool in_member = true;  // inside a gzip member, so the file may not end here
  z_stream stream = {};   // zlib keeps its address: State never moves
};

Result<void> ByteSource::State::refill() {
  if (begin < end) return {};
  begin = end = 0;
  while (true) {
    const ssize_t count = ::read(descriptor, input.data(), input.size());
    if (count >= 0) {
      end = static_cast<std::size_t>(count);
      return {};
    }
    if (errno != EINTR) return refused(path, "cannot be read", errno);
  }
}

Result<std::size_t> ByteSource::State::read_gzip(char* to, std::size_t size) {
  while (true) {
    if (Result<void> more = refill(); !more) return std::unexpected(more.error());
    if (begin == end) {
      if (!in_member) return 0U;
      return fail(ErrorCode::kInvalidInput, "gzip data ends early: the file is cut off", path);
    }
    if (!in_member) {
      if (input[begin] == '\0') {
        ++begin;
        continue;
      }
      inflateReset(&stream);
      in_member = true;
    }
    stream.next_in = reinterpret_cast<Bytef*>(input.data() + begin);
    stream.avail_in = static_cast<uInt>(end - begin);
    stream.next_out = reinterpret_cast<Bytef*>(to);
    stream.avail_out = static_cast<uInt>(size);
    const int status = inflate(&stream, Z_NO_FLUSH);
    begin = end - stream.avail_in;
    if (status == Z_STREAM_END) in_member = false;
    if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR) {
      const char* why = stream.msg == nullptr ? zError(status) : stream.msg;
      return fail(ErrorCode::kInvalidInput, std::string("damaged gzip data: ") + why, path);
    }
    if (stream.avail_out < size) return size - stream.avail_out;
  }
}

Result<ByteSource> ByteSource::open(const std::string& path) {
  auto state = std::make_unique<State>(path);
  state->descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (state->descriptor < 0) return refused(path, "cannot be opened", errno);
  struct stat status = {};
  if (::fstat(state->descriptor, &status) != 0) return refused(path, "cannot be read", errno);
  if (S_ISDIR(status.st_mode)) {
    return fail(ErrorCode::kInvalidInput, "is a folder: expected a file", path);
  }
  if (Result<void> first = state->refill(); !first) return std::unexpected(first.error());
  if (state->end >= 2 && state->input[0] == '\x1f' && state->input[1] == '\x8b') {
    CHECK(inflateInit2(&state->stream, kGzipWindowBits) == Z_OK) << "zlib has no memory";
    state->gzip = true;
  }
  return ByteSource(std::move(state));
}

Result<std::size_t> ByteSource::read(char* to, std::size_t size) {
  CHECK(size > 0);
  State& state = *state_;
  constexpr std::size_t kMostAtOnce = 1U << 30;  // zlib counts in 32 bits
  if (state.gzip) return state.read_gzip(to, std::min(size, kMostAtOnce));
  if (Result<void> more = state.refill(); !more) return std::unexpected(more.error());
  const std::size_t count = std::min(size, state.end - state.begin);
  std::copy_n(state.input.data() + state.begin, count, to);
  state.begin += count;
  return count;
}

ByteSource::ByteSource(std::unique_ptr<State> state) : state_(std::move(state)) {}
ByteSource::ByteSource(ByteSource&&) noexcept = default;
ByteSource& ByteSource::operator=(ByteSource&&) noexcept = default;
ByteSource::~ByteSource() = default;

}  // namespace inferscale
