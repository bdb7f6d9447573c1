// SPDX-License-Identifier: Apache-2.0
// A cloudsim of a test's own, as a process; ended with the object.
#pragma once

#include <chrono>
#include <fstream>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "burst/http.h"
#include "fakes/temporary_folder.h"
#include "net/curl_http.h"
#include "system/process_environment.h"
#include "system/system_clock.h"
#include "system/system_random.h"

namespace burst {

/// Says nothing.
class SilentLog : public Log {
 public:
  void write(LogLevel, std::string_view) override {}
  bool enabled(LogLevel) const override { return false; }
};

class CloudsimProcess {
 public:
  explicit CloudsimProcess(std::vector<std::string> options = {}) {
    const std::string port_file = folder_.path() + "/port";
    std::vector<std::string> argv{BURST_BINARY_DIR "/cloudsim", "--port-file", port_file};
    argv.insert(argv.end(), options.begin(), options.end());
    std::vector<char*> pointers;
    for (auto& word : argv) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    posix_spawn_file_actions_t quiet;
    posix_spawn_file_actions_init(&quiet);
    posix_spawn_file_actions_addopen(&quiet, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    const int failed = posix_spawn(&child_, pointers[0], &quiet, nullptr, pointers.data(), environ);
    posix_spawn_file_actions_destroy(&quiet);
    if (failed != 0) throw std::runtime_error("cloudsim can't be started");
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds{30};
    while (!(std::ifstream(port_file) >> port_)) {
      if (std::chrono::steady_clock::now() > end) throw std::runtime_error("cloudsim does not listen");
      std::this_thread::sleep_for(std::chrono::milliseconds{5});  // polls a condition: the file appears by rename
    }
    net::CurlHttpSettings settings;
    settings.deadline = std::chrono::steady_clock::now() + std::chrono::minutes{5};
    http_ = net::make_curl_http(settings, clock_, random_, environment_, log_);
  }
  ~CloudsimProcess() {
    kill(child_, SIGTERM);
    waitpid(child_, nullptr, 0);
  }
  CloudsimProcess(const CloudsimProcess&) = delete;
  CloudsimProcess& operator=(const CloudsimProcess&) = delete;

  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }

  nlohmann::json get(const std::string& path) { return control("GET", path, ""); }
  std::string text(const std::string& path) { return control_text("GET", path, ""); }
  nlohmann::json post(const std::string& path, const nlohmann::json& body) {
    return control("POST", path, body.dump());
  }
  void knobs(const nlohmann::json& body) { post("/_control/knobs", body); }
  void fault(const nlohmann::json& body) { post("/_control/faults", body); }
  void clear_faults() { control("DELETE", "/_control/faults", ""); }
  /// Machines that are not terminated or on their way there, of the cloud whose knobs stand under that key; for
  /// Kubernetes the pods as they are.
  nlohmann::json alive(const std::string& cloud = "ec2") {
    static const std::set<std::string> kLive{"pending", "running", "PROVISIONING", "STAGING", "RUNNING"};
    nlohmann::json result = nlohmann::json::array();
    if (cloud == "kubernetes") {
      const auto all = get("/_control/kubernetes/pods");
      for (const auto& pod : all["pods"]) {
        const auto phase = pod["status"].value("phase", "");
        if (!pod["metadata"].contains("deletionTimestamp") && (phase == "Pending" || phase == "Running"))
          result.push_back(pod);
      }
      return result;
    }
    for (auto& machine : get(cloud == "ec2" ? "/_control/instances" : "/_control/" + cloud + "/instances")) {
      if (kLive.contains(machine["state"])) result.push_back(machine);
    }
    return result;
  }
  int calls(const std::string& action) {
    const auto actions = get("/_control/calls")["actions"];
    return actions.contains(action) ? actions[action]["attempts"].get<int>() : 0;
  }

 private:
  TemporaryFolder folder_;
  SystemClock clock_;
  SystemRandom random_;
  ProcessEnvironment environment_;
  SilentLog log_;
  pid_t child_ = -1;
  int port_ = 0;
  std::unique_ptr<HttpClient> http_;

  nlohmann::json control(const std::string& method, const std::string& path, const std::string& body) {
    return nlohmann::json::parse(control_text(method, path, body));
  }
  std::string control_text(const std::string& method, const std::string& path, const std::string& body) {
    HttpCall call;
    call.request = {method, url() + path, {{"Content-Type", "application/json"}}, body};
    const auto response = http_->send_one(std::move(call));
    if (response.status != 200) throw std::runtime_error(path + ": " + response.body + response.transport_error);
    return response.body;
  }
};

}  // namespace burst
