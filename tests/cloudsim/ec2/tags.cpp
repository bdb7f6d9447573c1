// SPDX-License-Identifier: Apache-2.0
// CreateTags and DescribeTags.
#include <algorithm>

#include <fmt/format.h>

#include "ec2/actions.h"

namespace cloudsim::ec2 {

namespace {

constexpr std::size_t kMaxResources = 1000;
constexpr std::size_t kMaxTags = 50;

struct TagLine {
  const std::string* resource;
  std::string_view type;
  const std::string* key;
  const std::string* value;
};

Tags* tags_of(const Call& call, const std::string& id) {
  if (id.starts_with("lt-")) {
    const auto found = std::find_if(call.region.templates.begin(), call.region.templates.end(),
                                    [&](const auto& known) { return known.id == id; });
    return found == call.region.templates.end() ? nullptr : &found->tags;
  }
  const auto found = std::find_if(call.region.subnets.begin(), call.region.subnets.end(),
                                  [&](const auto& known) { return known.id == id; });
  return found == call.region.subnets.end() ? nullptr : &found->tags;
}

bool passes(const Filter& filter, const TagLine& line) {
  if (filter.name.starts_with("tag:")) {
    return filter.name.substr(4) == *line.key && filter.accepts(*line.value);
  }
  if (filter.name == "resource-id") {
    return filter.accepts(*line.resource);
  }
  if (filter.name == "resource-type") {
    return filter.accepts(std::string(line.type));
  }
  return filter.accepts(filter.name == "key" || filter.name == "tag-key" ? *line.key : *line.value);
}

template <typename Visit>
void for_each_tag(const Call& call, Visit visit) {
  for (const auto& [sequence, instance] : call.region.instances) {
    for (const auto& [key, value] : instance->tags) {
      if (call.cloud.is_visible(*instance) && instance->state != InstanceState::terminated) {
        visit(TagLine{&instance->id, "instance", &key, &value});
      }
    }
  }
  for (const auto& known : call.region.templates) {
    for (const auto& [key, value] : known.tags) {
      visit(TagLine{&known.id, "launch-template", &key, &value});
    }
  }
  for (const auto& subnet : call.region.subnets) {
    for (const auto& [key, value] : subnet.tags) {
      visit(TagLine{&subnet.id, "subnet", &key, &value});
    }
  }
}

}  // namespace

std::string create_tags(const Call& call) {
  const auto ids = call.parameters.list("ResourceId");
  const auto tags = parse_tags(call.parameters);
  if (ids.empty() || tags.empty()) {
    throw ApiError("MissingParameter",
                   fmt::format("The request must contain the parameter {}", ids.empty() ? "resourceIdSet" : "tagSet"));
  }
  if (ids.size() > kMaxResources) {
    throw ApiError("InvalidParameterValue", fmt::format("At most {} resources can be given", kMaxResources));
  }
  std::vector<std::string> instance_ids;
  std::vector<Tags*> targets;
  for (const auto& id : ids) {
    if (id.starts_with("i-")) {
      instance_ids.push_back(id);
    } else if (auto* found = tags_of(call, id)) {
      targets.push_back(found);
    } else {
      throw ApiError("InvalidID", fmt::format("The ID '{}' is not valid", id));
    }
  }
  for (auto* instance : named_instances(call, instance_ids)) {
    if (instance->metadata_tags) {
      check_metadata_tag_keys(tags);
    }
    targets.push_back(&instance->tags);
  }
  for (const auto* target : targets) {
    const auto added =
        std::count_if(tags.begin(), tags.end(), [&](const auto& tag) { return target->count(tag.first) == 0; });
    if (target->size() + static_cast<std::size_t>(added) > kMaxTags) {
      throw ApiError("TagLimitExceeded", "The maximum number of tags for a resource is 50");
    }
  }
  for (auto* target : targets) {
    for (const auto& [key, value] : tags) {
      (*target)[key] = value;
    }
  }
  return "<return>true</return>";
}

std::string describe_tags(const Call& call) {
  const auto filters = parse_filters(call.parameters, {"resource-id", "resource-type", "key", "value"});
  const auto page = parse_page(call.parameters, "");
  std::uint64_t position = 0;
  std::size_t written = 0;
  bool more = false;
  XmlWriter xml;
  xml.element("tagSet", [&] {
    for_each_tag(call, [&](const TagLine& line) {
      if (more || ++position <= page.after ||
          !std::all_of(filters.begin(), filters.end(), [&](const auto& filter) { return passes(filter, line); })) {
        return;
      }
      if (page.limit != 0 && written == page.limit) {
        more = true;
        --position;
        return;
      }
      ++written;
      xml.element("item", [&] {
        xml.text("resourceId", *line.resource);
        xml.text("resourceType", line.type);
        xml.text("key", *line.key);
        xml.text("value", *line.value);
      });
    });
  });
  if (more) {
    xml.text("nextToken", page_token(position));
  }
  return xml.take();
}

}  // namespace cloudsim::ec2
