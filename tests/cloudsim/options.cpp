// SPDX-License-Identifier: Apache-2.0
// The command line of cloudsim.
#include "options.h"

#include <charconv>
#include <exception>
#include <fstream>
#include <iostream>
#include <random>
#include <stdexcept>
#include <vector>

#include <CLI/CLI.hpp>

namespace cloudsim {

namespace {

void read_listen(const std::string& option, const std::string& text, std::string& address, std::uint16_t& number) {
  const auto colon = text.rfind(':');
  const char* const end = text.data() + text.size();
  const char* const port = colon == std::string::npos ? end : text.data() + colon + 1;
  const auto result = std::from_chars(port, end, number);
  if (port == end || result.ec != std::errc{} || result.ptr != end) {
    throw std::invalid_argument(option + ": expected ADDRESS:PORT, found \"" + text + "\"");
  }
  address = text.substr(0, colon);
}

nlohmann::json read_config(const std::string& path) {
  std::ifstream file(path);
  if (!file) {
    throw std::invalid_argument("reading \"" + path + "\"");
  }
  return nlohmann::json::parse(file);
}

}  // namespace

std::optional<Options> parse_options(int argc, char** argv, int& exit_status) {
  Options options;
  options.seed = std::random_device{}();
  std::string listen = "127.0.0.1:0";
  std::string kubernetes_listen = "127.0.0.1:0";
  std::string config;
  std::int64_t grace = options.boot.grace.count();
  std::optional<std::int64_t> latency;
  std::optional<std::int64_t> boot_delay;
  std::optional<std::int64_t> terminate_delay;
  bool no_throttling = false;
  bool no_namespaces = false;
  CLI::App app{"cloudsim: simulated clouds for the tests of slurm-burst"};
  app.add_option("--listen", listen, "ADDRESS:PORT, port 0 takes a free one")->capture_default_str();
  app.add_option("--port-file", options.port_file, "where the port is written once it listens");
  app.add_option("--kubernetes-listen", kubernetes_listen, "ADDRESS:PORT of the Kubernetes API, over TLS")
      ->capture_default_str();
  app.add_option("--kubernetes-port-file", options.kubernetes_port_file, "where its port is written");
  app.add_option("--region", options.region, "of the head node's metadata service")->capture_default_str();
  app.add_option("--config", config, "JSON file of knobs, see README.md");
  app.add_option("--boot-command", options.boot.program, "run for each instance that becomes running");
  app.add_option("--boot-env", options.boot.environment, "K=V for the boot command; may be repeated");
  app.add_option("--log-dir", options.boot.log_dir, "where each machine's output goes, INSTANCE.log");
  app.add_option("--kill-after-ms", grace, "from SIGTERM to SIGKILL of a machine")->capture_default_str();
  app.add_flag("--no-namespaces", no_namespaces, "machines are plain process trees");
  app.add_option("--latency-ms", latency, "knob latency_ms");
  app.add_option("--boot-ms", boot_delay, "knob boot_ms");
  app.add_option("--terminate-ms", terminate_delay, "knob terminate_ms");
  app.add_flag("--no-throttling", no_throttling, "knob throttling: false");
  app.add_option("--seed", options.seed, "of ids and of faults with a probability");
  app.add_flag("--keep-running", options.keep_running, "do not stop when the parent process dies");
  try {
    app.parse(argc, argv);
    read_listen("--listen", listen, options.address, options.port);
    read_listen("--kubernetes-listen", kubernetes_listen, options.kubernetes_address, options.kubernetes_port);
    if (!config.empty()) {
      options.knobs = read_config(config);
    }
  } catch (const CLI::ParseError& error) {
    exit_status = app.exit(error);
    return std::nullopt;
  } catch (const std::exception& error) {
    std::cerr << "cloudsim: " << error.what() << '\n';
    exit_status = 2;
    return std::nullopt;
  }
  options.boot.grace = Millis{grace};
  options.boot.namespaces = !no_namespaces;
  for (const auto& [key, value] :
       {std::pair{"latency_ms", latency}, {"boot_ms", boot_delay}, {"terminate_ms", terminate_delay}}) {
    if (value) {
      options.knobs[key] = *value;
    }
  }
  if (no_throttling) {
    options.knobs["throttling"] = false;
  }
  return options;
}

}  // namespace cloudsim
