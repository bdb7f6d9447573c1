// SPDX-License-Identifier: Apache-2.0
// Objects in versions, the history of their changes, and old states of lists.
#include "kubernetes/object_store.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/chrono.h>
#include <fmt/format.h>

namespace cloudsim::kubernetes {

namespace {

constexpr std::size_t kMaxHistory = 100'000;

}  // namespace

std::string name_of(const nlohmann::json& object) { return object.at("metadata").value("name", ""); }
std::string namespace_of(const nlohmann::json& object) { return object.at("metadata").value("namespace", ""); }
bool is_terminating(const nlohmann::json& object) { return object.at("metadata").contains("deletionTimestamp"); }

std::string rfc3339(std::chrono::system_clock::time_point time) {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::chrono::system_clock::to_time_t(time)));
}

std::string now_rfc3339() { return rfc3339(std::chrono::system_clock::now()); }

Object ObjectStore::find(const ResourceType& type, const std::string& space, const std::string& name) const {
  const auto& objects = all(type);
  const auto found = objects.find(key(space, name));
  return found == objects.end() ? nullptr : found->second;
}

const ObjectStore::Objects& ObjectStore::all(const ResourceType& type) const {
  static const Objects kNone;
  const auto found = objects_.find(&type);
  return found == objects_.end() ? kNone : found->second;
}

void ObjectStore::changed(const ResourceType& type, Object before, Object after) {
  if (history_.size() == kMaxHistory) {
    compacted_ = history_.front().version;
    history_.pop_front();
  }
  history_.push_back({version_, &type, std::move(before), std::move(after)});
  if (observer_) {
    observer_(Change(history_.back()));
  }
}

Object ObjectStore::create(const ResourceType& type, nlohmann::json object) {
  auto& metadata = object["metadata"];
  metadata["uid"] = new_uid();
  metadata["creationTimestamp"] = now_rfc3339();
  metadata["resourceVersion"] = std::to_string(++version_);
  const auto at = key(namespace_of(object), name_of(object));
  auto made = std::make_shared<const nlohmann::json>(std::move(object));
  objects_[&type][at] = made;
  changed(type, nullptr, made);
  return made;
}

Object ObjectStore::update(const ResourceType& type, nlohmann::json object) {
  auto& slot = objects_[&type].at(key(namespace_of(object), name_of(object)));
  object["metadata"]["resourceVersion"] = slot->at("metadata").at("resourceVersion");
  if (object == *slot) {
    return slot;
  }
  object["metadata"]["resourceVersion"] = std::to_string(++version_);
  auto made = std::make_shared<const nlohmann::json>(std::move(object));
  auto before = std::exchange(slot, made);
  changed(type, std::move(before), made);
  return made;
}

void ObjectStore::remove(const ResourceType& type, const std::string& space, const std::string& name) {
  auto& objects = objects_[&type];
  const auto found = objects.find(key(space, name));
  if (found == objects.end()) {
    return;
  }
  auto before = found->second;
  objects.erase(found);
  ++version_;
  changed(type, std::move(before), nullptr);
}

std::optional<std::vector<Change>> ObjectStore::since(std::uint64_t version) const {
  if (version < compacted_) {
    return std::nullopt;
  }
  const auto first =
      std::upper_bound(history_.begin(), history_.end(), version,
                       [](std::uint64_t wanted, const Change& change) { return wanted < change.version; });
  return std::vector<Change>(first, history_.end());
}

std::optional<ObjectStore::Objects> ObjectStore::at(const ResourceType& type, std::uint64_t version) const {
  auto out = all(type);
  const auto later = since(version);
  if (!later) {
    return std::nullopt;
  }
  for (auto change = later->rbegin(); change != later->rend(); ++change) {
    if (change->type != &type) {
      continue;
    }
    const auto& known = change->before ? *change->before : *change->after;
    const auto at = key(namespace_of(known), name_of(known));
    if (change->before) {
      out[at] = change->before;
    } else {
      out.erase(at);
    }
  }
  return out;
}

void ObjectStore::clear() {
  objects_.clear();
  ++version_;  // versions go on: a client's old ones must not fit by chance
  compact();
}

std::string ObjectStore::new_uid() {
  const auto high = (*random_)();
  const auto low = (*random_)();
  return fmt::format("{:08x}-{:04x}-4{:03x}-a{:03x}-{:012x}", high >> 32U, (high >> 16U) & 0xffffU, high & 0xfffU,
                     low >> 52U, low & 0xffffffffffffU);
}

std::string ObjectStore::new_suffix() {
  static constexpr std::string_view kLetters = "bcdfghjklmnpqrstvwxz2456789";
  std::string out;
  for (int i = 0; i < 5; ++i) {
    out += kLetters[(*random_)() % kLetters.size()];
  }
  return out;
}

}  // namespace cloudsim::kubernetes
