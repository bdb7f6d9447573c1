// SPDX-License-Identifier: Apache-2.0
// What a pod asks for, in Slurm's words.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "burst/config.h"

namespace burst::kubernetes {

/// A Kubernetes quantity (`500m`, `1.5`, `12Gi`, `1e3`) in thousandths, rounded up as Kubernetes does; nothing for what
/// is none, is negative, or too large.
std::optional<std::int64_t> milli_quantity(std::string_view text);

/// The sums over a pod's containers. Where a container requests nothing its limit is its request, as the API server has
/// it.
struct PodResources {
  std::optional<std::int64_t> milli_cpus, memory_mib;  ///< nothing: no container asks for it
  std::map<std::string, std::int64_t> devices;         ///< `nvidia.com/gpu` -> how many: those that become Gres
  std::vector<std::string> problems;                   ///< `/spec/containers/0/resources/...: expected a quantity, ...`

  std::int64_t cpus() const;  ///< whole ones, one at least; 0 when no container asks for any
  std::string gres() const;   ///< `gpu:8`; empty: none
};

/// Of a pod's `spec`.
PodResources resources_of(const nlohmann::ordered_json& spec);

/// The Gres that an extended resource is: `gpu`, `gpu:1g.5gb`, `tpu`, `neuron`; empty for any other.
std::string gres_name(std::string_view resource);

}  // namespace burst::kubernetes
