// SPDX-License-Identifier: Apache-2.0
// Sending HTTP requests, many at once, with the one retry loop of the project.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "burst/secret.h"

namespace burst {

using HttpHeaders = std::vector<std::pair<std::string, std::string>>;

/// Whom to trust and who we are, as texts where the files of HttpCall are paths. What is not empty here comes before
/// the file. Requests with different ones never share a connection.
struct HttpTls {
  std::string ca_certificates;     ///< PEM; the only authorities that count then
  std::string client_certificate;  ///< PEM, the intermediate ones behind it
  Secret client_key;               ///< PEM; belongs to `client_certificate`
  /// The name that the server's certificate must bear in place of the URL's host. The connection still goes to the
  /// URL's host, and the Host header names that.
  std::string server_name;
  bool operator==(const HttpTls&) const = default;
};

struct HttpRequest {
  std::string method = "GET";
  std::string url;  ///< absolute; http only for an overridden endpoint or a metadata service
  HttpHeaders headers;
  std::string body;
  std::shared_ptr<const HttpTls> tls = nullptr;  ///< shared by many requests; may be null
};

/// What came back. A status >= 400 is a response like any other; the provider's error table judges it.
struct HttpResponse {
  int status = 0;  ///< 0: no reply came; `transport_error` says why
  HttpHeaders headers;
  std::string body;
  std::string transport_error;   ///< `connecting to HOST: ...`; empty when a reply came
  bool deadline_passed = false;  ///< the program's deadline ended the call; with status 0 its effect is unknown

  /// The first header of that name, compared without case; nothing when absent.
  std::optional<std::string_view> header(std::string_view name) const;
  /// When it was sent, by the server's own clock (header Date); nothing when it does not say.
  std::optional<std::chrono::sys_seconds> date() const;
};

/// Whether a reply is final. `after` overrides the loop's own delay (Retry-After is honoured without it).
struct RetryVerdict {
  bool retry = false;
  std::optional<std::chrono::milliseconds> after;
  /// The server is well and wants fewer requests: it is asked again for as long as the client has patience, however
  /// often that is, and such an attempt does not count as one of `max_attempts`.
  bool throttled = false;
};

/// A token bucket: `burst` requests at once, then `per_second`. Calls with the same key share one bucket.
struct RequestLimit {
  std::string key;  ///< "ec2/us-east-1/CreateTags"; empty: no limit
  double burst = 0;
  double per_second = 0;
  /// How many of a send() may be under way at any time; 0: as many as the client allows. Calls so limited speak to one
  /// server as one user: where one is told by a 429 when to come again, none is sent before.
  int at_once = 0;

  bool has_rate() const { return burst > 0 || per_second > 0; }
};

struct HttpCall {
  HttpRequest request;
  /// Called before every attempt, on the sending thread: sets date and signature, or `tls`. May send requests of its
  /// own (credentials). An Error thrown here ends the whole send().
  std::function<void(HttpRequest&)> sign;
  /// Judges a reply, or a failed attempt (status 0). Absent: retry on status 0, 429 and 5xx.
  std::function<RetryVerdict(const HttpResponse&)> judge;
  /// Asked before every attempt: false ends the call with what it has, which is `not sent` before the first. Absent:
  /// it is wanted.
  std::function<bool()> wanted;
  RequestLimit limit;
  int max_attempts = 8;                       ///< that end in a fault
  std::chrono::milliseconds timeout{30'000};  ///< for one attempt, connecting included
  std::chrono::milliseconds connect_timeout{5'000};
  std::string ca_file, client_certificate_file, client_key_file;  ///< empty: the system's trust store, no certificate
  std::string proxy;                                              ///< empty: as the environment says
};

class HttpClient {
 public:
  virtual ~HttpClient() = default;
  /// Sends all calls side by side, retries with full jitter as each call's judge says, and returns when every one has
  /// ended: replies in the order of the calls. Connections are kept between calls. Replies are bounded in size (64
  /// MiB). May be called from several threads, and from within a call's `sign`.
  virtual std::vector<HttpResponse> send(std::vector<HttpCall> calls) = 0;

  HttpResponse send_one(HttpCall call) {
    std::vector<HttpCall> calls;
    calls.push_back(std::move(call));
    return std::move(send(std::move(calls)).front());
  }
};

}  // namespace burst
