// SPDX-License-Identifier: Apache-2.0
// Lists in pages, each as of one version, and watches of what changes after it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "event_loop.h"
#include "http_message.h"
#include "kubernetes/api_request.h"
#include "kubernetes/kubernetes_knobs.h"
#include "kubernetes/object_store.h"
#include "kubernetes/selectors.h"

namespace cloudsim::kubernetes {

/// A list object, or a page of it. The objects stand apart: to copy a thousand pods costs more than to write them.
struct ObjectList {
  nlohmann::json head;  ///< all but `items`
  std::vector<Object> items;

  nlohmann::json json() const;
  std::string text() const;  ///< the same, as JSON
  /// The same as a PartialObjectMetadataList: each object without spec and status.
  std::string metadata_text() const;
};

/// `largest_page` 0: as the client wishes. Throws StatusError.
ObjectList list_objects(const ObjectStore& store, const ApiRequest& request, std::int64_t largest_page);

class Watches {
 public:
  Watches(EventLoop& loop, const KubernetesKnobs& knobs, const ObjectStore& store)
      : loop_(&loop), knobs_(&knobs), store_(&store) {}

  /// The reply that streams events. Throws StatusError.
  HttpReply open(const ApiRequest& request, bool as_table);
  void changed(const Change& change);
  void close_all();
  std::size_t count() const { return watches_.size(); }

 private:
  struct Watch {
    const ResourceType* type;
    std::string space;
    Selector labels, fields;
    bool as_table, bookmarks;
    std::uint64_t version;  ///< the last one that the client knows of
    ReplyStream stream;
  };
  void opened(std::uint64_t id, const ApiRequest& request, bool as_table, const ReplyStream& stream);
  bool matches(const Watch& watch, const nlohmann::json& object) const;
  void send_change(std::uint64_t id, const Change& change);
  void send(std::uint64_t id, const char* event, const nlohmann::json& object);
  void bookmark(std::uint64_t id);
  void bookmark_again(std::uint64_t id);
  void close(std::uint64_t id);

  EventLoop* loop_;
  const KubernetesKnobs* knobs_;
  const ObjectStore* store_;
  std::uint64_t last_id_ = 0;
  std::map<std::uint64_t, Watch> watches_;
};

}  // namespace cloudsim::kubernetes
