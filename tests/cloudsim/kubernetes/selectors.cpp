// SPDX-License-Identifier: Apache-2.0
// labelSelector and fieldSelector.
#include "kubernetes/selectors.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "kubernetes/api_status.h"

namespace cloudsim::kubernetes {

namespace {

std::string trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(' ');
  return first == std::string_view::npos ? "" : std::string(text.substr(first, text.find_last_not_of(' ') - first + 1));
}

/// At commas outside of parentheses.
std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> out;
  int depth = 0;
  std::string part;
  for (const char c : text) {
    depth += c == '(' ? 1 : (c == ')' ? -1 : 0);
    if (c == ',' && depth == 0) {
      out.push_back(trimmed(part));
      part.clear();
    } else {
      part += c;
    }
  }
  out.push_back(trimmed(part));
  return out;
}

StatusError unparsable(const std::string& text) {
  return bad_request(fmt::format("unable to parse requirement: found '{}', expected: identifier", text));
}

/// `key=value`, `key==value`, `key!=value`; nothing: no such operator in it.
std::optional<std::pair<std::string, std::string>> equality(const std::string& text, bool& negated) {
  const auto at = text.find('=');
  if (at == std::string::npos || at == 0) {
    return std::nullopt;
  }
  negated = text[at - 1] == '!';
  const auto value_at = at + 1 < text.size() && text[at + 1] == '=' ? at + 2 : at + 1;
  return std::pair{trimmed(std::string_view(text).substr(0, negated ? at - 1 : at)), trimmed(text.substr(value_at))};
}

const std::string* label_of(const nlohmann::json& object, const std::string& key) {
  const auto& metadata = object.at("metadata");
  const auto labels = metadata.find("labels");
  if (labels == metadata.end()) {
    return nullptr;
  }
  const auto found = labels->find(key);
  return found == labels->end() ? nullptr : found->get_ptr<const std::string*>();
}

std::string field_of(const nlohmann::json& object, const std::string& path) {
  const auto* at = &object;
  std::string_view rest = path;
  while (!rest.empty()) {
    const auto dot = rest.find('.');
    const auto found = at->find(std::string(rest.substr(0, dot)));
    if (!at->is_object() || found == at->end()) {
      return "";
    }
    at = &*found;
    rest.remove_prefix(dot == std::string_view::npos ? rest.size() : dot + 1);
  }
  return at->is_string() ? at->get<std::string>() : at->dump();
}

bool is_field_of(const ResourceType& type, const std::string& key) {
  static const std::vector<std::string> kPod{"spec.nodeName",           "spec.restartPolicy", "spec.schedulerName",
                                             "spec.serviceAccountName", "status.phase",       "status.podIP"};
  static const std::vector<std::string> kEvent{"involvedObject.kind",
                                               "involvedObject.namespace",
                                               "involvedObject.name",
                                               "involvedObject.uid",
                                               "reason",
                                               "type",
                                               "source",
                                               "reportingComponent",
                                               "involvedObject.apiVersion",
                                               "involvedObject.resourceVersion",
                                               "involvedObject.fieldPath"};
  const auto in = [&](const auto& list) { return std::find(list.begin(), list.end(), key) != list.end(); };
  return key == "metadata.name" || (key == "metadata.namespace" && type.namespaced) ||
         (type.kind == "Pod" && in(kPod)) || (type.kind == "Event" && in(kEvent)) ||
         (type.kind == "Namespace" && key == "status.phase") || (type.kind == "Node" && key == "spec.unschedulable");
}

}  // namespace

Selector Selector::labels(const std::string& text) {
  Selector out;
  if (trimmed(text).empty()) {
    return out;
  }
  for (const auto& part : split(text)) {
    bool negated = false;
    const auto open = part.find('(');
    if (open != std::string::npos && part.back() == ')') {
      const auto head = trimmed(part.substr(0, open));
      const auto blank = head.find(' ');
      const auto word = blank == std::string::npos ? "" : trimmed(head.substr(blank));
      if (word != "in" && word != "notin") {
        throw unparsable(part);
      }
      out.terms_.push_back({head.substr(0, blank), word == "in" ? Operator::in : Operator::not_in,
                            split(part.substr(open + 1, part.size() - open - 2))});
    } else if (const auto pair = equality(part, negated)) {
      out.terms_.push_back({pair->first, negated ? Operator::not_in : Operator::in, {pair->second}});
    } else if (part.starts_with('!')) {
      out.terms_.push_back({trimmed(part.substr(1)), Operator::missing, {}});
    } else {
      out.terms_.push_back({part, Operator::exists, {}});
    }
    if (out.terms_.back().key.empty() || out.terms_.back().key.find(' ') != std::string::npos) {
      throw unparsable(part);
    }
  }
  return out;
}

Selector Selector::fields(const ResourceType& type, const std::string& text) {
  Selector out;
  out.fields_ = true;
  if (text.empty()) {
    return out;
  }
  for (const auto& part : split(text)) {
    bool negated = false;
    const auto pair = equality(part, negated);
    if (!pair) {
      throw bad_request(
          fmt::format("Unable to find \"{}\" that match label selector \"\", field selector \"{}\": "
                      "invalid selector: '{}'; can't understand '{}'",
                      type.group + "/" + type.version + ", Resource=" + type.plural, text, text, part));
    }
    if (!is_field_of(type, pair->first)) {
      throw bad_request(
          fmt::format("Unable to find \"{}, Resource={}\" that match label selector \"\", field selector "
                      "\"{}\": field label not supported: {}",
                      type.group + "/" + type.version, type.plural, text, pair->first));
    }
    out.terms_.push_back({pair->first, negated ? Operator::not_in : Operator::in, {pair->second}});
  }
  return out;
}

bool Selector::matches(const nlohmann::json& object) const {
  return std::all_of(terms_.begin(), terms_.end(), [&](const Term& term) {
    std::optional<std::string> value;
    if (fields_) {
      value = field_of(object, term.key);
    } else if (const auto* const label = label_of(object, term.key)) {
      value = *label;
    }
    const bool listed = value && std::find(term.values.begin(), term.values.end(), *value) != term.values.end();
    switch (term.test) {
      case Operator::in:
        return listed;
      case Operator::not_in:
        return !listed;
      case Operator::exists:
        return value.has_value();
      default:
        return !value.has_value();
    }
  });
}

bool has_labels(const nlohmann::json& object, const nlohmann::json& wanted) {
  for (const auto& [key, value] : wanted.items()) {
    const auto* const label = label_of(object, key);
    if (label == nullptr || value != *label) {
      return false;
    }
  }
  return true;
}

}  // namespace cloudsim::kubernetes
