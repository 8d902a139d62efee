// The ranks that a study runs on: one, or as many as mpirun or Slurm started.
//
// A program that was built without MPI, or that nothing started as a rank, is rank 0 of 1: MPI is
// then never initialised. The one header that the rest sees of MPI; <mpi.h> stays in mpi_world.cc.

#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "study/executors/launcher.h"

namespace inferscale {

// Carries byte strings between ranks. One thread calls it. Messages of one rank to another come in
// the order in which they were sent.
class MpiWorld {
 public:
  // A process without others.
  static std::unique_ptr<MpiWorld> alone();
  // Joins the other ranks of the launch, if it says that there are others. Errors: built without
  // MPI, or started by a launcher that this MPI does not understand. Then no rank may go on: each
  // would take itself for the only one.
  static Result<std::unique_ptr<MpiWorld>> join(const Launch& launch);
  // Ends the whole job, all ranks, if leave() was not called.
  virtual ~MpiWorld() = default;

  virtual int rank() const = 0;
  virtual int ranks() const = 0;
  virtual int ranks_on_machine() const = 0;

  // Takes the message and returns at once.
  virtual void send(int to, std::string bytes) = 0;
  // The next message from anyone; false when there is none now.
  virtual bool receive(int& from, std::string& bytes) = 0;
  // Waits until what was sent has gone out, and until all ranks are here; nothing is sent later.
  virtual void leave() = 0;
};

}  // namespace inferscale
