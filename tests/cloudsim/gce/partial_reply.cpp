// SPDX-License-Identifier: Apache-2.0
// Partial replies. Form: cloud.google.com/compute/docs/api/how-tos/performance#partial-response
#include "gce/partial_reply.h"

#include <algorithm>
#include <map>
#include <string_view>

#include <nlohmann/json.hpp>

#include "gce/schema.h"

namespace cloudsim::gce {

namespace {

/// Names below this one; none: all of it.
struct Mask {
  std::map<std::string, Mask> fields;
};

class Parser {
 public:
  explicit Parser(const std::string& text) : text_(text), rest_(text) {}

  Mask parse() {
    Mask out;
    list(out);
    if (!rest_.empty()) {
      refuse();
    }
    return out;
  }

 private:
  [[noreturn]] void refuse() const {
    throw ApiError{400, "invalidParameter", "INVALID_ARGUMENT", "Invalid field selection " + text_};
  }

  bool take(char wanted) {
    if (!rest_.starts_with(wanted)) {
      return false;
    }
    rest_.remove_prefix(1);
    return true;
  }

  void list(Mask& into) {
    do {
      path(into);
    } while (take(','));
  }

  void path(Mask& into) {
    const auto end = std::min(rest_.find_first_of(",/()"), rest_.size());
    if (end == 0) {
      refuse();
    }
    auto& below = into.fields[std::string(rest_.substr(0, end))];
    rest_.remove_prefix(end);
    if (take('/')) {
      path(below);
    } else if (take('(')) {
      list(below);
      if (!take(')')) {
        refuse();
      }
    }
  }

  const std::string& text_;
  std::string_view rest_;
};

nlohmann::json select(const nlohmann::json& value, const Mask& mask) {
  if (mask.fields.empty() || !value.is_structured()) {
    return value;
  }
  if (value.is_array()) {
    auto out = nlohmann::json::array();
    for (const auto& item : value) {
      out.push_back(select(item, mask));
    }
    return out;
  }
  auto out = nlohmann::json::object();
  for (const auto& [name, content] : value.items()) {
    auto wanted = mask.fields.find(name);
    if (wanted == mask.fields.end()) {
      wanted = mask.fields.find("*");
    }
    if (wanted != mask.fields.end()) {
      out[name] = select(content, wanted->second);
    }
  }
  return out;
}

}  // namespace

nlohmann::json select_fields(const nlohmann::json& reply, const std::string& mask) {
  return select(reply, Parser(mask).parse());
}

}  // namespace cloudsim::gce
