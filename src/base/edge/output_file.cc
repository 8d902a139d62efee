#include "base/edge/output_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "base/check.h"

namespace inferscale {
namespace {

constexpr std::size_t kBufferBytes = 256 * 1024;
constexpr mode_t kMode = 0666;  // less the user's umask

std::unexpected<Error> refused(const std::string& path, const char* what, int error_number) {
  const ErrorCode code = error_number == ENOENT ? ErrorCode::kNotFound : ErrorCode::kIo;
  return fail(code, std::string(what) + ": " + std::generic_category().message(error_number), path);
}

// The file that `path` names once its symbolic links are followed; `path` when there is none yet.
std::string followed(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_symlink(path, error)) return path;
  const std::filesystem::path target = std::filesystem::canonical(path, error);
  return error ? path : target.string();
}

// The part of `path` that exists and is not a folder, if one is in the way.
std::optional<std::string> file_in_the_way(const std::filesystem::path& path) {
  std::filesystem::path step;
  for (const std::filesystem::path& part : path) {
    step /= part;
    std::error_code error;
    const std::filesystem::file_status status = std::filesystem::status(step, error);
    if (std::filesystem::exists(status) && !std::filesystem::is_directory(status)) {
      return step.string();
    }
  }
  return std::nullopt;
}

// 0: locked.
int lock_error(int descriptor, int operation) {
  while (::flock(descriptor, operation) != 0) {
    if (errno != EINTR) return errno;
  }
  return 0;
}

}  // namespace

Result<void> make_folder(const std::string& path) {
  if (path.empty()) return fail(ErrorCode::kIo, "expected the name of a folder");
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (!error && std::filesystem::is_directory(path, error)) return {};
  if (const std::optional<std::string> file = file_in_the_way(path)) {
    return fail(ErrorCode::kIo, "cannot make the folder: '" + *file + "' is a file", path);
  }
  return fail(ErrorCode::kIo, "cannot make the folder: " + error.message(), path);
}

Result<std::optional<FolderLock>> FolderLock::lock(const std::string& folder, int operation) {
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return refused(folder, "cannot be opened", errno);
  FolderLock lock(descriptor);
  int error = lock_error(descriptor, operation);
  if (error == EBADF || error == EOPNOTSUPP || error == ENOLCK) {
    const std::string file = folder + "/.lock";
    const int in_folder = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, kMode);
    if (in_folder < 0) return refused(file, "cannot be created", errno);
    ::close(std::exchange(lock.descriptor_, in_folder));
    error = lock_error(in_folder, operation);
  }
  if (error == EWOULDBLOCK) return std::nullopt;
  if (error != 0) return refused(folder, "cannot be locked", error);
  return lock;
}

Result<FolderLock> FolderLock::take(const std::string& folder) {
  Result<std::optional<FolderLock>> taken = lock(folder, LOCK_EX);
  if (!taken) return std::unexpected(taken.error());
  return std::move(**taken);
}

Result<std::optional<FolderLock>> FolderLock::try_take(const std::string& folder) {
  return lock(folder, LOCK_EX | LOCK_NB);
}

FolderLock::~FolderLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

struct OutputFile::State {
  explicit State(std::string name) : path(std::move(name)) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() { give_up(); }

  Result<void> flush();
  std::unexpected<Error> failed(const char* what, int error_number);
  // Closes, and removes what is not whole.
  void give_up();

  std::string path;     // as the caller named it
  std::string target;   // what finish() replaces
  std::string partial;  // empty: written directly
  int descriptor = -1;
  std::string buffer;
  std::optional<Error> error;
};

void OutputFile::State::give_up() {
  if (descriptor >= 0) ::close(descriptor);
  descriptor = -1;
  if (!partial.empty()) ::unlink(partial.c_str());
  partial.clear();
}

std::unexpected<Error> OutputFile::State::failed(const char* what, int error_number) {
  std::unexpected<Error> result = refused(path, what, error_number);
  error = result.error();
  give_up();
  return result;
}

Result<void> OutputFile::State::flush() {
  std::string_view rest = buffer;
  while (!rest.empty()) {
    const ssize_t count = ::write(descriptor, rest.data(), rest.size());
    if (count >= 0) {
      rest.remove_prefix(static_cast<std::size_t>(count));
    } else if (errno != EINTR) {
      return failed("cannot be written", errno);
    }
  }
  buffer.clear();
  return {};
}

Result<OutputFile> OutputFile::create(const std::string& path) {
  auto state = std::make_unique<State>(path);
  state->target = followed(path);
  struct stat status = {};
  const bool exists = ::stat(state->target.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) {
    return fail(ErrorCode::kIo, "is a folder: expected the name of a file", path);
  }
  std::string opened = state->target;
  if (!exists || S_ISREG(status.st_mode)) opened += ".partial";
  state->descriptor = ::open(opened.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, kMode);
  if (state->descriptor < 0) return refused(path, "cannot be created", errno);
  if (opened != state->target) state->partial = opened;
  return OutputFile(std::move(state));
}

Result<void> OutputFile::append(std::string_view text) {
  State& state = *state_;
  if (state.error) return std::unexpected(*state.error);
  CHECK(state.descriptor >= 0) << "append() after finish(): " << state.path;
  state.buffer.append(text);
  return state.buffer.size() < kBufferBytes ? Result<void>() : state.flush();
}

// No fsync: what a power cut takes away, a run with the same seed writes again.
Result<void> OutputFile::finish() {
  State& state = *state_;
  if (state.error) return std::unexpected(*state.error);
  CHECK(state.descriptor >= 0) << "finish() twice: " << state.path;
  if (Result<void> flushed = state.flush(); !flushed) return flushed;
  // File systems that write late (network, quota) tell so here.
  const int closed = ::close(state.descriptor);
  state.descriptor = -1;
  if (closed != 0) return state.failed("cannot be written", errno);
  if (state.partial.empty()) return {};
  if (std::rename(state.partial.c_str(), state.target.c_str()) != 0) {
    return state.failed("cannot be put in place", errno);
  }
  state.partial.clear();
  return {};
}

const std::string& OutputFile::path() const {
  return state_->path;
}

OutputFile::OutputFile(std::unique_ptr<State> state) : state_(std::move(state)) {}
OutputFile::OutputFile(OutputFile&&) noexcept = default;
OutputFile& OutputFile::operator=(OutputFile&&) noexcept = default;
OutputFile::~OutputFile() = default;

Result<void> write_file(const std::string& path, std::string_view text) {
  Result<OutputFile> file = OutputFile::create(path);
  if (!file) return std::unexpected(file.error());
  if (Result<void> appended = file->append(text); !appended) return appended;
  return file->finish();
}

}  // namespace inferscale
