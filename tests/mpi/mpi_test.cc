// Studies by any number of threads and ranks, killed and taken up again: the same bytes.

#include <gtest/gtest.h>

#include <chrono>
#include <thread>
#include <vector>

#include "cli/program.h"
#include "mpi/rank_process.h"

namespace inferscale {
namespace {

constexpr const char* kSmall = "capacity --example --set workload.requests=1500 ";
// Some seconds of work, so that it can be killed half-way.
constexpr const char* kLong = "capacity --example --set workload.requests=60000 ";

// What was said on standard error, but for Open MPI's own complaint of a machine that does not
// tell it of its cores (a chroot without /sys).
std::string errors_in(const fs::path& folder) {
  std::istringstream text(text_of(folder / ".err"));
  std::string kept;
  for (std::string line; std::getline(text, line);) {
    if (!line.starts_with("[hwloc/")) kept += line + "\n";
  }
  return kept;
}

class Ranks : public Cli {
 protected:
  void SetUp() override {
#ifndef INFERSCALE_MPIRUN
    GTEST_SKIP() << "built without MPI";
#endif
  }

  // `mpirun` on this machine alone, with more ranks than cores, as root too.
  static std::string mpirun(int ranks) {
#ifdef INFERSCALE_MPIRUN
    // Leak checkers take what Open MPI keeps until the end for leaks.
    return "ASAN_OPTIONS=detect_leaks=0 exec " INFERSCALE_MPIRUN
           " --oversubscribe --allow-run-as-root --mca btl self,vader,tcp --mca btl_tcp_if_include "
           "lo --mca oob_tcp_if_include lo -n " +
           std::to_string(ranks) + " '" INFERSCALE_BINARY "' ";
#else
    return std::to_string(ranks);
#endif
  }

  Ended run_ranks(int ranks, const std::string& line) {
    RankProcess process(folder_.string(), mpirun(ranks) + line + " >.out 2>.err </dev/null");
    const int code = process.wait();
    return {code, text_of(folder_ / ".out"), errors_in(folder_)};
  }

  std::size_t lines_of(const std::string& out) const {
    const std::string text = text_of(folder_ / out / "runs.jsonl");
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  }

  // False when the study was over before.
  bool wait_for_lines(const std::string& out, std::size_t lines) const {
    for (int look = 0; look < 60000; ++look) {
      if (lines_of(out) >= lines) return !fs::exists(folder_ / out / "result.json");
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return false;
  }

  void expect_same_folders(const std::string& one, const std::string& other) const {
    std::size_t files = 0;
    for (const auto& entry : fs::directory_iterator(folder_ / one)) {
      const std::string name = entry.path().filename().string();
      EXPECT_EQ(text_of(folder_ / one / name), text_of(folder_ / other / name)) << name;
      EXPECT_NE(text_of(folder_ / one / name), "") << name;
      ++files;
    }
    const fs::directory_iterator there(folder_ / other);
    EXPECT_EQ(static_cast<std::size_t>(std::distance(begin(there), end(there))), files);
    EXPECT_GE(files, 3U);
  }
};

TEST_F(Ranks, AnyNumberOfThreadsAndRanksWritesAndPrintsTheSame) {
  const std::string line = std::string(kSmall) + "--json ";
  const Ended one = run(line + "--jobs 1 --out one");
  ASSERT_EQ(one.code, 0) << one.err;
  for (const char* jobs : {"2", "8"}) {
    const std::string out = std::string("threads") + jobs;
    const Ended ended = run(line + "--jobs " + jobs + " --out " + out);
    EXPECT_EQ(ended.out, one.out);
    expect_same_folders("one", out);
  }
  for (const int ranks : {1, 2, 4}) {
    const std::string out = "ranks" + std::to_string(ranks);
    const Ended ended = run_ranks(ranks, line + "--jobs 2 --out " + out);
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_EQ(ended.out, one.out);
    EXPECT_EQ(ended.err, "");
    expect_same_folders("one", out);
  }
}

TEST_F(Ranks, AKilledRankLosesNoFinishedRun) {
  ASSERT_EQ(run(std::string(kLong) + "--out whole").code, 0);
  for (const int killed : {1, 0}) {
    const std::string out = "killed" + std::to_string(killed);
    const std::string line = kLong + ("--jobs 1 --out " + out);
    RankProcess process(folder_.string(), mpirun(3) + line + " >/dev/null 2>&1 </dev/null");
    ASSERT_TRUE(wait_for_lines(out, 5)) << "the study ended too early";
    ASSERT_TRUE(process.kill_rank(killed, SIGKILL));
    EXPECT_NE(process.wait(), 0);
    const std::size_t kept = lines_of(out);
    EXPECT_GE(kept, 5U);
    EXPECT_FALSE(fs::exists(folder_ / out / "result.json"));
    const Ended again = run_ranks(2, line);
    EXPECT_EQ(again.code, 0) << again.err;
    EXPECT_GT(lines_of(out), kept) << "nothing was left to do";
    expect_same_folders("whole", out);
  }
}

TEST_F(Ranks, AStoppedJobKeepsItsRunsAndGoesOn) {
  ASSERT_EQ(run(std::string(kLong) + "--out whole").code, 0);
  const std::string line = std::string(kLong) + "--jobs 1 --out stopped";
  RankProcess process(folder_.string(), mpirun(2) + line + " >.out 2>.err </dev/null");
  ASSERT_TRUE(wait_for_lines("stopped", 5)) << "the study ended too early";
  process.signal(SIGINT);
  EXPECT_NE(process.wait(), 0);
  EXPECT_EQ(text_of(folder_ / ".out"), "");
  EXPECT_GE(lines_of("stopped"), 5U);
  EXPECT_EQ(run(line).code, 0);
  expect_same_folders("whole", "stopped");
}

TEST_F(Ranks, ARankThatIsAskedToEndEndsTheStudyWithItsRunsKept) {
  const std::string line = std::string(kLong) + "--jobs 1 --out stopped";
  RankProcess process(folder_.string(), mpirun(3) + line + " >.out 2>.err </dev/null");
  ASSERT_TRUE(wait_for_lines("stopped", 5)) << "the study ended too early";
  ASSERT_TRUE(process.kill_rank(2, SIGTERM));
  EXPECT_EQ(process.wait(), 130);
  const std::string err = errors_in(folder_);
  EXPECT_EQ(err.find("inferscale: stopped: interrupted: "), 0U) << err;
  EXPECT_NE(err.find(" runs are finished and kept; the same command goes on from there\n"),
            std::string::npos)
      << err;
  EXPECT_GE(lines_of("stopped"), 5U);
}

TEST_F(Ranks, OnlyOneTalksWhenAllFail) {
  for (const std::string line : {"capacity nothing.yaml", "capacity --example --jobs 0",
                                 "capacity --nonsense", "simulate nothing.yaml"}) {
    const Ended ended = run_ranks(3, line);
    EXPECT_EQ(ended.code, 2) << line;
    EXPECT_EQ(ended.out, "") << line;
    const std::size_t first = ended.err.find("inferscale: ");
    EXPECT_EQ(first, 0U) << ended.err;
    EXPECT_EQ(ended.err.find("inferscale: ", first + 1), std::string::npos) << ended.err;
  }
  const Ended version = run_ranks(3, "--version");
  EXPECT_EQ(version.code, 0);
  EXPECT_EQ(std::count(version.out.begin(), version.out.end(), '\n'), 1) << version.out;
}

TEST_F(Ranks, AFolderThatRank0CannotWriteEndsAll) {
  write("file", "in the way");
  const Ended ended = run_ranks(3, std::string(kSmall) + "--out file");
  EXPECT_EQ(ended.code, 1);
  EXPECT_EQ(ended.err.find("inferscale: file: cannot make the folder: 'file' is a file\n"), 0U)
      << ended.err;
}

TEST_F(Ranks, AConfigurationThatOneRankDoesNotHaveEndsAll) {
  write("here.yaml", run("config example").out);
  // Rank 1 starts in another folder, as on a machine where the file was not copied.
  const std::string start = mpirun(1);
  const std::string binary = "'" INFERSCALE_BINARY "' ";
  const std::string line = start + "capacity here.yaml : -n 1 --wdir / " + binary +
                           "capacity here.yaml >.out 2>.err </dev/null";
  RankProcess process(folder_.string(), line);
  EXPECT_EQ(process.wait(), 2);
  const std::string err = errors_in(folder_);
  EXPECT_EQ(err.find("inferscale: here.yaml: "), 0U) << err;
  EXPECT_NE(err.find("(on rank 1)\n"), std::string::npos) << err;
}

// A launcher that this MPI does not understand, or a program without MPI: all processes would run
// the whole study.
TEST_F(Cli, RefusesToRunAsOneOfManyThatItCannotSee) {
  const std::string command = "cd '" + folder_.string() +
                              "' && PMI_RANK=0 PMI_SIZE=4 ASAN_OPTIONS=detect_leaks=0 "
                              "'" INFERSCALE_BINARY "' capacity --example 2>.err >.out";
  const int status = std::system(command.c_str());
  EXPECT_EQ(WEXITSTATUS(status), 2);
  EXPECT_EQ(errors_in(folder_).find("inferscale: a launcher of MPI started 4 processes, "), 0U)
      << errors_in(folder_);
}

TEST_F(Cli, AStoppedStudySaysHowToGoOn) {
  ASSERT_EQ(run(std::string(kLong) + "--out whole").code, 0);
  const std::string line = std::string(kLong) + "--jobs 2 --out stopped";
  RankProcess process(folder_.string(), "exec '" INFERSCALE_BINARY "' " + line + " >.out 2>.err");
  for (int look = 0; look < 60000; ++look) {
    if (text_of(folder_ / "stopped/runs.jsonl").size() > 5000) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  process.signal(SIGINT);
  EXPECT_EQ(process.wait(), 130);
  EXPECT_EQ(text_of(folder_ / ".out"), "");
  EXPECT_EQ(text_of(folder_ / ".err").find("inferscale: stopped: interrupted: "), 0U);
  EXPECT_EQ(run(line).code, 0);
  for (const char* file : {"study.json", "runs.jsonl", "result.json"}) {
    EXPECT_EQ(text_of(folder_ / "stopped" / file), text_of(folder_ / "whole" / file)) << file;
  }
}

// A limit on the size of files is as good as a full disk.
TEST_F(Cli, AFullDiskEndsAStudyWithOneMessageAndWholeLines) {
  ASSERT_EQ(run(std::string(kSmall) + "--out whole").code, 0);
  const std::string command = "cd '" + folder_.string() +
                              "' && trap '' XFSZ && ulimit -f 20 && '" INFERSCALE_BINARY "' " +
                              kSmall + "--out full >.out 2>.err";
  const int status = std::system(command.c_str());
  EXPECT_EQ(WEXITSTATUS(status), 1);
  EXPECT_EQ(text_of(folder_ / ".err"),
            "inferscale: full/runs.jsonl: cannot be written: File too large\n");
  EXPECT_EQ(text_of(folder_ / ".out"), "");
  const std::string runs = text_of(folder_ / "full/runs.jsonl");
  ASSERT_FALSE(runs.empty());
  EXPECT_EQ(runs.back(), '\n');
  ASSERT_EQ(run(std::string(kSmall) + "--out full").code, 0);
  for (const char* file : {"study.json", "runs.jsonl", "result.json"}) {
    EXPECT_EQ(text_of(folder_ / "full" / file), text_of(folder_ / "whole" / file)) << file;
  }
}

}  // namespace
}  // namespace inferscale
