// SPDX-License-Identifier: Apache-2.0
// Reading fields of a reply that may hold anything: what is missing or of another type is empty.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

namespace burst::reply {

/// Null for what is not there.
const nlohmann::json& member(const nlohmann::json& object, const char* key);
std::string text(const nlohmann::json& object, const char* key);
std::optional<std::int64_t> number(const nlohmann::json& object, const char* key);
std::optional<std::chrono::sys_seconds> time_of(const nlohmann::json& object, const char* key);
/// An empty array for what is none.
const nlohmann::json& list(const nlohmann::json& object, const char* key);

/// Throws Error{"InvalidReply"}: `reading WHAT: WRONG`.
[[noreturn]] void throw_invalid(std::string_view what, std::string_view wrong);

}  // namespace burst::reply
