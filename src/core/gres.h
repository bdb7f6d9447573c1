// SPDX-License-Identifier: Apache-2.0
// The Gres option of a node group, and gres.conf made from it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "burst/config.h"

namespace burst {

/// One item of `Gres=`: `gpu:a100:8(S:0-1)`.
struct Gres {
  std::string name, type;  ///< the type may be empty
  unsigned long long count = 1;
  std::string count_text = "1";  ///< as it stands there: `4G`
  bool operator==(const Gres&) const = default;
};

/// The items of a Gres value, `name[:type][:no_consume][:count][(S:...)]` with commas between them. An item that is
/// not of that form is appended to `malformed` and left out.
std::vector<Gres> parse_gres(std::string_view value, std::vector<std::string>& malformed);

/// The group's Gres items; the option's name is compared without case, as Slurm does.
std::vector<Gres> group_gres(const NodeGroup& group, std::vector<std::string>& malformed);

/// The lines for gres.conf, in the order of partitions.json. GPUs get device files, numbered on over all gpu items of
/// a node; other resources get a count.
std::string gres_conf_text(const Config& config);

}  // namespace burst
