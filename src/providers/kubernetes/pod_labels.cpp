// SPDX-License-Identifier: Apache-2.0
// The labels and annotations by which a pod of ours is known.
#include "providers/kubernetes/pod_labels.h"

#include <fmt/format.h>

#include "providers/kubernetes/kubernetes_names.h"
#include "providers/tag_text.h"

namespace burst::kubernetes {

std::string GroupIdentity::selector() const {
  return fmt::format("{}={},{}={},{}={}", kClusterLabel, label_value(cluster), kPartitionLabel, label_value(partition),
                     kGroupLabel, label_value(group));
}

std::string label_value(const std::string& text) {
  if (is_label_value(text)) return text;
  constexpr std::size_t longest = 63, digits = 10;
  constexpr std::uint64_t hash_mask = (1ULL << (4 * digits)) - 1;
  const auto hash = fmt::format("{:010x}", hash_of(text) & hash_mask);
  const auto start = as_label_text(text).substr(0, longest - digits - 1);
  return start.empty() ? hash : start + "-" + hash;
}

}  // namespace burst::kubernetes
