// SPDX-License-Identifier: Apache-2.0
// Connections over the event loop. Not Debian's cpp-httplib: its listen backlog of 5 makes 100 clients wait seconds,
// its idle keep-alive connections wake up every 10 ms, it refuses forms over 8 KiB, and it can't drop a connection
// silently.
#include "server.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace cloudsim {

namespace {

constexpr int kBacklog = 1024;
constexpr std::size_t kPieces = 16;

[[noreturn]] void fail(const std::string& what) { throw std::system_error(errno, std::generic_category(), what); }

}  // namespace

struct Server::Connection {
  std::uint64_t id = 0;
  int fd = -1;
  std::string in;
  std::string out;
  bool busy = false;  ///< a request is being answered
  bool close_after = false;
  bool writing = false;  ///< waits for EPOLLOUT
  std::size_t written = 0;
  std::size_t released = 0;  ///< how much of `out` may be written already
  HttpReply reply;
  bool streaming = false;  ///< more of the reply will come
  std::unique_ptr<TlsSession> tls;

  /// As recv() and send() do: negative with errno EAGAIN asks to come again.
  ssize_t read_some(char* data, std::size_t size) { return tls ? tls->read(data, size) : recv(fd, data, size, 0); }
  ssize_t write_some(const char* data, std::size_t size) {
    return tls ? tls->write(data, size) : send(fd, data, size, MSG_NOSIGNAL);
  }
};

Server::Server(EventLoop& loop, Handler handler, const TlsContext* tls)
    : loop_(loop), handler_(std::move(handler)), tls_(tls) {}

Server::~Server() {
  while (!connections_.empty()) {
    close_connection(connections_.begin()->first);
  }
  if (listener_ >= 0) {
    loop_.forget(listener_);
    close(listener_);
  }
}

std::uint16_t Server::listen(const std::string& address, std::uint16_t port) {
  listener_ = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (listener_ < 0) {
    fail("socket");
  }
  const int on = 1;
  setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in name{};
  name.sin_family = AF_INET;
  name.sin_port = htons(port);
  if (inet_pton(AF_INET, address.c_str(), &name.sin_addr) != 1) {
    errno = EINVAL;
    fail("address " + address);
  }
  socklen_t length = sizeof name;
  if (bind(listener_, reinterpret_cast<const sockaddr*>(&name), length) != 0 || ::listen(listener_, kBacklog) != 0 ||
      getsockname(listener_, reinterpret_cast<sockaddr*>(&name), &length) != 0) {
    fail("listening on " + address);
  }
  loop_.watch(listener_, EPOLLIN, [this](std::uint32_t) { accept_all(); });
  return ntohs(name.sin_port);
}

void Server::accept_all() {
  for (;;) {
    const int fd = accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0) {
      return;
    }
    const int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    const auto id = ++last_id_;
    auto connection = std::make_unique<Connection>();
    connection->id = id;
    connection->fd = fd;
    if (tls_ != nullptr) {
      connection->tls = std::make_unique<TlsSession>(*tls_, fd);
    }
    connections_[id] = std::move(connection);
    peak_connections_ = std::max(peak_connections_, connections_.size());
    loop_.watch(fd, EPOLLIN, [this, id](std::uint32_t events) {
      if ((events & EPOLLOUT) != 0) {
        flush(id);
      }
      if ((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0) {
        readable(id);
      }
    });
  }
}

Server::Connection* Server::find(std::uint64_t id) {
  const auto found = connections_.find(id);
  return found == connections_.end() ? nullptr : found->second.get();
}

void Server::readable(std::uint64_t id) {
  auto* connection = find(id);
  if (connection == nullptr) {
    return;
  }
  std::array<char, 16384> buffer{};
  for (;;) {
    const auto count = connection->read_some(buffer.data(), buffer.size());
    if (count > 0) {
      connection->in.append(buffer.data(), static_cast<std::size_t>(count));
    } else if (count < 0 && (errno == EAGAIN || errno == EINTR)) {
      break;
    } else {
      close_connection(id);  // the client went away, perhaps in the middle of its call
      return;
    }
  }
  serve_next(id);
}

void Server::serve_next(std::uint64_t id) {
  auto* connection = find(id);
  if (connection == nullptr || connection->busy || connection->in.empty()) {
    return;
  }
  HttpRequest request;
  const auto parsed = parse_request(connection->in, request);
  if (parsed == Parsed::incomplete) {
    return;
  }
  connection->busy = true;
  if (parsed == Parsed::malformed) {
    connection->reply = {};
    connection->reply.status = 400;
    connection->close_after = true;
  } else {
    connection->close_after = request.header("connection") == "close";
    if (connection->tls) {
      request.peer_name = connection->tls->peer_name();
      request.peer_organizations = connection->tls->peer_organizations();
    }
    connection->reply = handler_(request);
  }
  if (const auto deferred = std::exchange(connection->reply.deferred, nullptr)) {
    deferred([this, id](HttpReply reply) {
      if (auto* waiting = find(id)) {
        reply.done = std::move(waiting->reply.done);
        waiting->reply = std::move(reply);
        deliver_in_time(id);
      }
    });
    return;
  }
  deliver_in_time(id);
}

void Server::deliver_in_time(std::uint64_t id) {
  const auto delay = find(id)->reply.delay;
  if (delay > Millis{0}) {
    loop_.after(delay, [this, id] { deliver(id); });
  } else {
    deliver(id);
  }
}

void Server::deliver(std::uint64_t id) {
  auto* connection = find(id);
  if (connection == nullptr) {
    return;
  }
  auto& reply = connection->reply;
  if (reply.delivery == Delivery::drop) {
    close_connection(id);
    return;
  }
  if (reply.stream) {
    open_stream(*connection);
    return;
  }
  connection->out = serialize(reply, !connection->close_after);
  connection->written = 0;
  if (reply.delivery == Delivery::cut) {
    connection->out.resize(connection->out.size() - (reply.body.size() + 1) / 2);
    connection->close_after = true;
  }
  if (reply.delivery == Delivery::dribble) {
    connection->released = 0;
    const auto pieces = static_cast<Millis::rep>(kPieces);
    dribble(id, connection->out.size() / kPieces + 1, Millis{reply.dribble_over.count() / pieces});
    return;
  }
  connection->released = connection->out.size();
  flush(id);
}

void Server::open_stream(Connection& connection) {
  const auto id = connection.id;
  const auto opened = std::exchange(connection.reply.stream, nullptr);
  connection.streaming = true;
  connection.out = serialize_stream_head(connection.reply);
  connection.written = 0;
  connection.released = connection.out.size();
  flush(id);
  opened({[this, id](std::string_view text) { return write_chunk(id, text); }, [this, id] { end_stream(id); }});
}

bool Server::write_chunk(std::uint64_t id, std::string_view text) {
  auto* connection = find(id);
  if (connection == nullptr || !connection->streaming) {
    return false;
  }
  const bool cut = connection->reply.delivery == Delivery::cut;
  const auto chunk = serialize_chunk(text);
  connection->out += cut ? chunk.substr(0, chunk.size() / 2) : chunk;
  connection->released = connection->out.size();
  flush(id);
  if (cut) {
    close_connection(id);
  }
  return find(id) != nullptr;
}

void Server::end_stream(std::uint64_t id) {
  auto* connection = find(id);
  if (connection == nullptr || !connection->streaming) {
    return;
  }
  connection->out += serialize_chunk("");
  connection->released = connection->out.size();
  connection->streaming = false;
  flush(id);
}

void Server::dribble(std::uint64_t id, std::size_t piece, Millis pause) {
  auto* connection = find(id);
  if (connection == nullptr) {
    return;
  }
  connection->released = std::min(connection->out.size(), connection->released + piece);
  const bool more = connection->released < connection->out.size();
  flush(id);
  if (more) {
    loop_.after(pause, [this, id, piece, pause] { dribble(id, piece, pause); });
  }
}

void Server::flush(std::uint64_t id) {
  auto* connection = find(id);
  if (connection == nullptr || !connection->busy) {
    return;
  }
  while (connection->written < connection->released) {
    const auto count = connection->write_some(connection->out.data() + connection->written,
                                              connection->released - connection->written);
    if (count < 0 && errno == EAGAIN) {
      if (!connection->writing) {
        connection->writing = true;
        loop_.change(connection->fd, EPOLLIN | EPOLLOUT);
      }
      return;
    }
    if (count < 0) {
      close_connection(id);
      return;
    }
    connection->written += static_cast<std::size_t>(count);
  }
  if (connection->writing) {
    connection->writing = false;
    loop_.change(connection->fd, EPOLLIN);
  }
  if (connection->streaming) {
    connection->out.clear();
    connection->written = connection->released = 0;
  } else if (connection->written == connection->out.size()) {
    const bool politely = connection->reply.delivery == Delivery::whole;
    finish(*connection);
    if (connection->close_after) {
      close_connection(id, politely);
    } else if (!connection->in.empty()) {
      loop_.after(Millis{0}, [this, id] { serve_next(id); });  // a pipelined request, without growing the stack
    }
  }
}

void Server::finish(Connection& connection) {
  connection.busy = connection.streaming = false;
  connection.out.clear();
  connection.written = connection.released = 0;
  if (const auto done = std::exchange(connection.reply.done, nullptr)) {
    done();
  }
}

void Server::close_connection(std::uint64_t id, bool politely) {
  const auto found = connections_.find(id);
  if (found == connections_.end()) {
    return;
  }
  const auto connection = std::move(found->second);
  connections_.erase(found);
  if (politely && connection->tls) {
    connection->tls->shut_down();
  }
  loop_.forget(connection->fd);
  close(connection->fd);
  finish(*connection);
}

}  // namespace cloudsim
