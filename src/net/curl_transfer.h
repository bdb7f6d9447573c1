// SPDX-License-Identifier: Apache-2.0
// One attempt of one request: a libcurl easy handle and what it receives.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>

#include <curl/curl.h>

#include "burst/http.h"
#include "net/network_settings.h"

namespace burst::net {

inline constexpr std::size_t kLargestReply = std::size_t{64} << 20U;  ///< bytes, after decoding

template <auto Free>
struct CurlFree {
  template <typename Handle>
  void operator()(Handle* handle) const {
    Free(handle);
  }
};
using CurlEasy = std::unique_ptr<CURL, CurlFree<curl_easy_cleanup>>;
using CurlMulti = std::unique_ptr<CURLM, CurlFree<curl_multi_cleanup>>;
using CurlShare = std::unique_ptr<CURLSH, CurlFree<curl_share_cleanup>>;
using CurlList = std::unique_ptr<curl_slist, CurlFree<curl_slist_free_all>>;

/// How an attempt ended. `permanent`: asking again can't help (a certificate that is not trusted, a reply too big).
struct AttemptResult {
  HttpResponse response;
  bool timed_out = false;
  bool permanent = false;
};

/// Reusable: begin(), run it in a multi handle, end(). Not movable: libcurl keeps its address.
class CurlTransfer {
 public:
  CurlTransfer();
  CurlTransfer(const CurlTransfer&) = delete;
  CurlTransfer& operator=(const CurlTransfer&) = delete;

  /// Sets the handle up. `call` must stay where it is until end(); `shared` holds TLS sessions. Throws
  /// Error{"InvalidRequest"} for a request that can't be put on the wire as it is.
  void begin(const HttpCall& call, const NetworkSettings& network, const std::string& user_agent,
             std::chrono::milliseconds timeout, CURLSH* shared);
  AttemptResult end(CURLcode result);

  CURL* handle() const { return handle_.get(); }
  static CurlTransfer& from(CURL* handle);
  std::size_t task = 0;  ///< whose attempt it is; for the event loop

 private:
  void renew_handle();
  void set_request(const HttpRequest& request);
  void set_proxy(const HttpCall& call, const NetworkSettings& network);
  void set_server_name(const HttpRequest& request);
  void set_trust(const HttpCall& call, const NetworkSettings& network);
  std::string failure(CURLcode result) const;
  static std::size_t on_header(char* data, std::size_t size, std::size_t count, void* self);
  static std::size_t on_body(char* data, std::size_t size, std::size_t count, void* self);

  CurlEasy handle_;
  CurlList header_list_, connect_to_;
  std::string host_header_;  ///< of the URL's own host, where the handle's URL has another
  HttpResponse response_;
  bool too_big_ = false;
  std::string peer_, proxy_;  ///< `HOST:PORT` each; proxy_ is empty without one
  std::chrono::milliseconds timeout_{}, connect_timeout_{};
  char error_[CURL_ERROR_SIZE] = {};  // NOLINT(modernize-avoid-c-arrays): libcurl writes into it
};

/// `HOST:PORT` of a URL, for messages: no user, no path, no query.
std::string peer_of(const std::string& url);

}  // namespace burst::net
