// Whether a launcher started this process as one rank of several, as its variables in the
// environment say. MPI itself is asked only then: a program of one process never loads it.
//
// Open MPI's mpirun sets OMPI_COMM_WORLD_RANK and OMPI_COMM_WORLD_SIZE; MPICH's and Intel's, and
// Slurm with --mpi=pmi2, PMI_RANK and PMI_SIZE; a step of Slurm SLURM_PROCID and
// SLURM_STEP_NUM_TASKS. (SLURM_NTASKS stands in a batch script's environment too, which is one
// process.)

#pragma once

#include <functional>
#include <string>

namespace inferscale {

struct Launch {
  int rank = 0;
  int ranks = 1;
  std::string launcher;  // for people: "mpirun"; empty: nothing started ranks
};

// `variable` is getenv.
Launch launch_of(const std::function<const char*(const char*)>& variable);

// Cores that this process may use: by its affinity, and by the CPU quota of its container (cgroup),
// in whole cores, at least 1.
int available_cores();

// How many threads a rank starts if nobody says: the cores that it may use, shared with the other
// ranks on its machine where they may use them too.
int default_threads(int ranks_on_machine);

}  // namespace inferscale
