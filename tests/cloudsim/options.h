// SPDX-License-Identifier: Apache-2.0
// The command line of cloudsim.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "machine_boot.h"

namespace cloudsim {

struct Options {
  std::string address = "127.0.0.1";
  std::uint16_t port = 0;
  std::string port_file;
  std::string kubernetes_address = "127.0.0.1";
  std::uint16_t kubernetes_port = 0;
  std::string kubernetes_port_file;
  std::string region = "us-east-1";  ///< of the head node's metadata service
  std::uint64_t seed = 0;
  bool keep_running = false;  ///< do not stop when the parent process dies
  MachineBootSettings boot;
  nlohmann::json knobs = nlohmann::json::object();  ///< configuration file, overridden by the command line
};

/// Nothing: `exit_status` says how to leave (help was shown, or a complaint).
std::optional<Options> parse_options(int argc, char** argv, int& exit_status);

}  // namespace cloudsim
