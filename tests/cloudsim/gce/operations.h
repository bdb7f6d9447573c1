// SPDX-License-Identifier: Apache-2.0
// Long-running operations: every call that changes something gives one, which ends later.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "gce/cloud.h"
#include "gce/model.h"

namespace cloudsim::gce {

struct OperationSpec {
  std::string project, location, type;  ///< location: "zones/Z", "regions/R" or "global"
  std::string target;                   ///< resource, e.g. "projects/p/zones/z/instances/n"
  std::uint64_t target_id = 0;
  std::string group_id;
};

class Operations {
 public:
  using Map = std::map<std::string, std::unique_ptr<Operation>>;  ///< by "PROJECT/LOCATION/NAME"

  explicit Operations(Cloud& cloud) : cloud_(&cloud) {}

  /// PENDING, and RUNNING halfway to the end that the knob operation_ms has. Somebody has to finish() it.
  Operation& begin(const OperationSpec& spec);
  /// begin(), and DONE after operation_ms.
  Operation& begin_timed(const OperationSpec& spec, std::vector<Failure> errors = {});
  /// DONE. An operation that was forgotten in between (reset) is none of ours: hence the key.
  void finish(const std::string& key, std::vector<Failure> errors = {});
  /// Calls `step` once: when it is DONE, or after `patience`.
  void wait(Operation& operation, Millis patience, const std::function<void()>& step);

  Operation* find(const std::string& project, const std::string& location, const std::string& name) const;
  Operation* find(const std::string& key) const;
  const Map& all() const { return operations_; }
  static std::string key_of(const Operation& operation);
  void reset();  ///< whoever waits waits no longer

 private:
  Cloud* cloud_;
  Map operations_;
};

nlohmann::json to_json(const Operation& operation);

}  // namespace cloudsim::gce
