#include "study/executors/executors.h"

#include "study/executors/coordinator.h"
#include "study/executors/follower.h"

namespace inferscale {

std::unique_ptr<RunExecutor> make_executor(const std::vector<Scenario>& scenarios, RankMail& mail,
                                           const ExecutorOptions& options) {
  if (mail.rank() == 0) return std::make_unique<Coordinator>(scenarios, mail, options);
  return std::make_unique<Follower>(scenarios, mail, options);
}

}  // namespace inferscale
