// SPDX-License-Identifier: Apache-2.0
// AWS Signature Version 4, over OpenSSL.
#include "auth/aws_sigv4.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/sha.h>

#include "auth/percent_encoding.h"
#include "auth/url_parts.h"
#include "burst/error.h"

namespace burst::auth {
namespace {

constexpr std::string_view kAlgorithm = "AWS4-HMAC-SHA256";
using Digest = std::array<unsigned char, SHA256_DIGEST_LENGTH>;

const unsigned char* bytes(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());  // NOLINT: OpenSSL's idea of bytes
}

std::string hex(const Digest& digest) {
  static constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  text.reserve(digest.size() * 2);
  for (const unsigned char byte : digest) {
    text += kDigits[byte >> 4U];
    text += kDigits[byte & 0xFU];
  }
  return text;
}

std::string sha256_hex(std::string_view text) {
  Digest digest{};
  if (SHA256(bytes(text), text.size(), digest.data()) == nullptr)
    throw Error("CryptoError", "computing SHA-256 failed");
  return hex(digest);
}

Digest hmac(const unsigned char* key, std::size_t key_size, std::string_view text) {
  Digest digest{};
  if (HMAC(EVP_sha256(), key, static_cast<int>(key_size), bytes(text), text.size(), digest.data(), nullptr) ==
      nullptr) {
    throw Error("CryptoError", "computing HMAC-SHA-256 failed");
  }
  return digest;
}

std::string lower(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return result;
}

/// The value as it is signed: trimmed, runs of blanks made one.
std::string squeeze(std::string_view text) {
  static constexpr std::string_view kBlank = " \t\r\n\v\f";
  std::string result;
  for (auto first = text.find_first_not_of(kBlank); first != std::string_view::npos;) {
    const auto end = std::min(text.find_first_of(kBlank, first), text.size());
    if (!result.empty()) result += ' ';
    result += text.substr(first, end - first);
    first = text.find_first_not_of(kBlank, end);
  }
  return result;
}

UrlParts parts_of(const std::string& url) {
  auto parts = split_url(url);
  // The URL itself may hold what nobody should read.
  if (!parts) throw Error("InvalidRequest", "signing a request: its URL is not an absolute http or https URL");
  return *std::move(parts);
}

/// Dot segments and repeated slashes resolved, then encoded once more: every service but S3 wants that.
std::string canonical_path(std::string_view path) {
  std::vector<std::string_view> segments;
  for (std::size_t first = 0; first <= path.size();) {
    const auto end = std::min(path.find('/', first), path.size());
    const auto segment = path.substr(first, end - first);
    if (segment == "..") {
      if (!segments.empty()) segments.pop_back();
    } else if (!segment.empty() && segment != ".") {
      segments.push_back(segment);
    }
    first = end + 1;
  }
  std::string result;
  for (const auto segment : segments) {
    result += '/';
    result += percent_encode(segment);
  }
  if (segments.empty() || path.ends_with('/')) result += '/';
  return result;
}

using Pairs = std::vector<std::pair<std::string, std::string>>;

Pairs query_pairs(std::string_view query) {
  Pairs pairs;
  if (query.empty()) return pairs;
  for (std::size_t first = 0; first <= query.size();) {
    const auto end = std::min(query.find('&', first), query.size());
    const auto pair = query.substr(first, end - first);
    const auto equals = std::min(pair.find('='), pair.size());
    pairs.emplace_back(pair.substr(0, equals), pair.substr(std::min(equals + 1, pair.size())));
    first = end + 1;
  }
  return pairs;
}

std::string join_query(const Pairs& pairs) {
  std::string text;
  for (const auto& [name, value] : pairs) {
    if (!text.empty()) text += '&';
    text.append(name).append(1, '=').append(value);
  }
  return text;
}

std::string canonical_query(std::string_view query) {
  auto pairs = query_pairs(query);
  std::ranges::sort(pairs);
  return join_query(pairs);
}

struct SignedHeaders {
  std::string names;      ///< "host;x-amz-date"
  std::string canonical;  ///< a line each
};

SignedHeaders headers_to_sign(const HttpHeaders& headers, const std::string& host) {
  std::map<std::string, std::string> by_name;
  for (const auto& [name, value] : headers) {
    auto key = lower(name);
    // Proxies and tracing change these on the way.
    if (key == "user-agent" || key == "expect" || key == "x-amzn-trace-id") continue;
    const auto [entry, is_new] = by_name.try_emplace(std::move(key));
    if (!is_new) entry->second += ',';
    entry->second += squeeze(value);
  }
  by_name.try_emplace("host", host);
  SignedHeaders result;
  for (const auto& [name, value] : by_name) {
    if (!result.names.empty()) result.names += ';';
    result.names += name;
    result.canonical += fmt::format("{}:{}\n", name, value);
  }
  return result;
}

std::string timestamp(std::chrono::sys_seconds now) {
  const auto day = std::chrono::floor<std::chrono::days>(now);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss time(now - day);
  return fmt::format("{:04}{:02}{:02}T{:02}{:02}{:02}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()), time.hours().count(),
                     time.minutes().count(), time.seconds().count());
}

/// "20150830/us-east-1/iam/aws4_request"
std::string scope_text(const SigningScope& scope, std::string_view time) {
  static constexpr std::size_t kDateLength = 8;
  return fmt::format("{}/{}/{}/aws4_request", time.substr(0, kDateLength), scope.region, scope.service);
}

/// Deriving the key costs four short HMACs, some microseconds in all: not worth a cache and its lock.
Digest signing_key(const Secret& secret, std::string_view scope) {
  const std::string first = "AWS4" + secret.reveal();
  Digest key{};
  const unsigned char* previous = bytes(first);
  std::size_t size = first.size();
  for (std::size_t begin = 0; begin <= scope.size();) {
    const auto end = std::min(scope.find('/', begin), scope.size());
    key = hmac(previous, size, scope.substr(begin, end - begin));
    previous = key.data();
    size = key.size();
    begin = end + 1;
  }
  return key;
}

struct ToSign {
  const HttpRequest& request;
  const UrlParts& url;
  const SignedHeaders& headers;
};

std::string signature(const ToSign& to_sign, const Secret& secret, std::string_view time, std::string_view scope) {
  std::string method = to_sign.request.method;
  std::ranges::transform(method, method.begin(),
                         [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
  HttpResponse lookup;
  lookup.headers = to_sign.request.headers;
  const auto given_hash = lookup.header("X-Amz-Content-SHA256");
  const auto payload = given_hash ? std::string(*given_hash) : sha256_hex(to_sign.request.body);
  const auto canonical =
      fmt::format("{}\n{}\n{}\n{}\n{}\n{}", method, canonical_path(to_sign.url.path),
                  canonical_query(to_sign.url.query), to_sign.headers.canonical, to_sign.headers.names, payload);
  const auto text = fmt::format("{}\n{}\n{}\n{}", kAlgorithm, time, scope, sha256_hex(canonical));
  const auto key = signing_key(secret, scope);
  return hex(hmac(key.data(), key.size(), text));
}

void set_header(HttpHeaders& headers, std::string_view name, std::string value) {
  std::erase_if(headers, [key = lower(name)](const auto& header) { return lower(header.first) == key; });
  if (!value.empty()) headers.emplace_back(name, std::move(value));
}

}  // namespace

void sign_aws_request(HttpRequest& request, const AwsCredentials& credentials, const SigningScope& scope,
                      std::chrono::sys_seconds now) {
  const auto url = parts_of(request.url);
  const auto time = timestamp(now);
  const auto scope_path = scope_text(scope, time);
  set_header(request.headers, "Authorization", "");
  set_header(request.headers, "Host", url.host_header());
  set_header(request.headers, "X-Amz-Date", time);
  set_header(request.headers, "X-Amz-Security-Token", credentials.session_token.reveal());
  const auto headers = headers_to_sign(request.headers, url.host_header());
  auto authorization = fmt::format("{} Credential={}/{}, SignedHeaders={}, Signature={}", kAlgorithm,
                                   credentials.access_key_id, scope_path, headers.names,
                                   signature({request, url, headers}, credentials.secret_access_key, time, scope_path));
  request.headers.emplace_back("Authorization", std::move(authorization));
}

std::string presign_aws_url(const HttpRequest& request, const AwsCredentials& credentials, const SigningScope& scope,
                            std::chrono::sys_seconds now, std::chrono::seconds valid) {
  auto url = parts_of(request.url);
  const auto time = timestamp(now);
  const auto scope_path = scope_text(scope, time);
  const auto headers = headers_to_sign(request.headers, url.host_header());
  auto pairs = query_pairs(url.query);
  for (auto& [name, value] : pairs) {
    name = percent_encode(decode_query_value(name));
    value = percent_encode(decode_query_value(value));
  }
  pairs.emplace_back("X-Amz-Algorithm", kAlgorithm);
  pairs.emplace_back("X-Amz-Credential", percent_encode(credentials.access_key_id + "/" + scope_path));
  pairs.emplace_back("X-Amz-Date", time);
  pairs.emplace_back("X-Amz-Expires", std::to_string(valid.count()));
  pairs.emplace_back("X-Amz-SignedHeaders", percent_encode(headers.names));
  if (!credentials.session_token.empty()) {
    pairs.emplace_back("X-Amz-Security-Token", percent_encode(credentials.session_token.reveal()));
  }
  url.query = join_query(pairs);
  const auto signed_by = signature({request, url, headers}, credentials.secret_access_key, time, scope_path);
  return fmt::format(
      "{}&X-Amz-Signature={}",
      request.url.substr(0, std::min(request.url.find_first_of("?#"), request.url.size())) + "?" + url.query,
      signed_by);
}

}  // namespace burst::auth
