// The ranks that a study runs on: one, or as many as mpirun or Slurm started.
//
// A program that was built without MPI, or that nothing started as a rank, is rank 0 of 1: MPI is
// then never initialised. The one header that the rest sees of MPI; <mpi.h> stays in mpi_world.cc.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"

namespace inferscale {

// Messages between ranks: whole byte strings, to and from rank 0.
class MpiWorld {
 public:
  // Joins the other ranks when `environment_says_rank` (the launcher's variables were found in the
  // environment, which cli reads). Errors: built without MPI, though it is started by mpirun.
  static Result<std::unique_ptr<MpiWorld>> join(bool environment_says_rank);
  virtual ~MpiWorld() = default;  // leaves, together with the others

  virtual int rank() const = 0;
  virtual int ranks() const = 0;

  virtual void send(int to, const std::string& bytes) = 0;
  // The next message from anyone; false when there is none now.
  virtual bool receive(int& from, std::string& bytes) = 0;
};

}  // namespace inferscale
