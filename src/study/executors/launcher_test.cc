// Environments of launchers, as they really look.

#include "study/executors/launcher.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <map>

namespace inferscale {
namespace {

Launch launch_in(const std::map<std::string, std::string>& environment) {
  return launch_of([&](const char* name) -> const char* {
    const auto found = environment.find(name);
    return found == environment.end() ? nullptr : found->second.c_str();
  });
}

TEST(Launcher, AProcessOfItsOwnIsTheOnlyRank) {
  EXPECT_EQ(launch_in({}).ranks, 1);
  EXPECT_EQ(launch_in({{"OMPI_COMM_WORLD_RANK", "0"}, {"OMPI_COMM_WORLD_SIZE", "1"}}).ranks, 1);
  // What is not a number, or no rank of so many, is nobody's.
  EXPECT_EQ(launch_in({{"OMPI_COMM_WORLD_RANK", "x"}, {"OMPI_COMM_WORLD_SIZE", "4"}}).ranks, 1);
  EXPECT_EQ(launch_in({{"OMPI_COMM_WORLD_RANK", "4"}, {"OMPI_COMM_WORLD_SIZE", "4"}}).ranks, 1);
}

TEST(Launcher, KnowsOpenMpiPmiAndSlurm) {
  const Launch open_mpi = launch_in({{"OMPI_COMM_WORLD_RANK", "2"},
                                     {"OMPI_COMM_WORLD_SIZE", "4"},
                                     {"PMIX_RANK", "2"},
                                     {"SLURM_PROCID", "0"},
                                     {"SLURM_STEP_NUM_TASKS", "2"}});
  EXPECT_EQ(open_mpi.rank, 2);
  EXPECT_EQ(open_mpi.ranks, 4);
  EXPECT_EQ(open_mpi.launcher, "mpirun");
  EXPECT_EQ(launch_in({{"PMI_RANK", "1"}, {"PMI_SIZE", "3"}}).ranks, 3);
  const Launch slurm =
      launch_in({{"SLURM_PROCID", "5"}, {"SLURM_STEP_NUM_TASKS", "8"}, {"SLURM_NTASKS", "8"}});
  EXPECT_EQ(slurm.rank, 5);
  EXPECT_EQ(slurm.ranks, 8);
}

TEST(Launcher, ABatchScriptOfSlurmIsNoRank) {
  EXPECT_EQ(launch_in({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "8"}}).ranks, 1);
}

TEST(Launcher, CoresAreThoseOfTheAffinity) {
  cpu_set_t all;
  ASSERT_EQ(sched_getaffinity(0, sizeof all, &all), 0);
  EXPECT_GE(available_cores(), 1);
  EXPECT_LE(available_cores(), CPU_COUNT(&all));
  std::size_t first = 0;
  while (!CPU_ISSET(first, &all)) ++first;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(first, &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  EXPECT_EQ(available_cores(), 1);
  EXPECT_EQ(default_threads(1), 1);
  ASSERT_EQ(sched_setaffinity(0, sizeof all, &all), 0);
}

TEST(Launcher, RanksOfOneMachineShareItsCores) {
  EXPECT_EQ(default_threads(1), available_cores());
  EXPECT_EQ(default_threads(1 << 20), 1);
}

}  // namespace
}  // namespace inferscale
