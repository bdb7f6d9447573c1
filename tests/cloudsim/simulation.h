// SPDX-License-Identifier: Apache-2.0
// Everything put together: the server, the shared parts, the clouds, and the control API over all of them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "call_log.h"
#include "event_loop.h"
#include "faults.h"
#include "knobs.h"
#include "kubernetes/kubernetes_service.h"
#include "machine_boot.h"
#include "options.h"
#include "server.h"
#include "simulated_cloud.h"

namespace cloudsim {

class Simulation {
 public:
  /// Throws std::invalid_argument for a configuration that does not fit.
  explicit Simulation(const Options& options);
  /// Listens, writes the port file, serves until SIGTERM or SIGINT. Nothing is left behind.
  void run();

 private:
  HttpReply handle(const HttpRequest& request);
  HttpReply control(const HttpRequest& request);
  nlohmann::json control_call(const HttpRequest& request, const nlohmann::json& body);
  void set_knobs(const nlohmann::json& values);
  void reset();
  void on_signal(int signal);

  Options options_;
  EventLoop loop_;
  Knobs knobs_;
  Knobs initial_knobs_;
  Faults faults_;
  CallLog calls_;
  MachineBoot boot_;
  std::vector<std::unique_ptr<SimulatedCloud>> clouds_;
  kubernetes::KubernetesService* kubernetes_ = nullptr;  ///< one of the clouds
  Server server_;
};

}  // namespace cloudsim
