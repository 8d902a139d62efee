#include "study/executors/run_journal.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <fstream>
#include <system_error>
#include <utility>

namespace inferscale {
namespace {

std::unexpected<Error> refused(const std::string& path, const char* what) {
  return fail(ErrorCode::kIo, std::string(what) + ": " + std::generic_category().message(errno),
              path);
}

// Where the last whole line of the file ends.
Result<std::int64_t> end_of_lines(const std::string& path, int descriptor, std::int64_t size) {
  std::array<char, 4096> block{};
  while (size > 0) {
    const auto length = std::min(size, static_cast<std::int64_t>(block.size()));
    const ssize_t count =
        ::pread(descriptor, block.data(), static_cast<std::size_t>(length), size - length);
    if (count != length) return refused(path, "cannot be read");
    const std::string_view text(block.data(), static_cast<std::size_t>(length));
    const std::size_t end = text.rfind('\n');
    if (end != std::string_view::npos) {
      return size - length + static_cast<std::int64_t>(end) + 1;
    }
    size -= length;
  }
  return 0;
}

}  // namespace

Result<std::vector<KeptRun>> read_journal(const std::string& path) {
  std::vector<KeptRun> runs;
  std::ifstream file(path, std::ios::binary);
  std::string line;
  for (std::int64_t number = 1; std::getline(file, line) && !file.eof(); ++number) {
    Result<KeptRun> run = parse_run_line(line, path, number);
    if (!run) return std::unexpected(run.error());
    runs.push_back(std::move(*run));
  }
  if (file.bad()) return fail(ErrorCode::kIo, "cannot be read", path);
  return runs;
}

Result<RunJournal> RunJournal::open(const std::string& path) {
  constexpr mode_t kMode = 0666;  // less the user's umask
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, kMode);
  if (descriptor < 0) return refused(path, "cannot be opened");
  RunJournal journal(path, descriptor, 0);
  struct stat status = {};
  if (::fstat(descriptor, &status) != 0) return refused(path, "cannot be read");
  const Result<std::int64_t> end = end_of_lines(path, descriptor, status.st_size);
  if (!end) return std::unexpected(end.error());
  if (*end != status.st_size && ::ftruncate(descriptor, *end) != 0) {
    return refused(path, "cannot be written");
  }
  journal.size_ = *end;
  return journal;
}

RunJournal::RunJournal(RunJournal&& other) noexcept
    : path_(std::move(other.path_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      size_(other.size_) {}

RunJournal& RunJournal::operator=(RunJournal&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(descriptor_, other.descriptor_);
  std::swap(size_, other.size_);
  return *this;
}

RunJournal::~RunJournal() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Result<void> RunJournal::append(std::string_view line) {
  std::string_view rest = line;
  while (!rest.empty()) {
    const ssize_t count = ::write(descriptor_, rest.data(), rest.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      const std::unexpected<Error> error = refused(path_, "cannot be written");
      // If even this fails, the next reader drops the line.
      static_cast<void>(::ftruncate(descriptor_, size_) == 0);
      return error;
    }
    rest.remove_prefix(static_cast<std::size_t>(count));
  }
  size_ += static_cast<std::int64_t>(line.size());
  return {};
}

}  // namespace inferscale
