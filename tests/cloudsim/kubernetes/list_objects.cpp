// SPDX-License-Identifier: Apache-2.0
// Lists in pages. A continue token names the version of its first page, as those of a real API server do.
#include <charconv>
#include <optional>

#include <fmt/format.h>

#include "kubernetes/api_status.h"
#include "kubernetes/base64.h"
#include "kubernetes/list_api.h"

namespace cloudsim::kubernetes {

namespace {

constexpr const char* kExpiredToken =
    "The provided continue parameter is too old to display a consistent list result. You can start a new list without "
    "the continue parameter, or use the continue token in this response to retrieve the remainder of the results. "
    "Continuing with the provided token results in an inconsistent list - objects that were created, modified, or "
    "deleted between the time the first chunk was returned and now may show up in the list.";

std::string dump(const nlohmann::json& json) {
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

template <typename Write>
std::string text_of(const nlohmann::json& head, const std::vector<Object>& items, const Write& write) {
  auto out = dump(head);
  out.pop_back();
  out += ",\"items\":[";
  for (const auto& item : items) {
    out += write(*item);
    out += ',';
  }
  if (!items.empty()) {
    out.pop_back();
  }
  return out + "]}";
}

struct Start {
  std::optional<std::uint64_t> version;  ///< nothing: as it is now
  std::string after;
};

std::string make_token(std::int64_t version, const std::string& after) {
  return base64url_encode(
      nlohmann::json{{"v", "meta.k8s.io/v1"}, {"rv", version}, {"start", after + std::string(1, '\0')}}.dump());
}

Start read_token(const std::string& token) {
  const auto text = base64url_decode(token);
  const auto parsed = text ? nlohmann::json::parse(*text, nullptr, false) : nlohmann::json();
  if (!parsed.is_object() || !parsed.contains("rv") || !parsed.contains("start")) {
    throw bad_request("continue key is not valid: invalid continue token");
  }
  auto after = parsed["start"].get<std::string>();
  after.resize(after.empty() ? 0 : after.size() - 1);
  const auto version = parsed["rv"].get<std::int64_t>();
  return {version < 0 ? std::nullopt : std::optional(static_cast<std::uint64_t>(version)), after};
}

std::uint64_t number(const std::string& text, const std::string& key) {
  std::uint64_t out = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), out);
  if (result.ec != std::errc{} || result.ptr != text.data() + text.size()) {
    throw bad_request(
        fmt::format("{0}: Invalid value: \"{1}\": strconv.ParseUint: parsing \"{1}\": invalid syntax", key, text));
  }
  return out;
}

Start start_of(const ObjectStore& store, const ApiRequest& request) {
  const auto token = request.option("continue");
  const auto version = request.option("resourceVersion");
  if (!token.empty()) {
    if (!version.empty() && version != "0") {
      throw bad_request("specifying resource version is not allowed when using continue");
    }
    return read_token(token);
  }
  const auto wanted = version.empty() ? 0 : number(version, "resourceVersion");
  if (wanted > store.version()) {
    throw too_large_version(wanted, store.version());
  }
  const bool exactly = request.option("resourceVersionMatch") == "Exact";
  return {exactly ? std::optional(wanted) : std::nullopt, ""};
}

}  // namespace

nlohmann::json ObjectList::json() const {
  auto out = head;
  auto& all = out["items"] = nlohmann::json::array();
  for (const auto& item : items) {
    all.push_back(*item);
  }
  return out;
}

std::string ObjectList::text() const {
  return text_of(head, items, [](const nlohmann::json& item) { return dump(item); });
}

std::string ObjectList::metadata_text() const {
  auto partial = head;
  partial["kind"] = "PartialObjectMetadataList";
  partial["apiVersion"] = "meta.k8s.io/v1";
  return text_of(partial, items, [](const nlohmann::json& item) {
    return R"({"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":)" + dump(item["metadata"]) +
           "}";
  });
}

ObjectList list_objects(const ObjectStore& store, const ApiRequest& request, std::int64_t largest_page) {
  const auto& type = *request.type;
  const auto labels = Selector::labels(request.option("labelSelector"));
  const auto fields = Selector::fields(type, request.option("fieldSelector"));
  const auto start = start_of(store, request);
  const auto limit_text = request.option("limit");
  auto limit = limit_text.empty() ? std::int64_t{0} : static_cast<std::int64_t>(number(limit_text, "limit"));
  limit = largest_page > 0 && (limit == 0 || limit > largest_page) && limit != 0 ? largest_page : limit;
  const auto version = start.version.value_or(store.version());
  std::optional<ObjectStore::Objects> old;
  if (start.version && *start.version != store.version()) {
    old = store.at(type, *start.version);
    if (!old) {
      if (request.option("continue").empty()) {
        throw expired("The resourceVersion for the provided list is too old.");
      }
      auto error = expired(kExpiredToken);
      error.metadata["continue"] = make_token(-1, start.after);
      throw error;
    }
  }
  const auto& objects = old ? *old : store.all(type);
  ObjectList out;
  out.head = {{"kind", type.kind + "List"},
              {"apiVersion", type.api_version()},
              {"metadata", {{"resourceVersion", std::to_string(version)}}}};
  std::string last;
  std::size_t left = 0;
  for (auto at = objects.upper_bound(start.after); at != objects.end(); ++at) {
    const auto& object = *at->second;
    if ((!request.space.empty() && type.namespaced && namespace_of(object) != request.space) ||
        !labels.matches(object) || !fields.matches(object)) {
      continue;
    }
    if (limit > 0 && static_cast<std::int64_t>(out.items.size()) == limit) {
      ++left;
      continue;
    }
    out.items.push_back(at->second);
    last = at->first;
  }
  if (left > 0) {
    out.head["metadata"]["continue"] = make_token(static_cast<std::int64_t>(version), last);
    if (labels.empty() && fields.empty()) {
      out.head["metadata"]["remainingItemCount"] = left;
    }
  }
  return out;
}

}  // namespace cloudsim::kubernetes
