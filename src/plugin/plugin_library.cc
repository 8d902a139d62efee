#include "plugin/plugin_library.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string_view>

#include "base/number_text.h"
#include "plugin/plugin_policy.h"

namespace inferscale {
namespace {

constexpr std::string_view kFine = "fine\n";
constexpr std::chrono::milliseconds kSlice{5};
constexpr std::size_t kMostReport = 4096;

std::unexpected<Error> refuse(const std::string& path, std::string message) {
  return fail(ErrorCode::kInvalidInput, "plug-in: " + std::move(message), path);
}

void write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

// While it lives, what is written to standard output goes to standard error: tables and JSON are
// not to be mixed with what a plug-in says while it is loaded.
class QuietOutput {
 public:
  QuietOutput() {
    std::fflush(nullptr);
    saved_ = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    ::dup2(STDERR_FILENO, STDOUT_FILENO);
  }
  QuietOutput(const QuietOutput&) = delete;
  QuietOutput& operator=(const QuietOutput&) = delete;
  ~QuietOutput() {
    std::fflush(nullptr);
    ::dup2(saved_, STDOUT_FILENO);
    ::close(saved_);
  }

 private:
  int saved_ = -1;
};

// The child's side between fork and exec: only what is safe there.
[[noreturn]] void become_probe(int report, char* const* arguments) {
  ::setpgid(0, 0);
  const rlimit no_core{};
  ::setrlimit(RLIMIT_CORE, &no_core);
  const int nothing = ::open("/dev/null", O_RDWR);
  if (nothing >= 0) {
    ::dup2(nothing, STDIN_FILENO);
    ::dup2(nothing, STDERR_FILENO);
  }
  ::dup2(report, STDOUT_FILENO);
  ::execv(arguments[0], arguments);
  ::_exit(127);
}

struct Child {
  pid_t id = -1;
  int report = -1;  // the end that is read
};

std::optional<Child> start(const ProbeCommand& command, const std::string& path) {
  std::vector<std::string> words = {command.program};
  words.insert(words.end(), command.arguments.begin(), command.arguments.end());
  words.push_back(path);
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return std::nullopt;
  const pid_t id = ::fork();
  if (id == 0) become_probe(ends[1], arguments.data());
  ::close(ends[1]);
  if (id < 0) {
    ::close(ends[0]);
    return std::nullopt;
  }
  ::setpgid(id, id);  // as the child does: whichever comes first
  ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
  return Child{id, ends[0]};
}

void take_report(int descriptor, std::string& report) {
  std::array<char, 512> part;
  for (;;) {
    const ssize_t count = ::read(descriptor, part.data(), part.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return;
    if (report.size() < kMostReport) report.append(part.data(), static_cast<std::size_t>(count));
  }
}

// How the child ended; nothing when it had to be stopped. Time is counted in slices, so that no
// clock is read.
std::optional<int> wait_for(const Child& child, std::chrono::milliseconds timeout,
                            std::string& report) {
  std::optional<int> ended;
  for (std::chrono::milliseconds waited{0}; waited < timeout; waited += kSlice) {
    int status = 0;
    if (::waitpid(child.id, &status, WNOHANG) == child.id) {
      ended = status;
      break;
    }
    ::poll(nullptr, 0, static_cast<int>(kSlice.count()));
    take_report(child.report, report);
  }
  ::kill(-child.id, SIGKILL);  // the child, and whatever it started
  if (!ended) {
    int status = 0;
    while (::waitpid(child.id, &status, 0) < 0 && errno == EINTR) {
    }
  }
  take_report(child.report, report);
  ::close(child.report);
  return ended;
}

std::string signal_text(int number) {
  const char* name = ::sigabbrev_np(number);
  return name != nullptr ? "SIG" + std::string(name) : "signal " + std::to_string(number);
}

}  // namespace

Result<PluginTable> open_plugin(const std::string& path) {
  // A path without a slash would be looked for in the system's folders.
  const std::string file = path.find('/') == std::string::npos ? "./" + path : path;
  const QuietOutput quiet;
  void* library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* why = ::dlerror();
    return refuse(path, "can't be loaded: " + std::string(why != nullptr ? why : "no reason"));
  }
  void* symbol = ::dlsym(library, INFERSCALE_POLICY_PLUGIN_SYMBOL);
  if (symbol == nullptr) {
    return refuse(path, "exports no function " INFERSCALE_POLICY_PLUGIN_SYMBOL);
  }
  // POSIX has functions and objects share their representation.
  const auto function = reinterpret_cast<inferscale_policy_plugin_function>(symbol);
  return check_plugin_table(function(), path);
}

void report_probe(const std::string& path) {
  const int report = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  ::dup2(STDERR_FILENO, STDOUT_FILENO);
  const Result<PluginTable> table = open_plugin(path);
  Result<void> tried;
  if (table) tried = try_plugin(*table);
  if (!table) {
    write_all(report, table.error().message);
  } else {
    write_all(report, tried ? kFine : std::string_view(tried.error().message));
  }
}

Result<void> probe_plugin(const ProbeCommand& command, const std::string& path) {
  const std::optional<Child> child = start(command, path);
  if (!child) return fail(ErrorCode::kIo, "plug-in: no process to try it in", path);
  std::string report;
  const std::optional<int> status = wait_for(*child, command.timeout, report);
  if (!status) {
    return refuse(path, "was not loaded within " +
                            number_text(static_cast<double>(command.timeout.count()) / 1000) +
                            " s");
  }
  if (WIFSIGNALED(*status)) {
    return refuse(path,
                  "crashed while it was loaded and tried (" + signal_text(WTERMSIG(*status)) + ")");
  }
  if (report == kFine) return {};
  if (report.empty()) {
    return refuse(path, "ended the process while it was loaded and tried (exit code " +
                            std::to_string(WEXITSTATUS(*status)) + ")");
  }
  return fail(ErrorCode::kInvalidInput, report, path);
}

}  // namespace inferscale
