// SPDX-License-Identifier: Apache-2.0
// Names, links and times as Compute Engine writes them.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace cloudsim::gce {

/// "https://www.googleapis.com/compute/v1/" and the resource: what Google puts into selfLink whatever host was asked.
std::string link_to(const std::string& resource);
/// What follows "projects/" in a link of any host and version, "projects/" included; other texts as they are.
std::string without_host(const std::string& reference);
std::string last_segment(const std::string& reference);
/// The segment that follows `key`: segment_after("projects/p/zones/z", "zones") is "z". Empty: there is none.
std::string segment_after(const std::string& reference, std::string_view key);
/// "us-central1" of "us-central1-a".
std::string region_of_zone(const std::string& zone);
bool is_resource_name(const std::string& name);  ///< RFC 1035, at most 63 characters
bool is_uuid(const std::string& text);

/// RFC 3339 with milliseconds in Google's own time zone, e.g. "2026-01-31T04:05:06.789-08:00".
std::string timestamp(std::chrono::system_clock::time_point when);
/// Nothing: not RFC 3339.
std::optional<std::chrono::system_clock::time_point> parse_timestamp(const std::string& text);

}  // namespace cloudsim::gce
