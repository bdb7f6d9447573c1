// SPDX-License-Identifier: Apache-2.0
// `generate_conf --from-cluster-config`: writes a partitions.json from a Vertex AI cluster's configuration.
#include "programs/convert_cluster.h"

#include <algorithm>

#include <fmt/format.h>

#include "burst/error.h"
#include "core/cluster_config.h"
#include "programs/suite.h"

namespace burst {

int convert_cluster(const ConvertClusterOptions& options, Files& files, std::ostream& out, std::ostream& err) {
  const auto text = files.read(options.file);
  if (!text) throw Error("FileError", fmt::format("reading \"{}\": no such file", options.file));
  std::vector<ConfigProblem> problems;
  const auto converted = convert_cluster_config(options.file, *text, problems);
  if (!converted.partitions.empty()) {
    parse_partitions("partitions.json", converted.partitions, options.providers, problems);
  }
  for (const auto& problem : problems) err << (problem.fatal ? "error: " : "warning: ") << problem.message << "\n";
  if (std::any_of(problems.begin(), problems.end(), [](const auto& problem) { return problem.fatal; })) {
    return kNotConfigured;
  }
  if (options.to_stdout) {
    out << converted.partitions;
    if (!out.flush()) throw Error("FileError", "writing to standard output: not all of the text was taken");
  } else {
    constexpr unsigned mode = 0644;
    const auto folder = options.directory.empty() || options.directory == "." ? "" : options.directory + "/";
    const auto file = folder + "partitions.json";
    if (files.read(file)) {
      throw Error("FileError", fmt::format("writing \"{}\": it is there already; name another folder with --output, or "
                                           "use --stdout",
                                           file));
    }
    files.write(file, converted.partitions, mode);
  }
  for (const auto& hint : converted.hints) err << "hint: " << hint << "\n";
  return 0;
}

}  // namespace burst
