// SPDX-License-Identifier: Apache-2.0
// AWS Signature Version 4, source: docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
#include "ec2/sigv4.h"

#include <algorithm>
#include <array>
#include <iterator>

#include <fmt/format.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

namespace cloudsim::ec2 {

namespace {

constexpr std::string_view kAlgorithm = "AWS4-HMAC-SHA256";

std::string hex(std::string_view bytes) {
  std::string out;
  for (const char c : bytes) {
    fmt::format_to(std::back_inserter(out), "{:02x}", static_cast<unsigned char>(c));
  }
  return out;
}

std::string sha256_hex(std::string_view text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int length = 0;
  EVP_Digest(text.data(), text.size(), digest.data(), &length, EVP_sha256(), nullptr);
  return hex({reinterpret_cast<const char*>(digest.data()), length});
}

std::string hmac_sha256(std::string_view key, std::string_view text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int length = 0;
  HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), reinterpret_cast<const unsigned char*>(text.data()),
       text.size(), digest.data(), &length);
  return {reinterpret_cast<const char*>(digest.data()), length};
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> out;
  for (;;) {
    const auto end = text.find(separator);
    out.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) {
      return out;
    }
    text.remove_prefix(end + 1);
  }
}

std::string uri_encode(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool plain = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' ||
                       c == '_' || c == '.' || c == '~';
    if (plain) {
      out += c;
    } else {
      fmt::format_to(std::back_inserter(out), "%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return out;
}

std::string canonical_query(std::string_view query) {
  if (query.empty()) {
    return {};
  }
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const auto& part : split(query, '&')) {
    const auto equals = part.find('=');
    pairs.emplace_back(uri_encode(percent_decode(std::string_view(part).substr(0, equals), false)),
                       equals == std::string::npos
                           ? ""
                           : uri_encode(percent_decode(std::string_view(part).substr(equals + 1), false)));
  }
  std::sort(pairs.begin(), pairs.end());
  std::string out;
  for (const auto& [name, value] : pairs) {
    fmt::format_to(std::back_inserter(out), "{}{}={}", out.empty() ? "" : "&", name, value);
  }
  return out;
}

// Runs of blanks count as one; the same header sent twice is joined by commas.
std::string canonical_value(const HttpRequest& request, std::string_view name) {
  std::string out;
  bool first = true;
  for (const auto& [header, value] : request.headers) {
    if (header != name) {
      continue;
    }
    out += first ? "" : ",";
    first = false;
    std::unique_copy(value.begin(), value.end(), std::back_inserter(out),
                     [](char a, char b) { return a == ' ' && b == ' '; });
  }
  return out;
}

}  // namespace

std::optional<SignatureClaim> parse_authorization(std::string_view header) {
  if (!header.starts_with(kAlgorithm)) {
    return std::nullopt;
  }
  SignatureClaim claim;
  for (auto& part : split(header.substr(kAlgorithm.size()), ',')) {
    part.erase(0, part.find_first_not_of(' '));
    const auto equals = part.find('=');
    const auto name = part.substr(0, equals);
    const auto value = equals == std::string::npos ? "" : part.substr(equals + 1);
    if (name == "Credential") {
      const auto scope = split(value, '/');
      if (scope.size() != 5 || scope[4] != "aws4_request") {
        return std::nullopt;
      }
      claim.access_key_id = scope[0];
      claim.date = scope[1];
      claim.region = scope[2];
      claim.service = scope[3];
    } else if (name == "SignedHeaders") {
      claim.signed_headers = split(value, ';');
    } else if (name == "Signature") {
      claim.signature = value;
    }
  }
  if (claim.access_key_id.empty() || claim.signed_headers.empty() || claim.signature.empty()) {
    return std::nullopt;
  }
  return claim;
}

std::string canonical_request(const HttpRequest& request, const std::vector<std::string>& signed_headers) {
  std::string out = fmt::format("{}\n{}\n{}\n", request.method, request.path, canonical_query(request.query));
  std::string names;
  for (const auto& name : signed_headers) {
    fmt::format_to(std::back_inserter(out), "{}:{}\n", name, canonical_value(request, name));
    names += (names.empty() ? "" : ";") + name;
  }
  fmt::format_to(std::back_inserter(out), "\n{}\n{}", names, sha256_hex(request.body));
  return out;
}

std::string expected_signature(const SignatureClaim& claim, std::string_view timestamp, std::string_view canonical,
                               std::string_view secret_access_key) {
  const auto scope = fmt::format("{}/{}/{}/aws4_request", claim.date, claim.region, claim.service);
  const auto text = fmt::format("{}\n{}\n{}\n{}", kAlgorithm, timestamp, scope, sha256_hex(canonical));
  const auto date_key = hmac_sha256(fmt::format("AWS4{}", secret_access_key), claim.date);
  const auto key = hmac_sha256(hmac_sha256(hmac_sha256(date_key, claim.region), claim.service), "aws4_request");
  return hex(hmac_sha256(key, text));
}

}  // namespace cloudsim::ec2
