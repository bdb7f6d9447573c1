// SPDX-License-Identifier: Apache-2.0
// What the environment says about proxies and certificates.
#include "net/network_settings.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <optional>

#include <arpa/inet.h>

namespace burst::net {
namespace {

std::optional<std::string> either_case(const Environment& environment, std::string name) {
  if (auto value = environment.get(name)) return value;
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return environment.get(name);
}

/// An address as bytes: 4 or 16, none when it is a name.
struct Address {
  std::array<unsigned char, sizeof(in6_addr)> bytes{};
  unsigned bits = 0;
};

Address address_of(const std::string& text) {
  static constexpr unsigned kBitsOfVersion4 = 32;
  static constexpr unsigned kBitsOfVersion6 = 128;
  Address address;
  if (inet_pton(AF_INET, text.c_str(), address.bytes.data()) == 1) {
    address.bits = kBitsOfVersion4;
  } else if (inet_pton(AF_INET6, text.c_str(), address.bytes.data()) == 1) {
    address.bits = kBitsOfVersion6;
  }
  return address;
}

bool is_within(const Address& address, std::string_view range) {
  const auto slash = std::min(range.find('/'), range.size());
  const auto first = address_of(std::string(range.substr(0, slash)));
  if (first.bits != address.bits) return false;
  unsigned bits = first.bits;
  if (slash < range.size()) {
    const auto* const end = range.data() + range.size();
    const auto [stop, failure] = std::from_chars(range.data() + slash + 1, end, bits);
    if (failure != std::errc{} || stop != end || bits > first.bits) return false;
  }
  for (unsigned bit = 0; bit < bits; ++bit) {
    const auto mask = 0x80U >> bit % 8;
    if (((first.bytes.at(bit / 8) ^ address.bytes.at(bit / 8)) & mask) != 0) return false;
  }
  return true;
}

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

/// `example.com` and `.example.com` are both that name and all below it.
bool is_below(std::string_view host, std::string_view name) {
  if (name.starts_with('.')) name.remove_prefix(1);
  if (name.empty() || host.size() < name.size()) return false;
  const auto rest = host.size() - name.size();
  return std::ranges::equal(host.substr(rest), name, {}, lower, lower) && (rest == 0 || host[rest - 1] == '.');
}

}  // namespace

bool bypasses_proxy(std::string_view no_proxy, std::string_view host) {
  if (no_proxy == "*") return true;
  static constexpr std::string_view kBetween = ", \t";
  const auto address = address_of(std::string(host));
  for (auto first = no_proxy.find_first_not_of(kBetween); first != std::string_view::npos;) {
    const auto end = std::min(no_proxy.find_first_of(kBetween, first), no_proxy.size());
    const auto entry = no_proxy.substr(first, end - first);
    if (address.bits == 0 ? is_below(host, entry) : is_within(address, entry)) return true;
    first = no_proxy.find_first_not_of(kBetween, end);
  }
  return false;
}

NetworkSettings read_network_settings(const Environment& environment) {
  NetworkSettings settings;
  const std::string any = either_case(environment, "all_proxy").value_or("");
  settings.http_proxy = either_case(environment, "http_proxy").value_or(any);
  settings.https_proxy = either_case(environment, "https_proxy").value_or(any);
  settings.no_proxy = either_case(environment, "no_proxy").value_or("");
  // A lone "*" means every host to libcurl; in a list it would be a name.
  if (settings.no_proxy != "*") {
    if (!settings.no_proxy.empty()) settings.no_proxy += ',';
    settings.no_proxy += "169.254.0.0/16,fd00:ec2::/32,metadata.google.internal";
  }
  for (const auto* name : {"AWS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE"}) {
    settings.ca_file = environment.get(name).value_or("");
    if (!settings.ca_file.empty()) break;
  }
  return settings;
}

}  // namespace burst::net
