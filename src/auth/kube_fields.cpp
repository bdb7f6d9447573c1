// SPDX-License-Identifier: Apache-2.0
// Reading the fields of a Kubernetes object, with messages that say where a wrong one stands.
#include "auth/kube_fields.h"

#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "burst/error.h"
#include "burst/text.h"

namespace burst::auth {
namespace {

using nlohmann::json;

/// The kind of a value, never the value: it may be a secret.
std::string kind_of(const json& value) {
  switch (value.type()) {
    case json::value_t::object:
      return "an object";
    case json::value_t::array:
      return "a list";
    case json::value_t::string:
      return "a text";
    case json::value_t::boolean:
      return "a boolean";
    case json::value_t::null:
      return "nothing";
    default:
      return "a number";
  }
}

const json& empty_object() {
  static const json kEmpty = json::object();
  return kEmpty;
}

}  // namespace

KubeFields::KubeFields(const json& value, std::string from, std::string pointer, std::string code)
    : value_(&value), from_(std::move(from)), pointer_(std::move(pointer)), code_(std::move(code)) {
  if (value.is_object()) return;
  throw Error(code_, fmt::format("{}: {}expected an object, found {}", from_,
                                 pointer_.empty() ? "" : one_line(pointer_) + ": ", kind_of(value)));
}

void KubeFields::fail(std::string_view key, const std::string& what) const {
  throw Error(code_, fmt::format("{}: {}/{}: {}", from_, one_line(pointer_), one_line(key), what));
}

const json* KubeFields::find(std::string_view key) const {
  const auto found = value_->find(key);
  return found == value_->end() || found->is_null() ? nullptr : &*found;
}

const json* KubeFields::find_list(std::string_view key) const {
  const auto* found = find(key);
  if (found != nullptr && !found->is_array()) fail(key, fmt::format("expected a list, found {}", kind_of(*found)));
  return found;
}

std::string KubeFields::text(std::string_view key) const {
  const auto* found = find(key);
  if (found == nullptr) return {};
  if (!found->is_string()) fail(key, fmt::format("expected a text, found {}", kind_of(*found)));
  return found->get<std::string>();
}

std::string KubeFields::needed_text(std::string_view key) const {
  auto value = text(key);
  if (value.empty()) fail(key, "expected a text, found nothing");
  return value;
}

bool KubeFields::flag(std::string_view key) const {
  const auto* found = find(key);
  if (found == nullptr) return false;
  if (!found->is_boolean()) fail(key, fmt::format("expected true or false, found {}", kind_of(*found)));
  return found->get<bool>();
}

bool KubeFields::has(std::string_view key) const {
  const auto* found = find(key);
  return found != nullptr && !(found->is_structured() && found->empty()) && *found != json("");
}

KubeFields KubeFields::object(std::string_view key) const {
  const auto* found = find(key);
  return {found == nullptr ? empty_object() : *found, from_, fmt::format("{}/{}", pointer_, key), code_};
}

void KubeFields::for_each(std::string_view key, const std::function<void(const KubeFields&)>& visit) const {
  const auto* list = find_list(key);
  for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
    visit({(*list)[i], from_, fmt::format("{}/{}/{}", pointer_, key, i), code_});
  }
}

void KubeFields::for_each_text(std::string_view key, const std::function<void(std::string)>& visit) const {
  const auto* list = find_list(key);
  for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
    const auto& item = (*list)[i];
    if (!item.is_string()) {
      fail(fmt::format("{}/{}", key, i), fmt::format("expected a text, found {}", kind_of(item)));
    }
    visit(item.get<std::string>());
  }
}

}  // namespace burst::auth
