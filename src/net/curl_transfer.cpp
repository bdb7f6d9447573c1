// SPDX-License-Identifier: Apache-2.0
// One attempt of one request: a libcurl easy handle and what it receives.
#include "net/curl_transfer.h"

#include <algorithm>
#include <new>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "burst/error.h"
#include "burst/text.h"

namespace burst::net {
namespace {

constexpr long kReceiveBuffer = 8192;  // per transfer; 128 of them at once are to stay small
constexpr long kSendBuffer = 16384;    // the least that libcurl takes

template <typename Value>
void set(CURL* handle, CURLoption option, Value value) {
  if (const auto result = curl_easy_setopt(handle, option, value); result != CURLE_OK) {
    const auto* known = curl_easy_option_by_id(option);
    throw Error("InvalidRequest", fmt::format("preparing a request: {}: {}", known == nullptr ? "?" : known->name,
                                              curl_easy_strerror(result)));
  }
}

std::string_view trim(std::string_view text) {
  static constexpr std::string_view kBlank = " \t\r\n";
  const auto first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

bool is_https(std::string_view url) {
  static constexpr std::string_view kScheme = "https:";
  return std::ranges::equal(url.substr(0, kScheme.size()), kScheme, {},
                            [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
}

bool has_header(const HttpHeaders& headers, std::string_view name) {
  HttpResponse lookup;
  lookup.headers = headers;
  return lookup.header(name).has_value();
}

std::string part_of(CURLU* url, CURLUPart part, unsigned flags) {
  char* text = nullptr;
  if (curl_url_get(url, part, &text, flags) != CURLUE_OK) return {};
  const std::unique_ptr<char, CurlFree<curl_free>> owned(text);
  return text;
}

std::optional<std::string> system_error(CURL* handle) {
  long number = 0;
  curl_easy_getinfo(handle, CURLINFO_OS_ERRNO, &number);
  if (number == 0) return std::nullopt;
  return std::generic_category().message(static_cast<int>(number));
}

using CurlUrl = std::unique_ptr<CURLU, CurlFree<curl_url_cleanup>>;

/// Null for what is no URL.
CurlUrl parse_url(const std::string& text, unsigned flags) {
  CurlUrl url(curl_url());
  if (!url || curl_url_set(url.get(), CURLUPART_URL, text.c_str(), flags) != CURLUE_OK) url.reset();
  return url;
}

/// libcurl copies the text.
void set_pem(CURL* handle, CURLoption option, const std::string& text) {
  std::string owned = text;
  curl_blob blob{owned.data(), owned.size(), CURL_BLOB_COPY};
  set(handle, option, &blob);
}

bool is_permanent(CURLcode result) {
  switch (result) {
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_URL_MALFORMAT:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_ISSUER_ERROR:
    case CURLE_OUT_OF_MEMORY:
    case CURLE_BAD_FUNCTION_ARGUMENT:
      return true;
    default:
      return false;
  }
}

}  // namespace

std::string peer_of(const std::string& url) {
  const auto parsed = parse_url(url, CURLU_GUESS_SCHEME);
  if (!parsed) return "an invalid URL";
  return part_of(parsed.get(), CURLUPART_HOST, 0) + ":" + part_of(parsed.get(), CURLUPART_PORT, CURLU_DEFAULT_PORT);
}

CurlTransfer::CurlTransfer() : handle_(curl_easy_init()) {
  if (!handle_) throw std::bad_alloc();
}

CurlTransfer& CurlTransfer::from(CURL* handle) {
  void* self = nullptr;
  curl_easy_getinfo(handle, CURLINFO_PRIVATE, &self);
  return *static_cast<CurlTransfer*>(self);
}

void CurlTransfer::renew_handle() {
  curl_easy_reset(handle_.get());
  // After a transfer over HTTP/2 libcurl 7.88 keeps the receive buffer and lets nobody say its size any more, though
  // the reset has put the default, twice as much, in its place: such a handle would read beyond its buffer.
  if (curl_easy_setopt(handle_.get(), CURLOPT_BUFFERSIZE, kReceiveBuffer) == CURLE_OK) return;
  handle_.reset(curl_easy_init());
  if (!handle_) throw std::bad_alloc();
  set(handle_.get(), CURLOPT_BUFFERSIZE, kReceiveBuffer);
}

void CurlTransfer::begin(const HttpCall& call, const NetworkSettings& network, const std::string& user_agent,
                         std::chrono::milliseconds timeout, CURLSH* shared) {
  renew_handle();
  auto* handle = handle_.get();
  response_ = {};
  too_big_ = false;
  error_[0] = '\0';
  timeout_ = timeout;
  connect_timeout_ = std::min(call.connect_timeout, timeout);
  peer_ = peer_of(call.request.url);
  const bool https = is_https(call.request.url);

  set(handle, CURLOPT_PRIVATE, static_cast<void*>(this));
  set(handle, CURLOPT_ERRORBUFFER, static_cast<char*>(error_));
  set(handle, CURLOPT_NOSIGNAL, 1L);
  set(handle, CURLOPT_TCP_NODELAY, 1L);
  set(handle, CURLOPT_FOLLOWLOCATION, 0L);
  set(handle, CURLOPT_PROTOCOLS_STR, "http,https");
  set(handle, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
  set(handle, CURLOPT_UPLOAD_BUFFERSIZE, kSendBuffer);
  set(handle, CURLOPT_ACCEPT_ENCODING, "");  // all that libcurl can decode
  set(handle, CURLOPT_TIMEOUT_MS, static_cast<long>(timeout_.count()));
  set(handle, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(connect_timeout_.count()));
  set(handle, CURLOPT_HEADERFUNCTION, &on_header);
  set(handle, CURLOPT_HEADERDATA, static_cast<void*>(this));
  set(handle, CURLOPT_WRITEFUNCTION, &on_body);
  set(handle, CURLOPT_WRITEDATA, static_cast<void*>(this));
  set(handle, CURLOPT_SHARE, shared);
  // Waiting for the first connection to a TLS server tells whether one connection carries all requests (HTTP/2), and
  // lets the others resume its TLS session; it also keeps libcurl from starting a resolver thread for each request.
  set(handle, CURLOPT_HTTP_VERSION, static_cast<long>(https ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1));
  set(handle, CURLOPT_PIPEWAIT, https ? 1L : 0L);
  if (!user_agent.empty()) set(handle, CURLOPT_USERAGENT, user_agent.c_str());

  host_header_.clear();
  set(handle, CURLOPT_URL, call.request.url.c_str());
  if (https && call.request.tls && !call.request.tls->server_name.empty()) set_server_name(call.request);
  set_proxy(call, network);
  set_trust(call, network);
  set_request(call.request);
}

void CurlTransfer::set_proxy(const HttpCall& call, const NetworkSettings& network) {
  auto* handle = handle_.get();
  const bool https = is_https(call.request.url);
  const auto& usual = https ? network.https_proxy : network.http_proxy;
  auto proxy = call.proxy.empty() ? usual : call.proxy;
  // libcurl would look for the name that the certificate bears, not for the host that it connects to.
  if (call.proxy.empty() && !host_header_.empty()) {
    auto host = part_of(parse_url(call.request.url, 0).get(), CURLUPART_HOST, 0);
    if (host.starts_with('[')) host = host.substr(1, host.size() - 2);
    if (bypasses_proxy(network.no_proxy, host)) proxy.clear();
  }
  // An empty string, unlike none, keeps libcurl from looking at the process's own environment.
  proxy_ = proxy.empty() ? "" : peer_of(proxy);
  set(handle, CURLOPT_PROXY, proxy.c_str());
  const bool decided = !call.proxy.empty() || !host_header_.empty();
  set(handle, CURLOPT_NOPROXY, decided ? "" : network.no_proxy.c_str());
}

/// libcurl has no option for the name to verify: so the URL gets that name, and the connection is led to the host.
void CurlTransfer::set_server_name(const HttpRequest& request) {
  const auto url = parse_url(request.url, 0);
  if (!url) return;  // libcurl will say so
  const auto host = part_of(url.get(), CURLUPART_HOST, 0);
  const auto port = part_of(url.get(), CURLUPART_PORT, CURLU_DEFAULT_PORT);
  const auto own_port = part_of(url.get(), CURLUPART_PORT, 0);
  const auto& name = request.tls->server_name;
  if (curl_url_set(url.get(), CURLUPART_HOST, name.c_str(), 0) != CURLUE_OK) {
    throw Error("InvalidRequest",
                fmt::format("sending to {}: \"{}\" is no name of a TLS server", peer_, one_line(name)));
  }
  set(handle_.get(), CURLOPT_URL, part_of(url.get(), CURLUPART_URL, 0).c_str());
  connect_to_.reset(curl_slist_append(nullptr, fmt::format("::{}:{}", host, port).c_str()));
  if (!connect_to_) throw std::bad_alloc();
  set(handle_.get(), CURLOPT_CONNECT_TO, connect_to_.get());
  host_header_ = own_port.empty() ? host : host + ":" + own_port;
}

void CurlTransfer::set_trust(const HttpCall& call, const NetworkSettings& network) {
  static const HttpTls kNone;
  const auto& tls = call.request.tls ? *call.request.tls : kNone;
  auto* handle = handle_.get();
  set(handle, CURLOPT_SSL_VERIFYPEER, 1L);
  set(handle, CURLOPT_SSL_VERIFYHOST, 2L);
  set(handle, CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
  const auto& ca_file = call.ca_file.empty() ? network.ca_file : call.ca_file;
  const auto* built_in = curl_version_info(CURLVERSION_NOW);
  if (!tls.ca_certificates.empty()) {
    set_pem(handle, CURLOPT_CAINFO_BLOB, tls.ca_certificates);
    set_pem(handle, CURLOPT_PROXY_CAINFO_BLOB, tls.ca_certificates);
  } else if (!ca_file.empty()) {
    set(handle, CURLOPT_CAINFO, ca_file.c_str());
    set(handle, CURLOPT_PROXY_CAINFO, ca_file.c_str());
  }
  // Only with a CA file alone does libcurl parse it once for all connections of a multi handle; and what is named is
  // not to be widened by the system's folder.
  if (!tls.ca_certificates.empty() || !ca_file.empty() || built_in->cainfo != nullptr) {
    set(handle, CURLOPT_CAPATH, static_cast<const char*>(nullptr));
    set(handle, CURLOPT_PROXY_CAPATH, static_cast<const char*>(nullptr));
  }
  set(handle, CURLOPT_KEYPASSWD, "");  // without one OpenSSL would ask for it on the terminal
  if (!tls.client_certificate.empty()) {
    // The key stands behind the certificate, and not in CURLOPT_SSLKEY_BLOB, because libcurl compares certificates,
    // but not keys, when it looks for a connection to use again. Without a key of its own it takes this text for both.
    set_pem(handle, CURLOPT_SSLCERT_BLOB, tls.client_certificate + "\n" + tls.client_key.reveal());
    return;
  }
  if (!call.client_certificate_file.empty()) set(handle, CURLOPT_SSLCERT, call.client_certificate_file.c_str());
  if (!call.client_key_file.empty()) set(handle, CURLOPT_SSLKEY, call.client_key_file.c_str());
}

void CurlTransfer::set_request(const HttpRequest& request) {
  auto* handle = handle_.get();
  const bool carries_body =
      !request.body.empty() || request.method == "POST" || request.method == "PUT" || request.method == "PATCH";
  if (carries_body) {
    set(handle, CURLOPT_POST, 1L);
    set(handle, CURLOPT_POSTFIELDS, request.body.data());
    set(handle, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
  } else if (request.method == "HEAD") {
    set(handle, CURLOPT_NOBODY, 1L);
  }
  set(handle, CURLOPT_CUSTOMREQUEST, request.method.c_str());

  curl_slist* list = nullptr;
  const auto append = [&](const std::string& line) {
    auto* longer = curl_slist_append(list, line.c_str());
    if (longer == nullptr) throw std::bad_alloc();
    if (list == nullptr) header_list_.reset(longer);
    list = longer;
  };
  header_list_.reset();
  if (!host_header_.empty() && !has_header(request.headers, "Host")) append("Host: " + host_header_);
  append("Expect:");  // no 100-continue: one round trip less for large bodies
  if (carries_body && !has_header(request.headers, "Content-Type")) append("Content-Type:");
  for (const auto& [name, value] : request.headers) {
    static constexpr std::string_view kLineEnds("\r\n\0", 3);
    if (name.find_first_of(kLineEnds) != std::string::npos || value.find_first_of(kLineEnds) != std::string::npos) {
      throw Error("InvalidRequest", fmt::format("sending to {}: header {} has a line break", peer_, one_line(name)));
    }
    append(value.empty() ? fmt::format("{};", name) : fmt::format("{}: {}", name, value));
  }
  set(handle, CURLOPT_HTTPHEADER, header_list_.get());
}

std::size_t CurlTransfer::on_header(char* data, std::size_t size, std::size_t count, void* self) {
  auto& response = static_cast<CurlTransfer*>(self)->response_;
  const std::string_view line(data, size * count);
  if (line.starts_with("HTTP/")) {
    response.headers.clear();  // what came before was an interim reply
    return line.size();
  }
  if (const auto colon = line.find(':'); colon != std::string_view::npos) {
    response.headers.emplace_back(trim(line.substr(0, colon)), trim(line.substr(colon + 1)));
  }
  return line.size();
}

std::size_t CurlTransfer::on_body(char* data, std::size_t size, std::size_t count, void* self) {
  auto& transfer = *static_cast<CurlTransfer*>(self);
  const std::size_t length = size * count;
  if (transfer.response_.body.size() + length > kLargestReply) {
    transfer.too_big_ = true;
    return 0;
  }
  transfer.response_.body.append(data, length);
  return length;
}

AttemptResult CurlTransfer::end(CURLcode result) {
  AttemptResult ended;
  if (result == CURLE_OK) {
    long status = 0;
    curl_easy_getinfo(handle_.get(), CURLINFO_RESPONSE_CODE, &status);
    ended.response = std::exchange(response_, {});
    ended.response.status = static_cast<int>(status);
  } else {
    ended.response.transport_error = failure(result);
    ended.timed_out = result == CURLE_OPERATION_TIMEDOUT;
    ended.permanent = too_big_ || is_permanent(result);
    response_ = {};
  }
  header_list_.reset();
  connect_to_.reset();
  return ended;
}

std::string CurlTransfer::failure(CURLcode result) const {
  const auto text = one_line(error_[0] != '\0' ? static_cast<const char*>(error_) : curl_easy_strerror(result));
  const auto peer = proxy_.empty() ? peer_ : fmt::format("{} (a proxy is set: {})", peer_, proxy_);
  if (too_big_) return fmt::format("reading the reply of {}: more than {} MiB", peer, kLargestReply >> 20U);
  switch (result) {
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
      return fmt::format("resolving {}: {}", peer, text);
    case CURLE_COULDNT_CONNECT:
      return fmt::format("connecting to {}: {}", peer, system_error(handle_.get()).value_or(text));
    case CURLE_OPERATION_TIMEDOUT: {
      curl_off_t connected = 0;
      curl_easy_getinfo(handle_.get(), CURLINFO_PRETRANSFER_TIME_T, &connected);
      return connected == 0 ? fmt::format("connecting to {}: no answer in {} ms", peer, connect_timeout_.count())
                            : fmt::format("waiting for {}: no reply in {} ms", peer, timeout_.count());
    }
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_ISSUER_ERROR:
      return fmt::format("verifying the certificate of {}: {}", peer, text);
    case CURLE_SSL_CONNECT_ERROR:
      return fmt::format("connecting to {}: {}", peer, text);
    case CURLE_GOT_NOTHING:
    case CURLE_RECV_ERROR:
    case CURLE_PARTIAL_FILE:
    case CURLE_HTTP2:
    case CURLE_HTTP2_STREAM:
      return fmt::format("reading the reply of {}: {}", peer, text);
    default:
      return fmt::format("sending to {}: {}", peer, text);
  }
}

}  // namespace burst::net
