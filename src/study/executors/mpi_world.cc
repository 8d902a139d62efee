#include "study/executors/mpi_world.h"

#include "base/check.h"

#ifdef INFERSCALE_WITH_MPI
#define OMPI_SKIP_MPICXX
#define MPICH_SKIP_MPICXX
#include <mpi.h>

#include <chrono>
#include <limits>
#include <list>
#include <thread>
#include <utility>
#endif

namespace inferscale {
namespace {

class Alone final : public MpiWorld {
 public:
  int rank() const override { return 0; }
  int ranks() const override { return 1; }
  int ranks_on_machine() const override { return 1; }
  void send(int, std::string) override { CHECK(false) << "a message to nobody"; }
  bool receive(int&, std::string&) override { return false; }
  void leave() override {}
};

#ifdef INFERSCALE_WITH_MPI

// By default MPI ends the job when one of its calls fails, so their codes are not looked at.
class Joined final : public MpiWorld {
 public:
  Joined() {
    int provided = 0;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
    MPI_Comm machine = MPI_COMM_NULL;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine);
    MPI_Comm_size(machine, &ranks_on_machine_);
    MPI_Comm_free(&machine);
  }
  Joined(const Joined&) = delete;
  Joined& operator=(const Joined&) = delete;
  ~Joined() override {
    if (!left_) MPI_Abort(MPI_COMM_WORLD, 1);
  }

  int rank() const override { return rank_; }
  int ranks() const override { return ranks_; }
  int ranks_on_machine() const override { return ranks_on_machine_; }

  void send(int to, std::string bytes) override {
    CHECK(bytes.size() <= std::numeric_limits<int>::max()) << "a message that MPI can't carry";
    Sent& sent = under_way_.emplace_back(Sent{.bytes = std::move(bytes)});
    MPI_Isend(sent.bytes.data(), static_cast<int>(sent.bytes.size()), MPI_BYTE, to, 0,
              MPI_COMM_WORLD, &sent.request);
    forget_sent();
  }

  bool receive(int& from, std::string& bytes) override {
    forget_sent();
    int is_there = 0;
    MPI_Status status;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &is_there, &status);
    if (is_there == 0) return false;
    int size = 0;
    MPI_Get_count(&status, MPI_BYTE, &size);
    from = status.MPI_SOURCE;
    bytes.resize(static_cast<std::size_t>(size));
    MPI_Recv(bytes.data(), size, MPI_BYTE, from, status.MPI_TAG, MPI_COMM_WORLD, &status);
    return true;
  }

  void leave() override {
    while (!under_way_.empty()) {
      forget_sent();
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
    MPI_Finalize();
    left_ = true;
  }

 private:
  struct Sent {
    std::string bytes;
    MPI_Request request = MPI_REQUEST_NULL;
  };
  void forget_sent() {
    std::erase_if(under_way_, [](Sent& sent) {
      int gone = 0;
      MPI_Test(&sent.request, &gone, MPI_STATUS_IGNORE);
      return gone != 0;
    });
  }

  int rank_ = 0;
  int ranks_ = 1;
  int ranks_on_machine_ = 1;
  bool left_ = false;
  std::list<Sent> under_way_;  // their bytes stay where they are until they have gone
};

Result<std::unique_ptr<MpiWorld>> join_others(const Launch& launch) {
  std::unique_ptr<MpiWorld> world = std::make_unique<Joined>();
  if (world->ranks() == launch.ranks) return world;
  const int seen = world->ranks();
  world->leave();
  return fail(ErrorCode::kInvalidConfig, launch.launcher + " started " +
                                             std::to_string(launch.ranks) +
                                             " processes, and MPI sees " + std::to_string(seen) +
                                             ": expected Open MPI's mpirun, or srun --mpi=pmix");
}

#else

Result<std::unique_ptr<MpiWorld>> join_others(const Launch& launch) {
  return fail(ErrorCode::kInvalidConfig,
              launch.launcher + " started " + std::to_string(launch.ranks) +
                  " processes, and this program was built without MPI: expected one process, or a "
                  "program that was built where MPI is installed (INFERSCALE_MPI)");
}

#endif

}  // namespace

std::unique_ptr<MpiWorld> MpiWorld::alone() {
  return std::make_unique<Alone>();
}

Result<std::unique_ptr<MpiWorld>> MpiWorld::join(const Launch& launch) {
  if (launch.ranks == 1) return alone();
  return join_others(launch);
}

}  // namespace inferscale
