// SPDX-License-Identifier: Apache-2.0
// Real HTTP servers on loopback, and a real clock, for the tests of the HTTP client.
#pragma once

#include <atomic>
#include <chrono>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <arpa/inet.h>
#include <httplib.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "burst/clock.h"

namespace burst::net {

class RealClock : public Clock {
 public:
  std::chrono::sys_time<std::chrono::milliseconds> now() const override {
    return std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now());
  }
  std::chrono::steady_clock::time_point steady_now() const override { return std::chrono::steady_clock::now(); }
  void sleep_for(std::chrono::milliseconds duration) override { std::this_thread::sleep_for(duration); }
};

/// httplib's server in a thread; `Server` is httplib::Server or SSLServer. Set up `server` first, then start().
template <typename Server = httplib::Server>
class TestServer {
 public:
  template <typename... Arguments>
  explicit TestServer(Arguments&&... arguments) : server(std::forward<Arguments>(arguments)...) {
    server.new_task_queue = [] { return new httplib::ThreadPool(160); };  // NOLINT: httplib deletes it
    server.set_tcp_nodelay(true);
    server.set_socket_options([this](int socket) { socket_ = socket; });
    server.set_keep_alive_max_count(10'000);
    server.set_pre_routing_handler([this](const httplib::Request& request, httplib::Response&) {
      const std::lock_guard lock(mutex_);
      ++requests_;
      ports_.insert(request.remote_port);
      return httplib::Server::HandlerResponse::Unhandled;
    });
    // What a handler has done is seen by who has got its reply and then asks for requests().
    server.set_post_routing_handler(
        [this](const httplib::Request&, httplib::Response&) { const std::lock_guard lock(mutex_); });
  }
  ~TestServer() {
    server.stop();
    if (thread_.joinable()) thread_.join();
  }
  TestServer(const TestServer&) = delete;
  TestServer& operator=(const TestServer&) = delete;

  void start() {
    port_ = server.bind_to_any_port("127.0.0.1");
    ::listen(socket_, 512);  // httplib's own 5 would drop connections that come at once
    thread_ = std::thread([this] { server.listen_after_bind(); });
    while (!server.is_running()) std::this_thread::yield();  // stop() would not end it before that
  }
  int port() const { return port_; }
  std::string url(const std::string& path, const std::string& scheme = "http") const {
    return scheme + "://127.0.0.1:" + std::to_string(port_) + path;
  }
  int requests() const {
    const std::lock_guard lock(mutex_);
    return requests_;
  }
  /// How many connections requests came over.
  std::size_t connections() const {
    const std::lock_guard lock(mutex_);
    return ports_.size();
  }

  Server server;

 private:
  mutable std::mutex mutex_;
  int requests_ = 0;
  std::set<int> ports_;
  int port_ = 0;
  int socket_ = -1;
  std::thread thread_;
};

/// Takes connections, reads one request head from each, answers with fixed text (none: just closes) and closes.
class RawServer {
 public:
  explicit RawServer(std::string answer) : answer_(std::move(answer)), socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* generic = reinterpret_cast<sockaddr*>(&address);  // NOLINT: the sockets API
    if (::bind(socket_, generic, size) != 0 || ::listen(socket_, 16) != 0 ||
        ::getsockname(socket_, generic, &size) != 0) {
      throw std::runtime_error("no port on loopback");
    }
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { serve(); });
  }
  ~RawServer() {
    ::shutdown(socket_, SHUT_RDWR);
    thread_.join();
    ::close(socket_);
  }
  RawServer(const RawServer&) = delete;
  RawServer& operator=(const RawServer&) = delete;

  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }
  std::vector<std::string> heads() const {
    const std::lock_guard lock(mutex_);
    return heads_;
  }

 private:
  void serve() {
    while (true) {
      const int peer = ::accept(socket_, nullptr, nullptr);
      if (peer < 0) return;
      std::string head;
      char c = 0;
      while (!head.ends_with("\r\n\r\n") && ::read(peer, &c, 1) == 1) head += c;
      {
        const std::lock_guard lock(mutex_);
        heads_.push_back(head);
      }
      for (std::size_t sent = 0; sent < answer_.size();) {
        const auto count = ::send(peer, answer_.data() + sent, answer_.size() - sent, MSG_NOSIGNAL);
        if (count <= 0) break;
        sent += static_cast<std::size_t>(count);
      }
      ::close(peer);
    }
  }

  std::string answer_;
  int socket_;
  int port_ = 0;
  mutable std::mutex mutex_;
  std::vector<std::string> heads_;
  std::thread thread_;
};

/// A port on loopback where nobody listens.
inline int closed_port() {
  const int handle = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);  // NOLINT: the sockets API
  const bool bound = ::bind(handle, generic, size) == 0 && ::getsockname(handle, generic, &size) == 0;
  ::close(handle);
  return bound ? ntohs(address.sin_port) : 0;
}

}  // namespace burst::net
