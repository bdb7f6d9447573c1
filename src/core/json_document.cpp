// SPDX-License-Identifier: Apache-2.0
// JSON text as a document: syntax errors with their place, keys that stand twice in one object.
#include "core/json_document.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "burst/text.h"

namespace burst {

namespace {

using Json = nlohmann::ordered_json;
using Event = nlohmann::detail::parse_event_t;

constexpr std::size_t kShownLimit = 60;

/// Follows the parser through the document: knows the pointer of where it is and the keys seen in each open object.
class KeyWatch {
 public:
  explicit KeyWatch(std::vector<std::string>& problems) : problems_(problems) {}

  bool operator()(Event event, const Json& parsed) {
    switch (event) {
      case Event::object_start:
      case Event::array_start:
        next_element();
        open_.push_back({event == Event::array_start, {}, {}, 0});
        break;
      case Event::object_end:
      case Event::array_end:
        open_.pop_back();
        break;
      case Event::key:
        key(parsed.get_ref<const std::string&>());
        break;
      case Event::value:
        next_element();
        break;
    }
    return true;
  }

 private:
  struct Level {
    bool array;
    std::set<std::string, std::less<>> keys;
    std::string step;   // the step of the element that is being read
    std::size_t count;  // elements of an array so far
  };

  void next_element() {
    if (open_.empty() || !open_.back().array) return;
    open_.back().step = std::to_string(open_.back().count++);
  }

  void key(const std::string& name) {
    auto& level = open_.back();
    if (!level.keys.insert(name).second) {
      std::string pointer;
      for (std::size_t i = 0; i + 1 < open_.size(); ++i) pointer += "/" + open_[i].step;
      problems_.push_back(fmt::format("{}{}expected each key once, found {} twice", pointer,
                                      pointer.empty() ? "" : ": ", json_shown(Json(name))));
    }
    level.step = json_pointer_step(name);
  }

  std::vector<std::string>& problems_;
  std::vector<Level> open_;
};

/// The parser's own words without its prefix, and without what it has read: that may be a secret.
std::string syntax_error(std::string_view what) {
  if (const auto at = what.find(" - "); at != std::string_view::npos) {
    what.remove_prefix(at + 3);
  } else if (const auto bracket = what.find("] "); bracket != std::string_view::npos) {
    what.remove_prefix(bracket + 2);
  }
  std::string text(what);
  if (const auto from = text.find("; last read: '"); from != std::string::npos) {
    const auto to = text.rfind("'; expected ");
    text.erase(from, to == std::string::npos || to < from ? std::string::npos : to + 1 - from);
  }
  return one_line(text);
}

}  // namespace

JsonPosition json_position(std::string_view text, std::size_t byte) {
  const auto before = text.substr(0, std::min(byte, text.size()));
  JsonPosition position;
  position.line = 1 + static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n'));
  const auto line_start = before.rfind('\n');
  position.column = 1 + before.size() - (line_start == std::string_view::npos ? 0 : line_start + 1);
  return position;
}

std::string json_pointer_step(std::string_view key) {
  std::string step;
  for (const char c : key) {
    if (c == '~') {
      step += "~0";
    } else if (c == '/') {
      step += "~1";
    } else {
      step += c;
    }
  }
  return one_line(step, kShownLimit);
}

std::string json_shown(const Json& value) {
  if (value.is_object()) return "an object";
  if (value.is_array()) return "an array";
  auto text = value.dump(-1, ' ', true, Json::error_handler_t::replace);  // ASCII: safe on a terminal
  if (text.size() > kShownLimit) text.replace(kShownLimit, std::string::npos, value.is_string() ? "...\"" : "...");
  return text;
}

Json parse_json_document(std::string_view text, std::vector<std::string>& problems) {
  KeyWatch watch(problems);
  try {
    return Json::parse(text, [&watch](int, Event event, Json& parsed) { return watch(event, parsed); });
  } catch (const Json::parse_error& error) {
    const auto [line, column] = json_position(text, error.byte == 0 ? 0 : error.byte - 1);
    problems.push_back(fmt::format("line {}, column {}: not JSON: {}", line, column, syntax_error(error.what())));
    return nullptr;
  } catch (const Json::exception& error) {  // a number that no double holds; it comes without a place
    problems.push_back(fmt::format("not JSON: {}", syntax_error(error.what())));
    return nullptr;
  }
}

}  // namespace burst
