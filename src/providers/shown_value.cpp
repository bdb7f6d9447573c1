// SPDX-License-Identifier: Apache-2.0
// A value of the configuration as messages show it.
#include "providers/shown_value.h"

#include <nlohmann/json.hpp>

namespace burst {

using Json = nlohmann::ordered_json;

std::string shown(const Json& value) {
  constexpr std::size_t longest = 60;
  if (value.is_object()) return "an object";
  if (value.is_array()) return "an array";
  std::string text = value.dump(-1, ' ', true, Json::error_handler_t::replace);
  return text.size() <= longest ? text : text.substr(0, longest) + "...";
}

}  // namespace burst
