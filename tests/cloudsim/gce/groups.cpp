// SPDX-License-Identifier: Apache-2.0
// Managed instance groups and their resize requests: what happens to them in the course of time.
#include "gce/groups.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "gce/names.h"

namespace cloudsim::gce {

namespace {

using Json = nlohmann::json;

const Failure kNoPermission{
    "PERMISSIONS_ERROR",
    "Required 'compute.instances.create' permission for the Google APIs Service Agent of the project."};

void set_metadata(Json& properties, const std::string& key, const std::string& value) {
  auto& items = properties["metadata"]["items"];
  for (auto& item : items) {
    if (item.value("key", "") == key) {
      item["value"] = value;
      return;
    }
  }
  items.push_back({{"key", key}, {"value", value}});
}

}  // namespace

std::string_view name_of(RequestState state) {
  switch (state) {
    case RequestState::creating:
      return "CREATING";
    case RequestState::accepted:
      return "ACCEPTED";
    case RequestState::succeeded:
      return "SUCCEEDED";
    case RequestState::failed:
      return "FAILED";
    default:
      return "CANCELLED";
  }
}

bool Group::has_active_request() const {
  return std::any_of(requests.begin(), requests.end(), [](const auto& entry) { return entry.second.is_active(); });
}

Groups::Groups(Cloud& cloud, Operations& operations) : cloud_(&cloud), operations_(&operations) {
  cloud_->on_loss([this](Instance& instance) {
    if (auto* const group = find(instance.group)) {
      const auto managed = group->managed.find(instance.place.name);
      if (managed != group->managed.end()) {
        managed->second.deleting = true;
        forget_when_gone(*group, instance);
      }
    }
  });
}

Group* Groups::find(const std::string& resource) const {
  const auto found = groups_.find(resource);
  return found == groups_.end() ? nullptr : found->second.get();
}

void Groups::insert(Group made) {
  auto resource = made.resource();
  groups_[std::move(resource)] = std::make_unique<Group>(std::move(made));
}

const Instance* Groups::instance_of(const Group& group, const ManagedInstance& managed) const {
  const auto* const found = managed.zone.empty() ? nullptr : cloud_->find({group.project, managed.zone, managed.name});
  return found == nullptr || found->group != group.resource() ? nullptr : found;
}

std::string Groups::action_of(const Group& group, const ManagedInstance& managed) const {
  if (managed.deleting) {
    return "DELETING";
  }
  const auto* const instance = instance_of(group, managed);
  const bool comes = managed.zone.empty() || (instance != nullptr && instance->state < InstanceState::running);
  return comes ? "CREATING" : "NONE";
}

void Groups::forget_when_gone(const Group& group, Instance& instance) {
  cloud_->remove(instance, [this, resource = group.resource(), name = instance.place.name] {
    if (auto* const home = find(resource)) {
      home->managed.erase(name);
      go_on_removing(*home);
    }
  });
}

void Groups::erase_instances(Group& group, const std::vector<std::string>& names) {
  for (const auto& name : names) {
    auto& managed = group.managed.at(name);
    auto* const instance = cloud_->find({group.project, managed.zone, name});
    if (std::exchange(managed.deleting, true)) {
      continue;
    }
    if (instance != nullptr && instance->group == group.resource()) {
      forget_when_gone(group, *instance);
    } else {
      group.managed.erase(name);
    }
  }
}

void Groups::remove(Group& group, const std::string& operation) {
  group.deleting = true;
  group.deletions.push_back(operation);
  cloud_->later(cloud_->knobs().operation, [this, resource = group.resource()] {
    if (auto* const found = find(resource)) {
      go_on_removing(*found);
    }
  });
}

void Groups::go_on_removing(Group& group) {
  if (!group.deleting || group.has_active_request()) {
    return;
  }
  if (!std::exchange(group.emptied, true)) {
    std::vector<std::string> names;
    for (const auto& [name, managed] : group.managed) {
      names.push_back(name);
    }
    erase_instances(group, names);
  }
  if (!group.managed.empty()) {
    return;
  }
  const auto deletions = std::move(group.deletions);
  groups_.erase(group.resource());
  for (const auto& operation : deletions) {
    operations_->finish(operation);
  }
}

void Groups::add_request(Group& group, ResizeRequest request, Millis delay) {
  const auto name = request.name;
  group.requests[name] = std::move(request);
  cloud_->later(delay, [this, resource = group.resource(), name] {
    auto* const home = find(resource);
    if (home != nullptr && home->requests.count(name) != 0) {
      accept(*home, home->requests.at(name));
    }
  });
}

void Groups::accept(Group& group, ResizeRequest& request) {
  if (request.state != RequestState::creating) {
    return;
  }
  request.state = RequestState::accepted;
  for (std::int64_t i = 0; i < request.resize_by; ++i) {
    request.instances.push_back(
        {fmt::format("{}-{:06x}", group.body.value("baseInstanceName", group.name), cloud_->random()() & 0xffffffU),
         {}});
  }
  for (const auto& wanted : request.instances) {
    group.managed[wanted.name] = {wanted.name, "", request.name, cloud_->new_id(), false, {}};
  }
  if (!cloud_->knobs().service_agent_permission) {
    set_last_attempt(group, request, kNoPermission);
  }
  if (cloud_->knobs().accepted) {
    attempt_later(group, request, *cloud_->knobs().accepted);
  }
}

void Groups::attempt_later(const Group& group, const ResizeRequest& request, Millis delay) {
  cloud_->later(delay, [this, resource = group.resource(), name = request.name, id = request.id] {
    auto* const home = find(resource);
    const auto found = home == nullptr ? std::map<std::string, ResizeRequest>::iterator{} : home->requests.find(name);
    if (home != nullptr && found != home->requests.end() && found->second.id == id) {
      attempt(*home, found->second);
    }
  });
}

void Groups::set_last_attempt(Group& group, ResizeRequest& request, const Failure& failure) {
  request.last_attempt = {failure};
  for (const auto& wanted : request.instances) {
    const auto managed = group.managed.find(wanted.name);
    if (managed != group.managed.end()) {
      managed->second.last_attempt = {failure};
    }
  }
}

LaunchSpec Groups::launch_spec(const Group& group, const ResizeRequest& request, const WantedInstance& wanted,
                               const std::string& zone) const {
  LaunchSpec spec;
  spec.place = {group.project, zone, wanted.name};
  spec.group = group.resource();
  spec.properties = group.properties;
  if (request.run_seconds) {
    spec.properties["scheduling"]["maxRunDuration"] = {{"seconds", std::to_string(*request.run_seconds)}};
    spec.properties["scheduling"]["instanceTerminationAction"] = "DELETE";
  }
  for (const auto& [key, value] : wanted.metadata) {
    set_metadata(spec.properties, key, value);
  }
  set_metadata(spec.properties, "created-by",
               fmt::format("projects/{}/regions/{}/instanceGroupManagers/{}", cloud_->knobs().project_number,
                           group.region, group.name));
  return spec;
}

void Groups::attempt(Group& group, ResizeRequest& request) {
  if (request.state != RequestState::accepted) {
    return;
  }
  if (!cloud_->knobs().service_agent_permission) {
    fail(group, request, kNoPermission);
    return;
  }
  std::optional<Failure> shortage;
  const auto roomy = std::find_if(group.zones.begin(), group.zones.end(), [&](const auto& zone) {
    const auto count = static_cast<std::int64_t>(request.instances.size());
    shortage = cloud_->shortage(group.properties, {group.project, zone, ""}, count);
    return !shortage;
  });
  if (roomy == group.zones.end()) {
    set_last_attempt(group, request, *shortage);
    attempt_later(group, request, cloud_->knobs().retry);
    return;
  }
  for (std::size_t made = 0; made < request.instances.size(); ++made) {
    const auto& wanted = request.instances[made];
    if (const auto refusal = cloud_->launch(launch_spec(group, request, wanted, *roomy))) {
      fail(group, request, *refusal);  // a name is taken
      return;
    }
    group.managed[wanted.name].zone = *roomy;
    group.managed[wanted.name].last_attempt.clear();
    group.managed[wanted.name].id = cloud_->find({group.project, *roomy, wanted.name})->id;
  }
  request.state = RequestState::succeeded;
  request.last_attempt.clear();
  ended(group);
}

void Groups::succeed(Group& group, ResizeRequest& request) {
  accept(group, request);
  attempt(group, request);
}

void Groups::drop_queued(Group& group, const ResizeRequest& request) {
  std::vector<std::string> names;
  for (const auto& [name, managed] : group.managed) {
    if (managed.request == request.name) {
      names.push_back(name);
    }
  }
  erase_instances(group, names);
}

void Groups::fail(Group& group, ResizeRequest& request, const Failure& failure, std::size_t created) {
  for (std::size_t i = 0; i < std::min(created, request.instances.size()); ++i) {
    const auto& wanted = request.instances[i];
    if (!cloud_->launch(launch_spec(group, request, wanted, group.zones.front()))) {
      group.managed[wanted.name].zone = group.zones.front();
    }
  }
  request.state = RequestState::failed;
  request.errors = {failure};
  request.last_attempt.clear();
  drop_queued(group, request);
  ended(group);
}

void Groups::cancel(Group& group, ResizeRequest& request) {
  request.state = RequestState::cancelled;
  request.last_attempt.clear();
  drop_queued(group, request);
  ended(group);
}

// May end the group: nobody touches it afterwards.
void Groups::ended(Group& group) { go_on_removing(group); }

}  // namespace cloudsim::gce
