// SPDX-License-Identifier: Apache-2.0
// soperator's NodeSet and NodeSetPowerState: read and edited as documents, without a request.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

namespace burst::kubernetes {

/// Numbers of a NodeSet's nodes: pod NODESET-N.
using Ordinals = std::set<std::int64_t>;

/// What a launch needs to know of a NodeSet.
struct NodeSet {
  std::int64_t replicas = 0;  ///< of an ephemeral one: how many ordinals there are
  bool ephemeral = false;     ///< its pods are those that its NodeSetPowerState names
};

/// Throws Error{"InvalidReply"}.
NodeSet parse_node_set(std::string_view body);

/// A NodeSetPowerState. What it holds beside the active ordinals stays as it is.
class PowerState {
 public:
  /// Throws Error{"InvalidReply"} for what is none, and for one that could not be written back safely: without a
  /// resourceVersion, or with activeNodes that are no list of numbers.
  static PowerState parse(std::string_view body);
  /// One to be created: nobody is active.
  static PowerState create(const std::string& name_space, const std::string& node_set);

  const Ordinals& active() const { return active_; }
  bool exists() const { return exists_; }  ///< it was read, not made

  /// Whether they changed anything.
  bool add(const Ordinals& ordinals);
  bool remove(const Ordinals& ordinals);

  /// Of the PUT, whose resourceVersion makes the API server refuse it where someone else was quicker; of the POST
  /// where it does not exist. activeNodes in order, each once.
  std::string body() const;

 private:
  PowerState(std::shared_ptr<const nlohmann::ordered_json> document, Ordinals active, bool exists)
      : document_(std::move(document)), active_(std::move(active)), exists_(exists) {}

  std::shared_ptr<const nlohmann::ordered_json> document_;
  Ordinals active_;
  bool exists_;
};

/// N of NODESET-N; nothing for any other name, `NODESET-03` among them.
std::optional<std::int64_t> ordinal_in(std::string_view pod_name, std::string_view node_set);

}  // namespace burst::kubernetes
