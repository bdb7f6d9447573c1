// SPDX-License-Identifier: Apache-2.0
// A JSON body against its message type. What is taken: protobuf.dev/programming-guides/proto3/#json.
#include "gce/message_check.h"

#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace cloudsim::gce {

namespace {

using Shape = FieldType::Shape;
using Kind = FieldType::Kind;
using Json = nlohmann::json;

std::optional<std::int64_t> to_integer(const std::string& text) {
  std::int64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, value);
  return !text.empty() && result.ec == std::errc{} && result.ptr == end ? std::optional(value) : std::nullopt;
}

// 5, "5" and 5.0 are the same integer.
std::optional<std::int64_t> to_integer(const Json& value) {
  if (value.is_string()) {
    return to_integer(value.get_ref<const std::string&>());
  }
  if (value.is_number_unsigned() && value.get<std::uint64_t>() > std::uint64_t{INT64_MAX}) {
    return std::nullopt;
  }
  if (value.is_number_float()) {
    const double real = value.get<double>();
    const bool whole = std::nearbyint(real) == real && std::abs(real) < 9e15;
    return whole ? std::optional(static_cast<std::int64_t>(real)) : std::nullopt;
  }
  return value.is_number() ? std::optional(value.get<std::int64_t>()) : std::nullopt;
}

bool is_int32(std::int64_t value) {
  return value >= std::numeric_limits<std::int32_t>::min() && value <= std::numeric_limits<std::int32_t>::max();
}

std::string type_name(const FieldType& type) {
  switch (type.kind) {
    case Kind::text:
      return "TYPE_STRING";
    case Kind::int64:
      return "TYPE_INT64";
    case Kind::int32:
      return "TYPE_INT32";
    case Kind::real:
      return "TYPE_DOUBLE";
    case Kind::boolean:
      return "TYPE_BOOL";
    default:
      return "type.googleapis.com/google.cloud.compute.v1." + type.message;
  }
}

class Check {
 public:
  explicit Check(std::vector<std::string>& complaints) : complaints_(&complaints) {}

  Json message(const std::string& name, const Json& value, const std::string& where) {
    const auto& fields = compute_v1().messages.at(name);
    Json out = Json::object();
    for (const auto& [given, content] : value.items()) {
      auto field = fields.find(given);
      if (field == fields.end()) {
        field = fields.find(camel_case(given));
      }
      if (field == fields.end()) {
        complain(fmt::format("Invalid JSON payload received. Unknown name \"{}\"{}: Cannot find field.", given,
                             where.empty() ? "" : " at '" + where + "'"));
      } else if (!content.is_null()) {
        out[field->first] = any_shape(field->second, content, where, snake_case(field->first));
      }
    }
    return out;
  }

 private:
  void complain(std::string text) { complaints_->push_back(std::move(text)); }

  Json any_shape(const FieldType& type, const Json& value, const std::string& parent, const std::string& name) {
    const auto where = parent.empty() ? name : parent + "." + name;
    if (type.shape == Shape::one) {
      if (value.is_array() && type.kind != Kind::any) {
        complain(fmt::format(
            "Invalid JSON payload received. Unknown name \"{}\"{}: Proto field is not repeating, cannot start list.",
            name, parent.empty() ? "" : " at '" + parent + "'"));
        return {};
      }
      return single(type, value, parent, name, where);
    }
    const bool list = type.shape == Shape::list;
    if (list ? !value.is_array() : !value.is_object()) {
      wrong_value(type, value, where);
      return {};
    }
    Json out = list ? Json::array() : Json::object();
    std::size_t index = 0;
    for (const auto& [key, element] : value.items()) {
      // A map is a list of entries to the parser.
      const auto at = list ? fmt::format("{}[{}]", where, index++) : fmt::format("{}[{}].value", where, index++);
      auto checked = single(type, element, where, list ? std::to_string(index - 1) : "value", at);
      if (list) {
        out.push_back(std::move(checked));
      } else {
        out[key] = std::move(checked);
      }
    }
    return out;
  }

  Json single(const FieldType& type, const Json& value, const std::string& parent, const std::string& name,
              const std::string& where) {
    if (type.kind == Kind::any) {
      return value;
    }
    if (type.kind == Kind::message) {
      if (!value.is_object()) {
        wrong_value(type, value, where);
        return {};
      }
      return message(type.message, value, where);
    }
    if (value.is_object()) {
      complain(fmt::format("Invalid value at '{}' ({}), Starting an object on a scalar field", parent, name));
      return {};
    }
    auto out = scalar(type.kind, value);
    if (out.is_null()) {
      wrong_value(type, value, where);
    }
    return out;
  }

  static Json scalar(Kind kind, const Json& value) {
    const auto integer = to_integer(value);
    switch (kind) {
      case Kind::text:
        return value.is_string() ? value : Json();
      case Kind::int64:
        return integer ? Json(std::to_string(*integer)) : Json();
      case Kind::int32:
        return integer && is_int32(*integer) ? Json(*integer) : Json();
      case Kind::real:
        return value.is_number() ? value : Json();
      default:
        if (value == "true" || value == "false") {
          return value == "true";
        }
        return value.is_boolean() ? value : Json();
    }
  }

  void wrong_value(const FieldType& type, const Json& value, const std::string& where) {
    complain(fmt::format("Invalid value at '{}' ({}), {}", where, type_name(type), value.dump()));
  }

  std::vector<std::string>* complaints_;
};

}  // namespace

std::string camel_case(const std::string& name) {
  std::string out;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const bool up = name[i] == '_' && i + 1 < name.size() && name[i + 1] >= 'a' && name[i + 1] <= 'z';
    out += up ? static_cast<char>(name[++i] - 'a' + 'A') : name[i];
  }
  return out;
}

std::string snake_case(const std::string& name) {
  std::string out;
  for (const char c : name) {
    const bool upper = c >= 'A' && c <= 'Z';
    out += upper && !out.empty() ? "_" : "";
    out += upper && out.size() > 1 ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return out;
}

Json check_message(const std::string& message, const Json& body, std::vector<std::string>& complaints) {
  return Check(complaints).message(message, body, "resource");
}

bool fits_parameter(const FieldType& type, const std::string& text, std::string& wanted) {
  wanted = type_name(type);
  if (type.kind == Kind::boolean) {
    return text == "true" || text == "false";
  }
  if (type.kind == Kind::int32) {
    const auto value = to_integer(text);
    return value && is_int32(*value);
  }
  return true;
}

}  // namespace cloudsim::gce
