#include "study/executors/launcher.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <optional>

#include "base/number_text.h"

namespace inferscale {
namespace {

struct Variables {
  const char* rank;
  const char* ranks;
  const char* launcher;
};

constexpr std::array<Variables, 3> kLaunchers = {{
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "mpirun"},
    {"PMI_RANK", "PMI_SIZE", "a launcher of MPI"},
    {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "Slurm"},
}};

constexpr int kMostRanks = 1 << 24;

std::optional<int> whole(const char* text) {
  if (text == nullptr) return std::nullopt;
  const std::optional<std::int64_t> value = parse_whole(text);
  if (!value || *value < 0 || *value > kMostRanks) return std::nullopt;
  return static_cast<int>(*value);
}

int cores_by_affinity() {
  cpu_set_t set;
  // More processors than a set of this size holds: then all of them.
  if (::sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
  return static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN));
}

// Of the container's cgroup (version 2), "max" where there is none: "200000 100000" is two cores.
std::optional<int> cores_by_quota() {
  std::ifstream file("/sys/fs/cgroup/cpu.max");
  std::string quota;
  std::string period;
  if (!(file >> quota >> period)) return std::nullopt;
  const std::optional<std::int64_t> used = parse_whole(quota);
  const std::optional<std::int64_t> of = parse_whole(period);
  if (!used || !of || *of <= 0) return std::nullopt;
  return static_cast<int>(std::min<std::int64_t>((*used + *of - 1) / *of, kMostRanks));
}

}  // namespace

Launch launch_of(const std::function<const char*(const char*)>& variable) {
  for (const Variables& names : kLaunchers) {
    const std::optional<int> rank = whole(variable(names.rank));
    const std::optional<int> ranks = whole(variable(names.ranks));
    if (!rank || !ranks || *rank >= *ranks) continue;
    if (*ranks == 1) return {};
    return {.rank = *rank, .ranks = *ranks, .launcher = names.launcher};
  }
  return {};
}

int available_cores() {
  const int cores = cores_by_affinity();
  return std::max(1, std::min(cores, cores_by_quota().value_or(cores)));
}

int default_threads(int ranks_on_machine) {
  const int all = static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN));
  const int share = std::max(1, std::min(all, cores_by_quota().value_or(all)) / ranks_on_machine);
  return std::min(available_cores(), share);
}

}  // namespace inferscale
