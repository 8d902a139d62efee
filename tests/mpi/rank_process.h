// For tests: a command in the background whose ranks can be found and killed.

#pragma once

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

namespace inferscale {

class RankProcess {
 public:
  // `line` is for a shell, which becomes the command: it begins with "exec".
  RankProcess(const std::string& folder, const std::string& line) {
    pid_ = ::fork();
    if (pid_ != 0) return;
    if (::chdir(folder.c_str()) != 0) ::_exit(1);
    ::execl("/bin/sh", "sh", "-c", line.c_str(), nullptr);
    ::_exit(1);
  }
  RankProcess(const RankProcess&) = delete;
  RankProcess& operator=(const RankProcess&) = delete;
  ~RankProcess() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGTERM);
    wait();
  }

  void signal(int number) const { ::kill(pid_, number); }
  // Whether a rank was found and killed. Ranks are children of mpirun.
  bool kill_rank(int rank, int number) const {
    const std::string mark = "OMPI_COMM_WORLD_RANK=" + std::to_string(rank);
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
      const std::string name = entry.path().filename().string();
      if (name.find_first_not_of("0123456789") != std::string::npos) continue;
      if (parent_of(entry.path()) != std::to_string(pid_)) continue;
      const std::string environment = '\0' + file_text(entry.path() / "environ");
      if (environment.find('\0' + mark + '\0') == std::string::npos) continue;
      return ::kill(static_cast<pid_t>(std::stol(name)), number) == 0;
    }
    return false;
  }
  // The exit code; -1: ended by a signal.
  int wait() {
    int status = 0;
    ::waitpid(pid_, &status, 0);
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  static std::string file_text(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  static std::string parent_of(const std::filesystem::path& process) {
    const std::string status = file_text(process / "status");
    constexpr std::string_view kKey = "\nPPid:\t";
    const std::size_t at = status.find(kKey);
    if (at == std::string::npos) return {};
    return status.substr(at + kKey.size(), status.find('\n', at + 1) - at - kKey.size());
  }

  pid_t pid_ = -1;
};

}  // namespace inferscale
