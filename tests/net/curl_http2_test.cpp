// SPDX-License-Identifier: Apache-2.0
// Tests of HTTP/2 with a server that other people wrote: nghttpd.
#include <csignal>
#include <thread>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tls_fixture.h"

namespace burst::net {
namespace {

/// nghttpd on a free port, which gives back what it is sent.
class Http2Server {
 public:
  Http2Server(const std::string& folder, const std::string& key, const std::string& certificate) {
    port_ = free_port();
    const std::string port = std::to_string(port_);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::execlp("nghttpd", "nghttpd", "--address=127.0.0.1", ("--htdocs=" + folder).c_str(), "--echo-upload",
               port.c_str(), key.c_str(), certificate.c_str(), nullptr);
      ::_exit(127);
    }
  }
  Http2Server(const Http2Server&) = delete;
  Http2Server& operator=(const Http2Server&) = delete;
  ~Http2Server() {
    ::kill(pid_, SIGTERM);
    ::waitpid(pid_, nullptr, 0);
  }
  std::string url(const std::string& path) const { return "https://127.0.0.1:" + std::to_string(port_) + path; }

 private:
  static int free_port() {
    const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* any = reinterpret_cast<sockaddr*>(&address);  // NOLINT: the socket API's idea of an address
    if (::bind(listener, any, size) != 0 || ::getsockname(listener, any, &size) != 0) std::abort();
    ::close(listener);
    return ntohs(address.sin_port);
  }
  int port_ = 0;
  ::pid_t pid_ = -1;
};

class CurlHttp2 : public CurlTls {
 protected:
  CurlHttp2() : server_(folder_.string(), server_key_file_, server_certificate("IP:127.0.0.1")) {
    std::ofstream(folder_ / "hello") << "hello";
  }
  HttpCall call(const std::string& path) const {
    auto call = call_to(server_.url(path));
    call.ca_file = ca_file_;
    call.max_attempts = 1;
    return call;
  }
  /// Until the server listens.
  void await() {
    Client<RealClock> client;
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (client.http->send_one(call("/hello")).status != 200) {
      ASSERT_LT(std::chrono::steady_clock::now(), end) << "nghttpd does not listen";
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  }
  Http2Server server_;
};

TEST_F(CurlHttp2, CarriesMoreRequestsThanAreInFlightAtOnce) {
  await();
  Client<RealClock> client;
  std::vector<HttpCall> calls;
  for (int i = 0; i < 400; ++i) {
    calls.push_back(call("/upload"));
    calls.back().request.method = "POST";
    // Longer than the receive buffer of a transfer.
    calls.back().request.body = std::to_string(i) + std::string(20'000, 'x');
  }
  const auto replies = client.http->send(calls);
  ASSERT_EQ(replies.size(), calls.size());
  for (std::size_t i = 0; i < replies.size(); ++i) {
    ASSERT_EQ(replies[i].transport_error, "") << i;
    ASSERT_EQ(replies[i].status, 200) << i;
    ASSERT_EQ(replies[i].body, calls[i].request.body) << i;
  }
}

TEST_F(CurlHttp2, IsUsedAgainByALaterCall) {
  await();
  Client<RealClock> client;
  for (int i = 0; i < 3; ++i) EXPECT_EQ(client.http->send_one(call("/hello")).body, "hello");
}

}  // namespace
}  // namespace burst::net
