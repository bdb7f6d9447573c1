// SPDX-License-Identifier: Apache-2.0
// Lists in pages: filter, maxResults, pageToken and orderBy of any list call.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "gce/filter.h"
#include "gce/schema.h"

namespace cloudsim::gce {

struct Page {
  std::vector<nlohmann::json> items;
  std::string next_token;  ///< empty: the last page
};

/// One resource that a list may show. `key` orders the list (Google's order is by name) and is what a page token
/// remembers, so that what comes and goes between two pages moves nothing.
struct Listed {
  std::string key;
  std::function<nlohmann::json()> render;
};

/// The page that the call's parameters ask for. `message`: the type of an item in compute-v1.json.
Page page_of(const ApiCall& call, const std::string& message, std::vector<Listed> all);

/// A list's reply: kind, id, selfLink, items (or `items_name`, left out when there are none) and nextPageToken.
nlohmann::json list_reply(const std::string& kind, const std::string& resource, Page page,
                          const std::string& items_name = "items");

}  // namespace cloudsim::gce
