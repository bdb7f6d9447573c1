// SPDX-License-Identifier: Apache-2.0
// The HTTP/1.1 server under every simulated cloud: many connections, one thread, full control over how a reply leaves.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>

#include "event_loop.h"
#include "http_message.h"
#include "tls.h"

namespace cloudsim {

class Server {
 public:
  /// Answers at once; a delay is part of the reply.
  using Handler = std::function<HttpReply(const HttpRequest&)>;

  /// With a context, every connection is TLS. It outlives the server.
  Server(EventLoop& loop, Handler handler, const TlsContext* tls = nullptr);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// Port 0 takes a free one. Returns the port. Throws std::system_error.
  std::uint16_t listen(const std::string& address, std::uint16_t port);

  std::size_t connections() const { return connections_.size(); }
  std::size_t peak_connections() const { return peak_connections_; }

 private:
  struct Connection;
  void accept_all();
  void readable(std::uint64_t id);
  void serve_next(std::uint64_t id);
  void deliver_in_time(std::uint64_t id);
  void deliver(std::uint64_t id);
  void dribble(std::uint64_t id, std::size_t piece, Millis pause);
  void flush(std::uint64_t id);
  void finish(Connection& connection);
  void open_stream(Connection& connection);
  bool write_chunk(std::uint64_t id, std::string_view text);
  void end_stream(std::uint64_t id);
  void close_connection(std::uint64_t id, bool politely = false);
  Connection* find(std::uint64_t id);

  EventLoop& loop_;
  Handler handler_;
  const TlsContext* tls_;
  int listener_ = -1;
  std::uint64_t last_id_ = 0;
  std::size_t peak_connections_ = 0;
  std::unordered_map<std::uint64_t, std::unique_ptr<Connection>> connections_;
};

}  // namespace cloudsim
