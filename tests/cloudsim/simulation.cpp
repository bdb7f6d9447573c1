// SPDX-License-Identifier: Apache-2.0
// Everything put together, and the control API.
#include "simulation.h"

#include <csignal>
#include <cstdio>
#include <fstream>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "ec2/ec2_service.h"
#include "gce/gce_service.h"

namespace cloudsim {

namespace {

constexpr std::string_view kControl = "/_control";

HttpReply json_reply(int status, const nlohmann::json& body) {
  HttpReply reply;
  reply.status = status;
  reply.content_type = "application/json";
  reply.body = body.dump(1, ' ', false, nlohmann::json::error_handler_t::replace);
  return reply;
}

void write_port_file(const std::string& path, std::uint16_t port) {
  // Renamed into place, so that nobody reads half of it.
  const auto temporary = path + ".new";
  std::ofstream(temporary) << port << '\n';
  if (std::rename(temporary.c_str(), path.c_str()) != 0) {
    throw std::runtime_error("writing " + path);
  }
}

/// What EKS's authenticator asks AWS for.
std::optional<kubernetes::AwsKey> aws_key(const ec2::Ec2Service& aws, const std::string& access_key_id) {
  const auto key = aws.find_key(access_key_id);
  if (!key) {
    return std::nullopt;
  }
  return kubernetes::AwsKey{key->secret_access_key, key->session_token, key->arn, key->expires};
}

}  // namespace

Simulation::Simulation(const Options& options)
    : options_(options),
      faults_(static_cast<std::uint32_t>(options.seed)),
      boot_(loop_, options.boot),
      server_(loop_, [this](const HttpRequest& request) { return handle(request); }) {
  const SharedParts shared{loop_, boot_, knobs_, faults_, calls_};
  auto ec2 = std::make_unique<ec2::Ec2Service>(shared, options.region, options.seed);
  auto gce = std::make_unique<gce::GceService>(shared, options.seed);
  gce->set_aws_verifier([&sender = *ec2](const HttpRequest& request) { return sender.is_signed(request); });
  auto kubernetes = std::make_unique<kubernetes::KubernetesService>(
      shared, options.seed, [&aws = *ec2](const std::string& access_key_id) { return aws_key(aws, access_key_id); });
  kubernetes->access().set_google_verifier(
      [&google = *gce](const HttpRequest& request) { return google.authorized(request); });
  kubernetes_ = kubernetes.get();
  clouds_.push_back(std::move(ec2));
  clouds_.push_back(std::move(gce));
  clouds_.push_back(std::move(kubernetes));
  set_knobs(options.knobs);
  initial_knobs_ = knobs_;
}

void Simulation::run() {
  loop_.on_signals({SIGTERM, SIGINT, SIGCHLD}, [this](int signal) { on_signal(signal); });
  const auto port = server_.listen(options_.address, options_.port);
  const auto kubernetes_port = kubernetes_->listen(options_.kubernetes_address, options_.kubernetes_port);
  if (!options_.kubernetes_port_file.empty()) {
    write_port_file(options_.kubernetes_port_file, kubernetes_port);
  }
  for (const auto& cloud : clouds_) {
    cloud->start(fmt::format("http://{}:{}", options_.address, port));
  }
  if (!options_.port_file.empty()) {
    write_port_file(options_.port_file, port);
  }
  fmt::print("cloudsim: listening on {}:{}\n", options_.address, port);
  std::fflush(stdout);
  loop_.run();
  boot_.stop_all();
}

void Simulation::on_signal(int signal) {
  if (signal == SIGCHLD) {
    boot_.reap();
  } else {
    loop_.stop();
  }
}

HttpReply Simulation::handle(const HttpRequest& request) {
  if (request.path.starts_with(kControl)) {
    return control(request);
  }
  for (const auto& cloud : clouds_) {
    if (auto reply = cloud->handle(request)) {
      return std::move(*reply);
    }
  }
  return json_reply(404, {{"error", "nothing is simulated at " + request.path}});
}

HttpReply Simulation::control(const HttpRequest& request) {
  try {
    const auto body = request.body.empty() ? nlohmann::json::object() : nlohmann::json::parse(request.body);
    const auto answer = control_call(request, body);
    if (answer.is_string()) {  // a file rather than an object
      HttpReply reply;
      reply.body = answer.get<std::string>();
      return reply;
    }
    return json_reply(200, answer);
  } catch (const std::out_of_range& error) {
    return json_reply(404, {{"error", error.what()}});
  } catch (const std::exception& error) {
    return json_reply(400, {{"error", error.what()}});
  }
}

nlohmann::json Simulation::control_call(const HttpRequest& request, const nlohmann::json& body) {
  const auto call = request.method + " " + request.path.substr(kControl.size());
  if (call == "GET /calls") {
    auto out = calls_.summary();
    out["connections"] = server_.connections();
    out["peak_connections"] = server_.peak_connections();
    return out;
  }
  if (call == "GET /calls/log") {
    return calls_.sequence();
  }
  if (call == "DELETE /calls") {
    calls_.clear();
    return nlohmann::json::object();
  }
  if (call == "GET /faults") {
    return faults_.list();
  }
  if (call == "POST /faults") {
    return {{"id", faults_.add(body)}};
  }
  if (call == "DELETE /faults") {
    faults_.clear();
    return nlohmann::json::object();
  }
  if (call == "GET /machines") {
    return {{"running", boot_.running()}};
  }
  if (call == "POST /knobs") {
    set_knobs(body);
    return nlohmann::json::object();
  }
  if (call == "POST /reset") {
    reset();
    return nlohmann::json::object();
  }
  for (const auto& cloud : clouds_) {
    if (auto answer = cloud->control(request, body)) {
      return std::move(*answer);
    }
  }
  throw std::out_of_range("no such call: " + call);
}

void Simulation::set_knobs(const nlohmann::json& values) {
  for (const auto& [key, value] : values.items()) {
    if (set_knob(knobs_, key, value)) {
      continue;
    }
    bool taken = false;
    for (const auto& cloud : clouds_) {
      if (cloud->name() == key) {
        cloud->set_knobs(value);
        taken = true;
      }
    }
    if (!taken) {
      throw std::invalid_argument("unknown knob \"" + key + "\"");
    }
  }
}

void Simulation::reset() {
  knobs_ = initial_knobs_;
  faults_.clear();
  calls_.clear();
  for (const auto& cloud : clouds_) {
    cloud->reset();
  }
}

}  // namespace cloudsim
