// SPDX-License-Identifier: Apache-2.0
// `generate_conf --from-cluster-config`: writes a partitions.json from a Vertex AI cluster's configuration.
#pragma once

#include <ostream>
#include <span>
#include <string>

#include "burst/config.h"
#include "burst/files.h"

namespace burst {

struct ConvertClusterOptions {
  std::string file;                         ///< cluster_config.json
  std::string directory = ".";              ///< where partitions.json goes; one that is there already is not replaced
  bool to_stdout = false;                   ///< print it instead
  std::span<const ProviderKeys> providers;  ///< the result is checked as load_config() will
};

/// Problems and hints go to `err`, a line each. The exit status: 0, or 2 when the file can't be used; nothing is
/// written then. Throws Error{"FileError"} when a file can't be read or written.
int convert_cluster(const ConvertClusterOptions& options, Files& files, std::ostream& out, std::ostream& err);

}  // namespace burst
