// SPDX-License-Identifier: Apache-2.0
// YAML and JSON files of Kubernetes (kubeconfig, pod template) as JSON values.
#include "auth/kube_document.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>
#include <sstream>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include "burst/error.h"
#include "burst/text.h"

namespace burst::auth {
namespace {

using nlohmann::json;

constexpr std::string_view kStandardTag = "tag:yaml.org,2002:";

std::string place_of(const YAML::Mark& mark) {
  if (mark.is_null()) return {};
  return fmt::format("line {}, column {}: ", mark.line + 1, mark.column + 1);
}

template <std::size_t Size>
bool is_one_of(std::string_view text, const std::array<std::string_view, Size>& words) {
  return std::ranges::find(words, text) != words.end();
}

bool is_null(std::string_view text) {
  static constexpr std::array<std::string_view, 5> kWords{"", "~", "null", "Null", "NULL"};
  return is_one_of(text, kWords);
}

std::optional<bool> boolean_of(std::string_view text) {
  static constexpr std::array<std::string_view, 9> kTrue{"true", "True", "TRUE", "yes", "Yes", "YES", "on", "On", "ON"};
  static constexpr std::array<std::string_view, 9> kFalse{"false", "False", "FALSE", "no", "No",
                                                          "NO",    "off",   "Off",   "OFF"};
  if (is_one_of(text, kTrue)) return true;
  if (is_one_of(text, kFalse)) return false;
  return std::nullopt;
}

/// `+12`, `1_000`, `0x1f`, `0b11`, `017`, `0o17`.
std::optional<json> integer_of(std::string_view text) {
  static constexpr int kDecimal = 10;
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  if (text.empty() || text.front() < '0' || text.front() > '9') return std::nullopt;
  int base = kDecimal;
  const auto prefixed = [&](std::string_view prefix, int its_base) {
    if (base != kDecimal || text.size() <= prefix.size() || !text.starts_with(prefix)) return;
    base = its_base;
    text.remove_prefix(prefix.size());
  };
  prefixed("0x", 16);
  prefixed("0b", 2);
  prefixed("0o", 8);
  prefixed("0", 8);
  std::string digits(text);
  std::erase(digits, '_');
  std::uint64_t value = 0;
  const auto* const end = digits.data() + digits.size();
  const auto [stop, failure] = std::from_chars(digits.data(), end, value, base);
  if (failure != std::errc{} || stop != end) return std::nullopt;
  if (!negative) return json(value);
  static constexpr auto kMost = std::uint64_t{1} << 63U;
  if (value > kMost) return std::nullopt;
  return json(static_cast<std::int64_t>(~value + 1));
}

/// Only what begins like a number: from_chars also knows words.
std::optional<double> real_of(std::string_view text) {
  const auto first = text.find_first_not_of("+-");
  if (first == std::string_view::npos || first > 1) return std::nullopt;
  if (text[first] != '.' && (text[first] < '0' || text[first] > '9')) return std::nullopt;
  if (text.front() == '+') text.remove_prefix(1);
  double value = 0;
  const auto* const end = text.data() + text.size();
  const auto [stop, failure] = std::from_chars(text.data(), end, value);
  if (failure != std::errc{} || stop != end || !std::isfinite(value)) return std::nullopt;
  return value;
}

json plain_scalar(const std::string& text) {
  if (is_null(text)) return nullptr;
  if (const auto value = boolean_of(text)) return *value;
  if (auto value = integer_of(text)) return *std::move(value);
  if (const auto value = real_of(text)) return *value;
  return text;
}

/// One walk through a document; what an alias names counts each time.
class Converter {
 public:
  explicit Converter(std::string_view path) : path_(path) {}

  json convert(const YAML::Node& node, int depth = 0) {
    if (++values_ > kMostKubeValues) fail(node, fmt::format("expected at most {} values, found more", kMostKubeValues));
    if (depth > kDeepestKubeValue) fail(node, fmt::format("expected at most {} levels, found more", kDeepestKubeValue));
    switch (node.Type()) {
      case YAML::NodeType::Scalar:
        return scalar(node);
      case YAML::NodeType::Sequence: {
        auto list = json::array();
        for (const auto& item : node) list.push_back(convert(item, depth + 1));
        return list;
      }
      case YAML::NodeType::Map:
        return map(node, depth);
      default:
        return nullptr;
    }
  }

 private:
  [[noreturn]] void fail(const YAML::Node& node, const std::string& what) const {
    throw Error("InvalidConfig", fmt::format("reading \"{}\": {}{}", one_line(path_), place_of(node.Mark()), what));
  }

  json scalar(const YAML::Node& node) const {
    const auto& tag = node.Tag();
    // "?" is a plain scalar, "!" one in quotes or a block
    if (tag == "?" || tag.empty()) return plain_scalar(node.Scalar());
    if (tag == "!" || tag == std::string(kStandardTag) + "str") return node.Scalar();
    static constexpr std::array<std::string_view, 4> kPlain{"null", "bool", "int", "float"};
    if (tag.starts_with(kStandardTag) && is_one_of(std::string_view(tag).substr(kStandardTag.size()), kPlain)) {
      return plain_scalar(node.Scalar());
    }
    fail(node, "expected a text, number or boolean, found a value with a tag of its own");
  }

  json map(const YAML::Node& node, int depth) {
    auto object = json::object();
    std::vector<json> merged;
    for (const auto& entry : node) {
      if (!entry.first.IsScalar()) fail(entry.first, "expected a text as key, found a list or an object");
      const auto& key = entry.first.Scalar();
      auto value = convert(entry.second, depth + 1);
      if (key == "<<" && entry.first.Tag() == "?") {
        merged.push_back(std::move(value));
      } else if (!object.emplace(key, std::move(value)).second) {
        fail(entry.first, "expected each key of an object once, found one twice");
      }
    }
    for (const auto& one : merged) merge(node, object, one);
    return object;
  }

  void merge(const YAML::Node& node, json& object, const json& merged) const {
    if (merged.is_array()) {
      for (const auto& one : merged) merge(node, object, one);
    } else if (merged.is_object()) {
      for (const auto& [key, value] : merged.items()) object.emplace(key, value);
    } else {
      fail(node, "expected an object behind the merge key <<");
    }
  }

  std::string_view path_;
  std::size_t values_ = 0;
};

/// Where each document begins, and nothing else of them.
class DocumentStarts : public YAML::EventHandler {
 public:
  std::vector<YAML::Mark> marks;

  void OnDocumentStart(const YAML::Mark& mark) override { marks.push_back(mark); }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
  void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}
  void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t, const std::string&) override {}
  void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {}
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {}
  void OnMapEnd() override {}
};

/// The first two documents' beginnings, at most. What can begin no value (`, a`, `]`) is to yaml-cpp one empty document
/// after another at the same place, without end: YAML::LoadAll() fills the memory with them.
std::vector<YAML::Mark> document_starts(const std::string& text) {
  std::istringstream stream(text);
  YAML::Parser parser(stream);
  DocumentStarts starts;
  while (starts.marks.size() < 2 && parser.HandleNextDocument(starts)) {
  }
  return starts.marks;
}

/// yaml-cpp reads most of JSON, but not all of its escapes. Null for what is not JSON.
std::optional<json> parse_json(std::string_view text, std::string_view path) {
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || text[first] != '{') return std::nullopt;
  const auto bounded = [&](int depth, json::parse_event_t, const json&) {
    if (depth <= kDeepestKubeValue) return true;
    throw Error("InvalidConfig", fmt::format("reading \"{}\": expected at most {} levels, found more", one_line(path),
                                             kDeepestKubeValue));
  };
  auto value = json::parse(text, bounded, false);
  if (value.is_discarded()) return std::nullopt;
  return value;
}

}  // namespace

json parse_kube_document(std::string_view text, std::string_view path) {
  const auto fail = [&](const std::string& what) {
    throw Error("InvalidConfig", fmt::format("reading \"{}\": {}", one_line(path), what));
  };
  if (text.size() > kLargestKubeDocument) {
    fail(fmt::format("expected at most {} KiB, found {}", kLargestKubeDocument >> 10U, text.size() >> 10U));
  }
  // With a NUL byte at its beginning yaml-cpp would take it for UTF-16 or UTF-32.
  if (!is_utf8(text) || text.find('\0') != std::string_view::npos) fail("expected a text in UTF-8");
  if (auto value = parse_json(text, path)) return *std::move(value);
  const std::string copy(text);
  try {
    const auto starts = document_starts(copy);
    if (starts.empty()) return nullptr;
    if (starts.size() > 1) {
      const auto at = std::min(static_cast<std::size_t>(std::max(starts[1].pos, 0)), text.size());
      const bool is_marked = text.substr(at).starts_with("---");
      fail(is_marked ? "expected one document, found several (---)"
                     : place_of(starts[1]) + "not YAML: expected the end or a value");
    }
    return Converter(path).convert(YAML::Load(copy));
  } catch (const YAML::Exception& error) {
    // What follows a colon in yaml-cpp's own text comes from the file.
    const auto what = error.msg.substr(0, error.msg.find(':'));
    fail(place_of(error.mark) + "not YAML: " + one_line(what));
  }
  return nullptr;  // not reached
}

}  // namespace burst::auth
