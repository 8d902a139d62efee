// For tests of the program from outside: runs it as a user's shell would, in a folder of its own.

#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace inferscale {

namespace fs = std::filesystem;

struct Ended {
  int code = -1;
  std::string out;
  std::string err;
};

inline std::string text_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// A folder of its own for each test, removed at its end; commands run inside it.
class Cli : public testing::Test {
 protected:
  Cli() {
    std::string pattern = (fs::temp_directory_path() / "cli_test.XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  ~Cli() override { fs::remove_all(folder_); }

  void write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name, std::ios::binary) << text;
  }
  // `line` is what a user types after "inferscale", for a shell.
  Ended run(const std::string& line) {
    const std::string command = "cd '" + folder_.string() + "' && '" INFERSCALE_BINARY "' " + line +
                                " >.out 2>.err </dev/null";
    const int status = std::system(command.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, text_of(folder_ / ".out"),
            text_of(folder_ / ".err")};
  }
  void expect_error(const std::string& line, const std::string& part) {
    const Ended ended = run(line);
    EXPECT_EQ(ended.code, 2) << line;
    EXPECT_NE(ended.err.find(part), std::string::npos) << line << "\n" << ended.err;
    EXPECT_EQ(std::count(ended.err.begin(), ended.err.end(), '\n'), 1) << line << "\n" << ended.err;
    EXPECT_EQ(ended.out, "") << line;
  }

  fs::path folder_;
};

}  // namespace inferscale
