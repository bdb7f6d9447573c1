// SPDX-License-Identifier: Apache-2.0
// Names, links and times as Compute Engine writes them.
#include "gce/names.h"

#include <cstdio>
#include <ctime>
#include <regex>

#include <fmt/format.h>

namespace cloudsim::gce {

namespace {

constexpr std::chrono::hours kGoogleTime{-8};

}  // namespace

std::string link_to(const std::string& resource) { return "https://www.googleapis.com/compute/v1/" + resource; }

std::string without_host(const std::string& reference) {
  const auto at = reference.find("/projects/");
  return reference.starts_with("http") && at != std::string::npos ? reference.substr(at + 1) : reference;
}

std::string last_segment(const std::string& reference) { return reference.substr(reference.rfind('/') + 1); }

std::string segment_after(const std::string& reference, std::string_view key) {
  const auto text = "/" + without_host(reference);
  const auto word = fmt::format("/{}/", key);
  const auto at = text.find(word);
  if (at == std::string::npos) {
    return "";
  }
  const auto from = at + word.size();
  return text.substr(from, text.find('/', from) - from);
}

std::string region_of_zone(const std::string& zone) { return zone.substr(0, zone.rfind('-')); }

bool is_resource_name(const std::string& name) {
  static const std::regex kPattern("[a-z]([-a-z0-9]{0,61}[a-z0-9])?");
  return std::regex_match(name, kPattern);
}

bool is_uuid(const std::string& text) {
  static const std::regex kPattern("[0-9a-fA-F]{8}-([0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}");
  return std::regex_match(text, kPattern) && text != "00000000-0000-0000-0000-000000000000";
}

std::string timestamp(std::chrono::system_clock::time_point when) {
  const auto millis =
      std::chrono::duration_cast<std::chrono::milliseconds>((when + kGoogleTime).time_since_epoch()).count();
  const std::time_t seconds = millis / 1000;
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}-08:00", parts.tm_year + 1900, parts.tm_mon + 1,
                     parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec, millis % 1000);
}

std::optional<std::chrono::system_clock::time_point> parse_timestamp(const std::string& text) {
  static const std::regex kPattern(R"((\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d):(\d\d)(\.\d{1,9})?([Zz]|[-+]\d\d:\d\d))");
  std::smatch match;
  if (!std::regex_match(text, match, kPattern)) {
    return std::nullopt;
  }
  std::tm parts{};
  parts.tm_year = std::stoi(match[1]) - 1900;
  parts.tm_mon = std::stoi(match[2]) - 1;
  parts.tm_mday = std::stoi(match[3]);
  parts.tm_hour = std::stoi(match[4]);
  parts.tm_min = std::stoi(match[5]);
  parts.tm_sec = std::stoi(match[6]);
  auto out = std::chrono::system_clock::from_time_t(timegm(&parts));
  if (match[7].matched) {
    out += std::chrono::milliseconds(static_cast<std::int64_t>(1000 * std::stod("0" + match[7].str())));
  }
  const std::string zone = match[8];
  if (zone.size() == 6) {
    const auto offset = std::chrono::minutes(60 * std::stoi(zone.substr(1, 2)) + std::stoi(zone.substr(4, 2)));
    out += zone[0] == '-' ? offset : -offset;
  }
  return out;
}

}  // namespace cloudsim::gce
