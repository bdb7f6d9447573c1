// SPDX-License-Identifier: Apache-2.0
// Launches under way, and what becomes of machines whose launch came short.
#include "providers/ec2/ec2_fleet_batch.h"

#include <algorithm>
#include <set>
#include <utility>

namespace burst::ec2 {
namespace {

struct Spare {
  std::string instance_id;
  std::size_t made_by;
};

class Sharing {
 public:
  explicit Sharing(std::vector<FleetBatch>& batches) : batches_(batches) {}

  std::vector<Move> run(std::vector<std::string>& surplus) {
    for (std::size_t i = 0; i < batches_.size(); ++i) batches_[i].made_by.assign(batches_[i].instance_ids.size(), i);
    const std::set<std::size_t> came_short = short_launches();
    if (came_short.empty()) return {};
    give_up(came_short);
    for (const std::size_t launch : came_short) make_whole(launch);
    for (std::size_t i = 0; i < batches_.size(); ++i)
      if (!batches_[i].all_or_nothing) fill(i);
    for (auto& spare : spares_) surplus.push_back(std::move(spare.instance_id));
    return std::move(moves_);
  }

 private:
  std::vector<FleetBatch>& batches_;
  std::vector<Spare> spares_;
  std::vector<Move> moves_;

  std::set<std::size_t> short_launches() const {
    std::set<std::size_t> launches;
    for (const auto& batch : batches_)
      if (batch.all_or_nothing && is_short(batch)) launches.insert(batch.launch);
    return launches;
  }

  void give_up(const std::set<std::size_t>& launches) {
    for (std::size_t i = 0; i < batches_.size(); ++i) {
      if (!launches.contains(batches_[i].launch)) continue;
      for (auto& id : batches_[i].instance_ids) spares_.push_back({std::move(id), i});
      batches_[i].instance_ids.clear();
      batches_[i].made_by.clear();
    }
  }

  /// Else its nodes all bear the reason of those that had one.
  void make_whole(std::size_t launch) {
    std::size_t wanted = 0;
    std::vector<FleetError> errors;
    for (const auto& batch : batches_) {
      if (batch.launch != launch) continue;
      wanted += batch.nodes.size();
      if (errors.empty()) errors = batch.errors;
    }
    const bool is_enough = wanted <= spares_.size();
    for (std::size_t i = 0; i < batches_.size(); ++i) {
      if (batches_[i].launch != launch) continue;
      if (is_enough) {
        fill(i);
      } else if (batches_[i].errors.empty()) {
        batches_[i].errors = errors;
      }
    }
  }

  /// A batch's own machines first: each goes to the node that it was recorded for.
  void fill(std::size_t index) {
    FleetBatch& batch = batches_[index];
    if (!is_short(batch)) return;
    std::ranges::stable_partition(spares_, [&](const Spare& spare) { return spare.made_by == index; });
    const std::size_t count = std::min(spares_.size(), batch.nodes.size() - batch.instance_ids.size());
    for (std::size_t i = 0; i < count; ++i) {
      Spare& spare = spares_[i];
      if (spare.made_by != index)
        moves_.push_back({spare.made_by, spare.instance_id, batch.nodes[batch.instance_ids.size()]});
      batch.made_by.push_back(spare.made_by);
      batch.instance_ids.push_back(std::move(spare.instance_id));
    }
    spares_.erase(spares_.begin(), spares_.begin() + static_cast<std::ptrdiff_t>(count));
  }
};

}  // namespace

bool is_short(const FleetBatch& batch) { return batch.instance_ids.size() < batch.nodes.size(); }

std::vector<Move> share_machines(std::vector<FleetBatch>& batches, std::vector<std::string>& surplus) {
  return Sharing(batches).run(surplus);
}

}  // namespace burst::ec2
