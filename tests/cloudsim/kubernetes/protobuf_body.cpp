// SPDX-License-Identifier: Apache-2.0
// Kubernetes' envelope and the messages that kubectl sends in it, source: the generated.proto files of k8s.io/api.
#include "kubernetes/protobuf_body.h"

#include <cstdint>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "kubernetes/base64.h"

namespace cloudsim::kubernetes {

namespace {

using Json = nlohmann::json;

constexpr std::string_view kMagic{"k8s\0", 4};

// Field number: [name, type]. s string, y bytes, i integer, b boolean, q quantity, [T] repeated, {"*": T} map with
// string keys, "@name" another message. Fields that are missing here are skipped.
constexpr const char* kMessages = R"json({
"Unknown": {"1": ["typeMeta", "@TypeMeta"], "2": ["raw", "s"]},
"TypeMeta": {"1": ["apiVersion", "s"], "2": ["kind", "s"]},
"Meta": {"1": ["name", "s"], "2": ["generateName", "s"], "3": ["namespace", "s"], "5": ["uid", "s"],
  "6": ["resourceVersion", "s"], "11": ["labels", {"*": "s"}], "12": ["annotations", {"*": "s"}]},
"QuotaSpec": {"1": ["hard", {"*": "q"}], "2": ["scopes", ["s"]]},
"Quantity": {"1": ["string", "s"]},
"ResourceQuota": {"1": ["metadata", "@Meta"], "2": ["spec", "@QuotaSpec"]},
"Namespace": {"1": ["metadata", "@Meta"]},
"ServiceAccount": {"1": ["metadata", "@Meta"]},
"ConfigMap": {"1": ["metadata", "@Meta"], "2": ["data", {"*": "s"}]},
"Secret": {"1": ["metadata", "@Meta"], "2": ["data", {"*": "y"}], "3": ["type", "s"]},
"Attributes": {"1": ["namespace", "s"], "2": ["verb", "s"], "3": ["group", "s"], "4": ["version", "s"],
  "5": ["resource", "s"], "6": ["subresource", "s"], "7": ["name", "s"]},
"ReviewSpec": {"1": ["resourceAttributes", "@Attributes"]},
"SelfSubjectAccessReview": {"1": ["metadata", "@Meta"], "2": ["spec", "@ReviewSpec"]},
"SelfSubjectReview": {"1": ["metadata", "@Meta"]},
"Preconditions": {"1": ["uid", "s"], "2": ["resourceVersion", "s"]},
"DeleteOptions": {"1": ["gracePeriodSeconds", "i"], "2": ["preconditions", "@Preconditions"], "3": ["orphanDependents", "b"],
  "4": ["propagationPolicy", "s"], "5": ["dryRun", ["s"]]},
"Eviction": {"1": ["metadata", "@Meta"], "2": ["deleteOptions", "@DeleteOptions"]}
})json";

const Json& messages() {
  static const auto kParsed = Json::parse(kMessages);
  return kParsed;
}

/// What a field holds on the wire.
struct Field {
  std::uint64_t number = 0;
  std::uint64_t integer = 0;
  std::string_view bytes;
};

std::optional<std::uint64_t> take_integer(std::string_view& text) {
  std::uint64_t out = 0;
  for (unsigned int shift = 0; shift < 64 && !text.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(text.front());
    text.remove_prefix(1);
    out |= static_cast<std::uint64_t>(byte & 127U) << shift;
    if (byte < 128) {
      return out;
    }
  }
  return std::nullopt;
}

std::optional<Field> take_field(std::string_view& text) {
  const auto key = take_integer(text);
  const auto value = key ? take_integer(text) : std::nullopt;  // a number, or the length of what follows
  if (!value) {
    return std::nullopt;
  }
  Field out{*key >> 3U, *value, {}};
  const auto wire_type = *key & 7U;
  if (wire_type == 2 && *value <= text.size()) {
    out.bytes = text.substr(0, *value);
    text.remove_prefix(*value);
    return out;
  }
  return wire_type == 0 ? std::optional(out) : std::nullopt;
}

bool decode_message(std::string_view text, const std::string& name, Json& out);

bool decode_value(const Field& field, const std::string& type, Json& out) {
  if (type.front() == '@') {
    return decode_message(field.bytes, type.substr(1), out);
  }
  if (type == "q") {
    Json quantity;
    const bool good = decode_message(field.bytes, "Quantity", quantity);
    out = quantity.value("string", "0");
    return good;
  }
  if (type == "i") {
    out = static_cast<std::int64_t>(field.integer);
  } else if (type == "b") {
    out = field.integer != 0;
  } else {
    out = type == "y" ? base64_encode(field.bytes) : std::string(field.bytes);
  }
  return true;
}

bool decode_entry(std::string_view text, const std::string& type, Json& map) {
  std::string key;
  Json value;
  while (!text.empty()) {
    const auto field = take_field(text);
    if (!field) {
      return false;
    }
    if (field->number == 1) {
      key = field->bytes;
    } else if (!decode_value(*field, type, value)) {
      return false;
    }
  }
  map[key] = value;
  return true;
}

bool decode_message(std::string_view text, const std::string& name, Json& out) {
  out = Json::object();
  const auto& fields = messages().at(name);
  while (!text.empty()) {
    const auto field = take_field(text);
    if (!field) {
      return false;
    }
    const auto known = fields.find(std::to_string(field->number));
    if (known == fields.end()) {
      continue;
    }
    const auto& type = known->at(1);
    auto& slot = out[known->at(0).get<std::string>()];
    bool good = false;
    if (type.is_object()) {
      good = decode_entry(field->bytes, type.at("*").get<std::string>(), slot);
    } else if (type.is_array()) {
      Json element;
      good = decode_value(*field, type.at(0).get<std::string>(), element);
      slot.push_back(element);
    } else {
      good = decode_value(*field, type.get<std::string>(), slot);
      if (slot == "") {  // Go writes empty strings out
        out.erase(known->at(0).get<std::string>());
      }
    }
    if (!good) {
      return false;
    }
  }
  return true;
}

}  // namespace

nlohmann::json decode_protobuf(std::string_view body) {
  Json envelope;
  Json out(Json::value_t::discarded);
  if (!body.starts_with(kMagic) || !decode_message(body.substr(kMagic.size()), "Unknown", envelope)) {
    return out;
  }
  const auto type = envelope.value("typeMeta", Json::object());
  const auto kind = type.value("kind", "");
  Json decoded;
  if (messages().contains(kind) && decode_message(envelope.value("raw", ""), kind, decoded)) {
    decoded.update(type);
    return decoded;
  }
  return out;
}

}  // namespace cloudsim::kubernetes
