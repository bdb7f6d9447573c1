// SPDX-License-Identifier: Apache-2.0
// The pods of one node group, looked up and deleted.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "burst/services.h"
#include "providers/kubernetes/kubernetes_api.h"
#include "providers/kubernetes/kubernetes_settings.h"
#include "providers/kubernetes/pod_labels.h"
#include "providers/kubernetes/pod_status.h"

namespace burst::kubernetes {

/// One node group and its way to the API server.
struct GroupContext {
  GroupIdentity identity;
  GroupSettings settings;
  KubernetesApi api;
  Clock& clock;
  Log& log;
  Random& random;

  std::chrono::sys_seconds now() const { return std::chrono::floor<std::chrono::seconds>(clock.now()); }
};

/// The pods of the group that are ours, or only those of some launches, which are label values. Throws Error: never a
/// part as if it were all.
std::vector<Pod> read_pods(const GroupContext& context, const std::vector<std::string>& launches = {});

/// As read_pods(), with what their metadata say only: names, UIDs, labels, times. A fraction of the bytes, where it is
/// of no matter how they fare.
std::vector<Pod> read_pod_metadata(const GroupContext& context);

/// Sends calls; after an error that will meet all others as well (a quota, a role, a template) no more are sent, and
/// those get that error as theirs. Results in the order of the calls.
std::vector<CallResult> send_until_hopeless(const KubernetesApi& api, const std::vector<ApiCall>& calls);

/// Ends pods with the group's grace, each only as long as it has that UID: what is gone, or is another pod by now, is
/// no error. Returns the errors by machine id.
std::map<std::string, ApiError> delete_pods(const GroupContext& context, std::span<const PodId> pods);

}  // namespace burst::kubernetes
