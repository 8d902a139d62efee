#include "workload/slo_class_source.h"

#include <utility>

#include "base/check.h"
#include "base/distributions.h"
#include "base/random.h"
#include "core/carried_columns.h"

namespace inferscale {
namespace {

std::vector<double> shares_of(const std::vector<SloClass>& classes) {
  std::vector<double> shares;
  for (const SloClass& each : classes) shares.push_back(each.share);
  return shares;
}

class ClassDraws {
 public:
  ClassDraws(ClassOptions options, std::uint64_t run_seed)
      : options_(std::move(options)),
        index_(shares_of(options_.classes)),
        stream_(run_seed, "slo_classes") {
    CHECK(options_.classes.size() <= kMostSloClasses) << options_.classes.size() << " classes";
  }

  void classify(Request& request) {
    request.slo_class = class_of(request);
    const bool has_own = !options_.priorities.empty() &&
                         options_.priorities[request.id] != CarriedColumns::kNoPriority;
    if (!has_own) request.priority = options_.classes[request.slo_class].priority;
  }

 private:
  std::uint8_t draw() { return static_cast<std::uint8_t>(index_.draw(stream_)); }

  std::uint8_t drawn_for(const Request& request) {
    if (request.session == Request::kNobody) return draw();
    while (of_session_.size() <= request.session) of_session_.push_back(draw());
    return of_session_[request.session];
  }

  std::uint8_t class_of(const Request& request) {
    const std::uint8_t drawn = drawn_for(request);
    if (request.tenant >= options_.of_tenant.size()) return drawn;
    return options_.of_tenant[request.tenant].value_or(drawn);
  }

  ClassOptions options_;
  WeightedIndex index_;
  RandomStream stream_;
  std::vector<std::uint8_t> of_session_;
};

class ClassSource final : public RequestSource {
 public:
  ClassSource(std::unique_ptr<RequestSource> source, ClassOptions options, std::uint64_t run_seed)
      : source_(std::move(source)), draws_(std::move(options), run_seed) {
    CHECK(source_->reactive() == nullptr) << "a source that waits has a class source of its own";
  }

  bool next(Request& request) override {
    if (!source_->next(request)) return false;
    draws_.classify(request);
    return true;
  }
  std::uint64_t size() const override { return source_->size(); }

 private:
  std::unique_ptr<RequestSource> source_;
  ClassDraws draws_;
};

class ReactiveClassSource final : public ReactiveSource {
 public:
  ReactiveClassSource(std::unique_ptr<ReactiveSource> source, ClassOptions options,
                      std::uint64_t run_seed)
      : source_(std::move(source)), draws_(std::move(options), run_seed) {}

  bool next(Request& request) override {
    if (!source_->next(request)) return false;
    CHECK(request.session != Request::kNobody) << "its class would hang on when it arrives";
    draws_.classify(request);
    return true;
  }
  std::uint64_t size() const override { return source_->size(); }
  Instant next_at() const override { return source_->next_at(); }
  void ended(RequestId id, const Outcome& outcome, const Answer& answer, Instant now) override {
    source_->ended(id, outcome, answer, now);
  }
  void expect_end(RequestId id) const override { source_->expect_end(id); }
  Instant next_leave() const override { return source_->next_leave(); }
  RequestId take_leaver() override { return source_->take_leaver(); }
  SourceRecords take_records(Instant end) override { return source_->take_records(end); }

 private:
  std::unique_ptr<ReactiveSource> source_;
  ClassDraws draws_;
};

}  // namespace

std::unique_ptr<RequestSource> with_classes(std::unique_ptr<RequestSource> source,
                                            ClassOptions options, std::uint64_t run_seed) {
  return std::make_unique<ClassSource>(std::move(source), std::move(options), run_seed);
}

std::unique_ptr<ReactiveSource> with_classes(std::unique_ptr<ReactiveSource> source,
                                             ClassOptions options, std::uint64_t run_seed) {
  return std::make_unique<ReactiveClassSource>(std::move(source), std::move(options), run_seed);
}

}  // namespace inferscale
