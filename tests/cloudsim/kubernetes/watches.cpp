// SPDX-License-Identifier: Apache-2.0
// Watches: events of a list from a version on, as lines of JSON.
#include <charconv>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "kubernetes/api_status.h"
#include "kubernetes/list_api.h"
#include "kubernetes/table.h"

namespace cloudsim::kubernetes {

HttpReply Watches::open(const ApiRequest& request, bool as_table) {
  Selector::labels(request.option("labelSelector"));  // a bad one is refused before the stream begins
  Selector::fields(*request.type, request.option("fieldSelector"));
  HttpReply reply;
  reply.content_type = "application/json";
  const auto id = ++last_id_;
  reply.stream = [this, id, request, as_table](const ReplyStream& stream) { opened(id, request, as_table, stream); };
  return reply;
}

void Watches::opened(std::uint64_t id, const ApiRequest& request, bool as_table, const ReplyStream& stream) {
  const auto space = request.type->namespaced ? request.space : "";
  auto fields = request.option("fieldSelector");
  if (!request.name.empty()) {
    fields = "metadata.name=" + request.name;
  }
  watches_.emplace(id, Watch{request.type, space, Selector::labels(request.option("labelSelector")),
                             Selector::fields(*request.type, fields), as_table, request.flag("allowWatchBookmarks"),
                             store_->version(), stream});
  const auto text = request.option("resourceVersion");
  std::uint64_t version = 0;
  std::from_chars(text.data(), text.data() + text.size(), version);
  if (version == 0) {
    const auto objects = store_->all(*request.type);
    for (const auto& [key, object] : objects) {
      send_change(id, {store_->version(), request.type, nullptr, object});
    }
  } else if (const auto missed = store_->since(version)) {
    for (const auto& change : *missed) {
      send_change(id, change);
    }
  } else {
    const auto error = expired(fmt::format("too old resource version: {} ({})", version, store_->oldest()));
    if (watches_.count(id) != 0) {
      send(id, "ERROR", error.json());
    }
    close(id);
    return;
  }
  const auto seconds = request.option("timeoutSeconds");
  std::int64_t timeout = 0;
  std::from_chars(seconds.data(), seconds.data() + seconds.size(), timeout);
  if (timeout > 0) {
    loop_->after(std::chrono::seconds(timeout), [this, id] {
      bookmark(id);
      close(id);
    });
  }
  loop_->after(knobs_->bookmark, [this, id] { bookmark_again(id); });
}

bool Watches::matches(const Watch& watch, const nlohmann::json& object) const {
  return (watch.space.empty() || namespace_of(object) == watch.space) && watch.labels.matches(object) &&
         watch.fields.matches(object);
}

void Watches::changed(const Change& change) {
  std::vector<std::uint64_t> ids;
  for (const auto& [id, watch] : watches_) {
    ids.push_back(id);  // one that can't be written to is erased on the way
  }
  for (const auto id : ids) {
    send_change(id, change);
  }
}

void Watches::send_change(std::uint64_t id, const Change& change) {
  const auto found = watches_.find(id);
  if (found == watches_.end()) {
    return;
  }
  auto& watch = found->second;
  watch.version = change.version;
  if (change.type != watch.type) {
    return;
  }
  const bool before = change.before && matches(watch, *change.before);
  const bool after = change.after && matches(watch, *change.after);
  if (after) {
    send(id, before ? "MODIFIED" : "ADDED", *change.after);
  } else if (before) {
    auto last = change.after ? *change.after : *change.before;
    last["metadata"]["resourceVersion"] = std::to_string(change.version);
    send(id, "DELETED", last);
  }
}

void Watches::send(std::uint64_t id, const char* event, const nlohmann::json& object) {
  auto& watch = watches_.at(id);
  const bool plain = !watch.as_table || event == std::string_view("ERROR") || event == std::string_view("BOOKMARK");
  const nlohmann::json line{{"type", event}, {"object", plain ? object : to_table(*watch.type, object)}};
  if (!watch.stream.write(line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n")) {
    watches_.erase(id);
  }
}

void Watches::bookmark(std::uint64_t id) {
  const auto found = watches_.find(id);
  if (found == watches_.end() || !found->second.bookmarks) {
    return;
  }
  const auto& watch = found->second;
  send(id, "BOOKMARK",
       {{"kind", watch.type->kind},
        {"apiVersion", watch.type->api_version()},
        {"metadata", {{"resourceVersion", std::to_string(store_->version())}, {"creationTimestamp", nullptr}}}});
}

void Watches::bookmark_again(std::uint64_t id) {
  if (watches_.count(id) != 0) {
    bookmark(id);
    loop_->after(knobs_->bookmark, [this, id] { bookmark_again(id); });
  }
}

void Watches::close(std::uint64_t id) {
  if (auto node = watches_.extract(id)) {
    node.mapped().stream.end();
  }
}

void Watches::close_all() {
  while (!watches_.empty()) {
    close(watches_.begin()->first);
  }
}

}  // namespace cloudsim::kubernetes
