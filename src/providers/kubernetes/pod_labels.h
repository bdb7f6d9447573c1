// SPDX-License-Identifier: Apache-2.0
// The labels and annotations by which a pod of ours is known.
#pragma once

#include <string>
#include <string_view>

namespace burst::kubernetes {

inline constexpr std::string_view kManagedBy = "app.kubernetes.io/managed-by";  ///< label: `slurm-burst`
inline constexpr std::string_view kManager = "slurm-burst";
inline constexpr std::string_view kClusterLabel = "slurm-burst/cluster";
inline constexpr std::string_view kPartitionLabel = "slurm-burst/partition";
inline constexpr std::string_view kGroupLabel = "slurm-burst/group";
inline constexpr std::string_view kNodeLabel = "slurm-burst/node";
inline constexpr std::string_view kLaunchLabel = "slurm-burst/launch";           ///< which start() made it
inline constexpr std::string_view kJobAnnotation = "slurm-burst/job";            ///< the job that it was made for
inline constexpr std::string_view kTemplateAnnotation = "slurm-burst/template";  ///< PodTemplate::hash()

/// Whose pods: a node group of a cluster.
struct GroupIdentity {
  std::string cluster, partition, group;
  std::string key() const { return partition + "-" + group; }
  /// labelSelector of lists: `slurm-burst/cluster=c,slurm-burst/partition=p,slurm-burst/group=g`, as label values.
  std::string selector() const;
};

/// A text as a label's value ([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?, at most 63): other characters become '-'; what
/// was changed or cut bears a short hash of the whole at its end, so that two texts never give one value.
std::string label_value(const std::string& text);

}  // namespace burst::kubernetes
