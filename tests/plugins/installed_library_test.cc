// The installed library, used by programs that know nothing of this project's build: configured,
// built and run in a folder of their own.

#include <gtest/gtest.h>

#include "cli/program.h"

namespace inferscale {
namespace {

class Installed : public Cli {
 protected:
  Ended shell(const std::string& line) {
    const std::string command =
        "cd '" + folder_.string() + "' && { " + line + "; } >.out 2>.err </dev/null";
    const int status = std::system(command.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, text_of(folder_ / ".out"),
            text_of(folder_ / ".err")};
  }
  void install() {
    const Ended ended = shell("cmake --install '" BUILD_FOLDER "' --component library --prefix '" +
                              folder_.string() + "/prefix'");
    ASSERT_EQ(ended.code, 0) << ended.out << ended.err;
  }
  void build_example(const std::string& name) {
    const Ended ended = shell("cmake -S '" INFERSCALE_SOURCE_DIR "/examples/" + name +
                              "' -B build -DCMAKE_CXX_COMPILER='" CXX_COMPILER
                              "' -DCMAKE_PREFIX_PATH=\"$PWD/prefix\" && cmake --build build");
    ASSERT_EQ(ended.code, 0) << ended.out << ended.err;
  }
};

TEST_F(Installed, AnotherProgramHasAGate) {
  install();
  build_example("admission_library");
  const Ended ended = shell("build/door");
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(ended.out,
            "request 0: admit\n"
            "request 1: admit\n"
            "request 2: reject with status 529 (concurrency)\n"
            "request 3: admit\n");
}

TEST_F(Installed, APluginIsBuiltWithTheHeaderAlone) {
  install();
  build_example("policy_plugin");
  const Ended ended = run("policies queue_per_replica --plugin-path build");
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_NE(ended.out.find("build/queue_per_replica.so"), std::string::npos) << ended.out;
}

TEST_F(Installed, NothingOfItNamesTheBuildersFolders) {
  install();
  const Ended ended = shell("grep -rlF -e '" INFERSCALE_SOURCE_DIR "' -e '" BUILD_FOLDER
                            "' prefix --include=*.cmake");
  EXPECT_EQ(ended.out, "");
}

}  // namespace
}  // namespace inferscale
