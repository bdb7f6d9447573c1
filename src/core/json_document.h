// SPDX-License-Identifier: Apache-2.0
// JSON text as a document: syntax errors with their place, keys that stand twice in one object.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace burst {

struct JsonPosition {
  std::size_t line = 1, column = 1;  ///< from 1; the column in bytes
};

/// Where a byte of the text stands.
JsonPosition json_position(std::string_view text, std::size_t byte);

/// A key as one step of a JSON pointer (RFC 6901): `a/b` -> `a~1b`.
std::string json_pointer_step(std::string_view key);

/// A value as a message shows it: scalars as JSON writes them, strings cut, `an object`, `an array`.
std::string json_shown(const nlohmann::ordered_json& value);

/// Parses a whole text. Every problem is appended to `problems` as a line without the file's name: `line 3, column 9:
/// ...` for a syntax error (the document is then null), `/Partitions/0: expected each key once, found "MaxNodes"
/// twice` for a key that stands twice in one object.
nlohmann::ordered_json parse_json_document(std::string_view text, std::vector<std::string>& problems);

}  // namespace burst
