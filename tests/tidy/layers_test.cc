// Include directions, on made-up files and on the project.

#include "tidy/layers.h"

#include <gtest/gtest.h>

namespace inferscale::tidy {
namespace {

bool allowed(const std::string& path, const std::string& header) {
  return check_includes({path, "#include \"" + header + "\"\n"}).empty();
}

TEST(Layers, HoldModulesToTheirDirections) {
  EXPECT_TRUE(allowed("src/sim/x.cc", "replica/replica.h"));
  EXPECT_TRUE(allowed("src/replica/latency/x.h", "catalog/model_spec.h"));
  EXPECT_TRUE(allowed("src/core/x.h", "base/time.h"));
  EXPECT_FALSE(allowed("src/base/x.h", "core/slo.h"));
  EXPECT_FALSE(allowed("src/core/x.h", "sim/simulator.h"));
  EXPECT_FALSE(allowed("src/replica/x.cc", "workload/request_source.h"));
  EXPECT_FALSE(allowed("src/metrics/x.cc", "sim/simulator.h"));
  EXPECT_FALSE(allowed("src/metrics/x_test.cc", "sim/simulator.h"));
  EXPECT_FALSE(allowed("src/novelty/x.cc", "core/slo.h"));
}

TEST(Layers, KeepFilesAndThrowingLibrariesAtTheEdges) {
  EXPECT_TRUE(allowed("src/base/edge/x.cc", "yaml-cpp/yaml.h"));
  EXPECT_TRUE(allowed("src/workload/readers/x.cc", "base/edge/input_file.h"));
  EXPECT_TRUE(allowed("src/cli/x.cc", "workload/readers/trace.h"));
  EXPECT_TRUE(allowed("src/base/x_test.cc", "nlohmann/json.hpp"));
  EXPECT_FALSE(allowed("src/base/x.cc", "base/edge/input_file.h"));
  EXPECT_FALSE(allowed("src/workload/x.cc", "fstream"));
  EXPECT_FALSE(allowed("src/sim/x.cc", "workload/readers/trace.h"));
  EXPECT_FALSE(allowed("src/report/x.cc", "yaml-cpp/yaml.h"));
  EXPECT_FALSE(allowed("src/sim/x.cc", "nlohmann/json.hpp"));
  EXPECT_FALSE(allowed("src/sim/x.cc", "iostream"));
  EXPECT_FALSE(allowed("src/base/edge/x.cc", "random"));
}

TEST(Layers, SayWhere) {
  EXPECT_EQ(check_includes({"src/core/x.h", "\n#include \"sim/s.h\"\n"}),
            std::vector<std::string>{"src/core/x.h:2: core may not include sim/s.h"});
}

TEST(Layers, FindSourcesThatNobodyCompiles) {
  const ProjectFile list{"src/a/CMakeLists.txt", "inferscale_module(a SOURCES x.cc\n  sub/y.cc)\n"};
  EXPECT_TRUE(check_listed({"src/a/x.cc", ""}, {list}).empty());
  EXPECT_TRUE(check_listed({"src/a/sub/y.cc", ""}, {list}).empty());
  EXPECT_FALSE(check_listed({"src/a/y.cc", ""}, {list}).empty());
  EXPECT_TRUE(check_listed({"src/a/x.h", ""}, {list}).empty());
  EXPECT_FALSE(check_listed({"src/a/z.h", ""}, {list}).empty());
  EXPECT_FALSE(check_listed({"src/a/ax.cc", ""}, {list}).empty());
  EXPECT_FALSE(check_listed({"src/b/x.cc", ""}, {list}).empty());
}

TEST(Layers, FindDeadHeaders) {
  const ProjectFile header{"src/a/x.h", ""};
  const std::string include = "#include \"a/x.h\"\n";
  EXPECT_TRUE(check_header_is_used(header, {header, {"src/b/y.cc", include}}).empty());
  EXPECT_FALSE(
      check_header_is_used(header, {header, {"src/a/x.cc", include}, {"src/a/x_test.cc", include}})
          .empty());
  EXPECT_FALSE(check_header_is_used(header, {header, {"src/b/y.cc", "// " + include}}).empty());
}

TEST(Project, KeepsItsLayers) {
  expect_none(violations_of(check_includes));
}

TEST(Project, CompilesEverySource) {
  expect_none(violations_of([](const ProjectFile& f) { return check_listed(f, project_files()); }));
}

TEST(Project, HasNoDeadHeader) {
  expect_none(
      violations_of([](const ProjectFile& f) { return check_header_is_used(f, project_files()); }));
}

// A wrong source folder would make every rule pass on nothing.
TEST(Project, IsFound) {
  std::size_t sources = 0;
  for (const ProjectFile& file : project_files()) sources += file.is_cxx() && file.is_below("src");
  EXPECT_GT(sources, 20U);
}

}  // namespace
}  // namespace inferscale::tidy
