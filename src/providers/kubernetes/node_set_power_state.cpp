// SPDX-License-Identifier: Apache-2.0
// soperator's NodeSet and NodeSetPowerState: read and edited as documents, without a request.
#include "providers/kubernetes/node_set_power_state.h"

#include <charconv>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "burst/error.h"
#include "providers/json_fields.h"

namespace burst::kubernetes {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;
using reply::member;
using reply::number;
using reply::text;

[[noreturn]] void throw_invalid(const char* kind, const std::string& wrong) {
  throw Error("InvalidReply", fmt::format("reading a {}: {}", kind, wrong));
}

}  // namespace

NodeSet parse_node_set(std::string_view body) {
  const json document = json::parse(body, nullptr, false);
  if (text(document, "kind") != "NodeSet") throw_invalid("NodeSet", "the reply is none");
  const json& spec = member(document, "spec");
  const auto replicas = number(spec, "replicas");
  if (!replicas || *replicas < 0) throw_invalid("NodeSet", "/spec/replicas is no number of nodes");
  return {*replicas, member(spec, "ephemeralNodes") == true};
}

PowerState PowerState::parse(std::string_view body) {
  constexpr const char* kind = "NodeSetPowerState";
  ordered_json document = ordered_json::parse(body, nullptr, false);
  if (!document.is_object() || document.value("kind", ordered_json()) != kind) throw_invalid(kind, "the reply is none");
  const auto string_at = [&](const char* pointer) {
    const ordered_json::json_pointer place(pointer);
    return document.contains(place) && document.at(place).is_string() ? document.at(place).get<std::string>()
                                                                      : std::string();
  };
  if (string_at("/metadata/resourceVersion").empty()) throw_invalid(kind, "/metadata/resourceVersion is missing");
  const auto spec = document.find("spec");
  if (spec != document.end() && !spec->is_object()) throw_invalid(kind, "/spec is no object");
  Ordinals active;
  if (spec != document.end()) {
    const auto nodes = spec->find("activeNodes");
    if (nodes != spec->end() && !nodes->is_null()) {
      if (!nodes->is_array()) throw_invalid(kind, "/spec/activeNodes is no list");
      for (const auto& node : *nodes) {
        if (!node.is_number_integer()) throw_invalid(kind, "/spec/activeNodes holds what is no number");
        active.insert(node.get<std::int64_t>());
      }
    }
  }
  return PowerState(std::make_shared<const ordered_json>(std::move(document)), std::move(active), true);
}

PowerState PowerState::create(const std::string& name_space, const std::string& node_set) {
  auto document = std::make_shared<const ordered_json>(
      ordered_json{{"apiVersion", "slurm.nebius.ai/v1alpha1"},
                   {"kind", "NodeSetPowerState"},
                   {"metadata", {{"name", node_set}, {"namespace", name_space}}},
                   {"spec", {{"nodeSetRef", node_set}, {"activeNodes", ordered_json::array()}}}});
  return PowerState(std::move(document), {}, false);
}

bool PowerState::add(const Ordinals& ordinals) {
  const std::size_t before = active_.size();
  active_.insert(ordinals.begin(), ordinals.end());
  return active_.size() != before;
}

bool PowerState::remove(const Ordinals& ordinals) {
  return std::erase_if(active_, [&](std::int64_t ordinal) { return ordinals.contains(ordinal); }) > 0;
}

std::string PowerState::body() const {
  ordered_json document = *document_;
  document["spec"]["activeNodes"] = active_;
  return document.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

std::optional<std::int64_t> ordinal_in(std::string_view pod_name, std::string_view node_set) {
  if (pod_name.size() <= node_set.size() + 1 || !pod_name.starts_with(node_set) || pod_name[node_set.size()] != '-')
    return std::nullopt;
  const std::string_view digits = pod_name.substr(node_set.size() + 1);
  if (digits.front() < '0' || digits.front() > '9' || (digits.front() == '0' && digits.size() > 1)) return std::nullopt;
  std::int64_t ordinal = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), ordinal);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return ordinal;
}

}  // namespace burst::kubernetes
