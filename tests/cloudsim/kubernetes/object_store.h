// SPDX-License-Identifier: Apache-2.0
// What etcd is to an API server: objects in versions, the history of their changes, and old states of lists.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "kubernetes/resource_type.h"

namespace cloudsim::kubernetes {

using Object = std::shared_ptr<const nlohmann::json>;

struct Change {
  std::uint64_t version = 0;
  const ResourceType* type = nullptr;
  Object before, after;  ///< null before: created; null after: removed
};

std::string name_of(const nlohmann::json& object);
std::string namespace_of(const nlohmann::json& object);
bool is_terminating(const nlohmann::json& object);
std::string now_rfc3339();  ///< whole seconds, as in metadata
std::string rfc3339(std::chrono::system_clock::time_point time);

class ObjectStore {
 public:
  using Objects = std::map<std::string, Object>;  ///< by NAMESPACE/NAME: the order of lists
  using Observer = std::function<void(const Change&)>;

  explicit ObjectStore(std::mt19937_64& random) : random_(&random) {}
  void observe(Observer observer) { observer_ = std::move(observer); }

  Object find(const ResourceType& type, const std::string& space, const std::string& name) const;
  const Objects& all(const ResourceType& type) const;
  /// Gives it uid, creationTimestamp and a version. It must not exist.
  Object create(const ResourceType& type, nlohmann::json object);
  /// A new version of what exists; none when nothing changed. No checks.
  Object update(const ResourceType& type, nlohmann::json object);
  void remove(const ResourceType& type, const std::string& space, const std::string& name);

  std::uint64_t version() const { return version_; }
  /// Changes after `version`; nothing: they are forgotten.
  std::optional<std::vector<Change>> since(std::uint64_t version) const;
  std::uint64_t oldest() const { return compacted_; }
  /// The objects as they were at that version; nothing: forgotten.
  std::optional<Objects> at(const ResourceType& type, std::uint64_t version) const;
  void compact() { history_.clear(), compacted_ = version_; }  ///< forgets every older version
  void clear();

  std::string new_uid();
  std::string new_suffix();  ///< five letters, as generateName appends

 private:
  static std::string key(const std::string& space, const std::string& name) { return space + "/" + name; }
  void changed(const ResourceType& type, Object before, Object after);

  std::mt19937_64* random_;
  Observer observer_;
  std::map<const ResourceType*, Objects> objects_;
  std::deque<Change> history_;
  std::uint64_t version_ = 1000;
  std::uint64_t compacted_ = 1000;
};

}  // namespace cloudsim::kubernetes
