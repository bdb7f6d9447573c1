// SPDX-License-Identifier: Apache-2.0
// Reading fields of a reply that may hold anything: what is missing or of another type is empty.
#include "providers/json_fields.h"

#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "auth/iso_time.h"
#include "burst/error.h"

namespace burst::reply {

using nlohmann::json;

const json& member(const json& object, const char* key) {
  static const json kNothing;
  if (!object.is_object()) return kNothing;
  const auto found = object.find(key);
  return found == object.end() ? kNothing : *found;
}

std::string text(const json& object, const char* key) {
  const json& value = member(object, key);
  return value.is_string() ? value.get<std::string>() : std::string();
}

std::optional<std::int64_t> number(const json& object, const char* key) {
  const json& value = member(object, key);
  if (!value.is_number_integer()) return std::nullopt;
  if (value.is_number_unsigned() &&
      value.get<std::uint64_t>() > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
    return std::nullopt;
  return value.get<std::int64_t>();
}

std::optional<std::chrono::sys_seconds> time_of(const json& object, const char* key) {
  return auth::parse_iso_time(text(object, key));
}

const json& list(const json& object, const char* key) {
  static const json kNone = json::array();
  const json& value = member(object, key);
  return value.is_array() ? value : kNone;
}

void throw_invalid(std::string_view what, std::string_view wrong) {
  throw Error("InvalidReply", fmt::format("reading {}: {}", what, wrong));
}

}  // namespace burst::reply
