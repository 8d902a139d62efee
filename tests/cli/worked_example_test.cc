// docs/worked_example.md against the program: every command that it shows is run where the page
// says (in configs/), and every line that it shows of the answer has to come, in the order shown. A
// line "..." stands for lines that the page leaves out.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cli/program.h"

namespace inferscale {
namespace {

struct Shown {
  std::string command;
  std::vector<std::string> lines;
};

std::vector<Shown> shown_commands(const std::string& page) {
  std::vector<Shown> all;
  std::istringstream text(page);
  bool inside = false;
  for (std::string line; std::getline(text, line);) {
    constexpr std::string_view kPrompt = "$ inferscale ";
    if (line.starts_with("```")) {
      inside = !inside;
    } else if (inside && line.starts_with(kPrompt)) {
      all.push_back({line.substr(kPrompt.size()), {}});
    } else if (inside && !all.empty()) {
      all.back().lines.push_back(line);
    }
  }
  return all;
}

TEST_F(Cli, TheWorkedExampleIsWhatTheProgramPrints) {
  setenv("LC_ALL", "C.UTF-8", 1);
  fs::copy(INFERSCALE_SOURCE_DIR "/configs", folder_, fs::copy_options::recursive);
  const std::vector<Shown> all =
      shown_commands(text_of(INFERSCALE_SOURCE_DIR "/docs/worked_example.md"));
  EXPECT_GE(all.size(), 6u);
  for (const Shown& shown : all) {
    const Ended ended = run(shown.command);
    ASSERT_EQ(ended.code, 0) << shown.command << "\n" << ended.err;
    const std::string out = "\n" + ended.out;
    std::size_t at = 0;
    for (const std::string& line : shown.lines) {
      if (line == "...") continue;
      const std::size_t found = out.find("\n" + line + "\n", at);
      ASSERT_NE(found, std::string::npos)
          << shown.command << "\nhas no line (here)\n" << line << "\nin\n" << ended.out;
      at = found + line.size() + 1;
    }
  }
  unsetenv("LC_ALL");
}

}  // namespace
}  // namespace inferscale
