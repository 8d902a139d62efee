// The replicas, pools and door of a run, before its first event.

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "sim/fleet_run.h"

namespace inferscale {
namespace {

ReplicaFactory factory_of(const RunOptions& options, const ReplicaOptions& replica) {
  if (options.make_replica != nullptr) return options.make_replica;
  if (replica.serial) return make_serial_replica;
  return options.stepwise ? make_stepwise_replica : make_segment_replica;
}

std::size_t most_ranks(const FleetOptions& fleet) {
  std::int64_t ranks = 0;
  for (const GroupOptions& group : fleet.groups) {
    ranks += LifecycleOptions::Group{group.replicas, group.scaling}.most() * group.ranks;
  }
  return static_cast<std::size_t>(ranks);
}

}  // namespace

FleetRun::FleetRun(const FleetOptions& fleet, const RunOptions& options, RequestSource& source,
                   const RunControl& control)
    : fleet_(fleet),
      options_(options),
      source_(source),
      reactive_(source.reactive()),
      control_(control),
      gaps_(std::make_unique<DurationHistogram>()),
      sampler_(options.signals_interval,
               std::cmp_less_equal(most_ranks(fleet), options.most_sampled_replicas)
                   ? most_ranks(fleet)
                   : 1,
               [this](Instant at, std::vector<SignalSample>& rows) { sample(at, rows); }) {
  CHECK(!fleet.groups.empty()) << "a fleet without replicas";
  CHECK(!fleet.split || fleet.groups.size() == 2) << "a split has a prefill and a decode group";
  result_.outcomes.reserve(source.size());
  const LifecycleOptions planned = lifecycle_options();
  const bool changes = fleet.failures.any() ||
                       std::any_of(planned.groups.begin(), planned.groups.end(),
                                   [](const auto& group) { return group.scaling.has_value(); });
  if (changes) lifecycle_ = std::make_unique<Lifecycle>(planned);
  members_.reserve(most_ranks(fleet));
  for (std::uint32_t group = 0; group < fleet.groups.size(); ++group) {
    add_group(group, static_cast<std::uint32_t>(planned.groups[group].most()));
  }
  make_pools();
  if (fleet.split) link_ = std::make_unique<Link>(fleet.split->link);
  has_changes_ = lifecycle_ != nullptr || link_ != nullptr || reactive_ != nullptr || fleet.door;
  has_lookers_ = options.signals_interval.has_value() || front_->reads() ||
                 (decode_ != nullptr && decode_->reads());
  if (fleet.door) make_door();
  is_alone_ = members_.size() == 1 && !changes && !fleet.door && checker_ == nullptr;
  load_seen_.assign(fleet.groups.size(), 0);
  load_seen_at_.assign(fleet.groups.size(), Instant());
}

LifecycleOptions FleetRun::lifecycle_options() const {
  LifecycleOptions options{.failures = fleet_.failures.planned,
                           .random_failures = fleet_.failures.random,
                           .seed = fleet_.seed};
  for (const GroupOptions& group : fleet_.groups) {
    options.groups.push_back({group.replicas, group.scaling});
  }
  return options;
}

void FleetRun::add_group(std::uint32_t group, std::uint32_t most) {
  const GroupOptions& own = fleet_.groups[group];
  CHECK(own.latency != nullptr) << "group " << own.name << " has no latency model";
  for (std::uint32_t i = 0; i < most; ++i) {
    const auto unit = static_cast<std::uint32_t>(units_.size());
    const auto begin = static_cast<std::uint32_t>(members_.size());
    for (std::int64_t rank = 0; rank < own.ranks; ++rank) {
      ReplicaOptions options = own.replica;
      options.index = static_cast<std::uint32_t>(members_.size());
      options.tells_first_tokens = fleet_.door.has_value();
      if (fleet_.split) options.role = group == 0 ? ReplicaRole::kPrefill : ReplicaRole::kDecode;
      Member member{.group = group, .unit = unit};
      member.replica = factory_of(options_, options)(
          options,
          {.latency = *own.latency, .sink = *this, .gaps = *gaps_, .observer = options_.observer});
      members_.push_back(std::move(member));
      wakes_.add();
    }
    units_.push_back({.begin = begin,
                      .end = static_cast<std::uint32_t>(members_.size()),
                      .was_up = i < own.replicas});
  }
}

void FleetRun::make_pools() {
  std::vector<PoolMember> front;
  std::vector<PoolMember> decode;
  std::vector<ReplicaOptions> options;
  for (const Member& member : members_) {
    const GroupOptions& group = fleet_.groups[member.group];
    const bool decodes = fleet_.split && member.group == 1;
    (decodes ? decode : front)
        .push_back({member.replica.get(), group.replica.kv_blocks, group.traits});
    options.push_back(group.replica);
    if (fleet_.split) {
      options.back().role = decodes ? ReplicaRole::kDecode : ReplicaRole::kPrefill;
    }
  }
  const auto decode_begin = static_cast<std::uint32_t>(front.size());
  const bool changes = lifecycle_ != nullptr;
  front_ = std::make_unique<Pool>(fleet_.router, 0, std::move(front), changes, fleet_.seed);
  if (fleet_.split) {
    decode_ = std::make_unique<Pool>(fleet_.split->decode_router, decode_begin, std::move(decode),
                                     changes, fleet_.seed);
  }
  if (options_.verify) checker_ = std::make_unique<RunChecker>(std::move(options));
  for (std::uint32_t unit = 0; changes && unit < units_.size(); ++unit) {
    if (units_[unit].was_up) continue;
    for (std::uint32_t i = units_[unit].begin; i < units_[unit].end; ++i) {
      pool_of(i).set_available(i, false);
    }
  }
}

}  // namespace inferscale
