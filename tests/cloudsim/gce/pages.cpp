// SPDX-License-Identifier: Apache-2.0
// Lists in pages.
#include "gce/pages.h"

#include <algorithm>
#include <functional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "gce/failure.h"
#include "gce/names.h"

namespace cloudsim::gce {

namespace {

constexpr std::int64_t kMostPerPage = 500;
constexpr std::string_view kTokenHead = "cs-";

std::string parameter(const ApiCall& call, const std::string& name) {
  const auto found = call.parameters.find(name);
  return found == call.parameters.end() ? "" : found->second;
}

std::string sum_of(const std::string& text) { return fmt::format("{:016x}", std::hash<std::string>()(text)); }

// A token is good for the same question only, as Google has it.
std::string token_for(const std::string& key, const std::string& question) {
  std::string out = std::string(kTokenHead) + sum_of(question) + "-";
  for (const char c : key) {
    out += fmt::format("{:02x}", static_cast<unsigned char>(c));
  }
  return out;
}

std::string key_in(const std::string& token, const std::string& question) {
  const auto head = std::string(kTokenHead) + sum_of(question) + "-";
  std::string key;
  if (token.starts_with(head) && (token.size() - head.size()) % 2 == 0) {
    for (std::size_t i = head.size(); i < token.size(); i += 2) {
      key += static_cast<char>(std::strtol(token.substr(i, 2).c_str(), nullptr, 16));
    }
  }
  if (key.empty() || token_for(key, question) != token) {
    throw invalid_field("pageToken", token, "The page token is not valid.");
  }
  return key;
}

std::size_t page_size(const ApiCall& call) {
  const auto text = parameter(call, "maxResults");
  const auto size = text.empty() ? 0 : std::stoll(text);
  if (size < 0 || size > kMostPerPage) {
    throw invalid_field("maxResults", text, "Acceptable values are 0 to 500, inclusive.");
  }
  return static_cast<std::size_t>(size == 0 ? kMostPerPage : size);
}

void sort_items(std::vector<Listed>& all, const std::string& order) {
  if (order == "creationTimestamp desc") {
    // The instant goes before the name, inverted, and so into the page token.
    for (auto& item : all) {
      const auto created = parse_timestamp(item.render().value("creationTimestamp", ""));
      const auto ticks = created ? created->time_since_epoch().count() : 0;
      item.key = fmt::format("{:020}", std::int64_t{9'000'000'000'000'000'000} - ticks) + item.key;
    }
  } else if (!order.empty() && order != "name") {
    throw invalid_field("orderBy", order, "Currently, only sorting by name or creationTimestamp desc is supported.");
  }
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.key < b.key; });
}

}  // namespace

Page page_of(const ApiCall& call, const std::string& message, std::vector<Listed> all) {
  const auto filter = parse_filter(parameter(call, "filter"), message);
  const auto size = page_size(call);
  const auto order = parameter(call, "orderBy");
  const auto question = call.method + "\n" + parameter(call, "filter") + "\n" + order;
  const auto token = parameter(call, "pageToken");
  const auto after = token.empty() ? "" : key_in(token, question);
  sort_items(all, order);
  Page page;
  std::string last;
  for (const auto& item : all) {
    if (!after.empty() && item.key <= after) {
      continue;
    }
    auto rendered = item.render();
    if (!filter(rendered)) {
      continue;
    }
    if (page.items.size() == size) {
      page.next_token = token_for(last, question);
      break;
    }
    page.items.push_back(std::move(rendered));
    last = item.key;
  }
  return page;
}

nlohmann::json list_reply(const std::string& kind, const std::string& resource, Page page,
                          const std::string& items_name) {
  nlohmann::json out = {{"kind", kind}, {"id", resource}, {"selfLink", link_to(resource)}};
  if (!page.items.empty()) {
    out[items_name] = std::move(page.items);
  }
  if (!page.next_token.empty()) {
    out["nextPageToken"] = page.next_token;
  }
  return out;
}

}  // namespace cloudsim::gce
