// SPDX-License-Identifier: Apache-2.0
// The file of a pod template: read, and checked as far as we touch it.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "burst/files.h"

namespace burst::kubernetes {

/// `{"metadata": ..., "spec": ...}` of a `Pod`, a `PodTemplate` or a bare template, both objects; spec/containers is a
/// list of objects with names. Of metadata what belongs to one object alone (name, uid, ...) is gone. What of the rest
/// is right the API server knows. Throws Error{"InvalidPodTemplate", `reading "PATH": /spec/containers/0/name: ...`}.
nlohmann::json read_pod_template(const Files& files, const std::string& path, const std::string& name_space);

}  // namespace burst::kubernetes
