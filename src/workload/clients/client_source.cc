#include "workload/clients/client_source.h"

#include <utility>
#include <vector>

#include "base/check.h"
#include "workload/clients/client_calls.h"

namespace inferscale {
namespace {

class ClientSource final : public ReactiveSource {
 public:
  ClientSource(std::unique_ptr<RequestSource> workload, const ClientOptions& options,
               std::uint64_t run_seed)
      : workload_(std::move(workload)), calls_(options, run_seed, false) {
    CHECK(workload_->reactive() == nullptr) << "clients around a workload that has its own";
    read_ahead();
  }

  bool next(Request& request) override;
  std::uint64_t size() const override { return workload_->size(); }
  Instant next_at() const override { return calls_.next_at(); }
  void ended(RequestId id, const Outcome& outcome, const Answer& answer, Instant now) override;
  Instant next_leave() const override { return calls_.next_leave(); }
  RequestId take_leaver() override;
  SourceRecords take_records(Instant end) override;

 private:
  // The first arrival of the workload that is still to come is always known, so that it is known
  // whether a client comes before it.
  void read_ahead();
  void forget_ended();
  Caller caller_of(const Request& request);

  std::unique_ptr<RequestSource> workload_;
  ClientCalls calls_;
  // Of requests that are not over, by slot, and the slots by number.
  std::vector<Request> requests_;
  std::vector<std::uint32_t> free_;
  std::vector<std::uint32_t> slot_;
  bool exhausted_ = false;
};

// Sessions and tenants share one row of groups.
Caller ClientSource::caller_of(const Request& request) {
  Caller caller{.tenant = request.tenant};
  if (request.session != Request::kNobody) {
    caller.group = 2 * request.session;
  } else if (request.tenant != Request::kNobody) {
    caller.group = 2 * request.tenant + 1;
  }
  return caller;
}

void ClientSource::read_ahead() {
  while (!exhausted_ &&
         (slot_.empty() || !calls_.is_due(static_cast<std::uint32_t>(slot_.size()) - 1))) {
    if (free_.empty()) {
      free_.push_back(static_cast<std::uint32_t>(requests_.size()));
      requests_.emplace_back();
    }
    Request& request = requests_[free_.back()];
    request = {};
    exhausted_ = !workload_->next(request);
    if (exhausted_) return;
    CHECK(request.id == slot_.size()) << "request ids are not dense";
    slot_.push_back(free_.back());
    free_.pop_back();
    calls_.add(request.id, caller_of(request), request.output_tokens, request.arrival);
  }
}

void ClientSource::forget_ended() {
  for (const CallEnd& end : calls_.take_ends()) free_.push_back(slot_[end.number]);
  read_ahead();
}

bool ClientSource::next(Request& request) {
  if (calls_.next_at() == Instant::never()) return false;
  const Presentation presentation = calls_.next();
  request = requests_[slot_[presentation.number]];
  presentation.apply(request);
  forget_ended();
  return true;
}

void ClientSource::ended(RequestId id, const Outcome& outcome, const Answer& answer, Instant now) {
  calls_.ended(id, outcome, answer, now);
  forget_ended();
}

RequestId ClientSource::take_leaver() {
  const RequestId id = calls_.take_leaver();
  forget_ended();
  return id;
}

SourceRecords ClientSource::take_records(Instant end) {
  calls_.finish(end);
  return {.programs = std::nullopt, .clients = calls_.take_records(end)};
}

}  // namespace

std::unique_ptr<ReactiveSource> make_client_source(std::unique_ptr<RequestSource> workload,
                                                   const ClientOptions& options,
                                                   std::uint64_t run_seed) {
  return std::make_unique<ClientSource>(std::move(workload), options, run_seed);
}

}  // namespace inferscale
