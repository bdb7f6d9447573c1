// SPDX-License-Identifier: Apache-2.0
// Long-running operations.
#include "gce/operations.h"

#include <utility>

#include <fmt/format.h>

#include "gce/names.h"

namespace cloudsim::gce {

namespace {

using Json = nlohmann::json;

std::string_view name_of(OperationState state) {
  switch (state) {
    case OperationState::pending:
      return "PENDING";
    case OperationState::running:
      return "RUNNING";
    default:
      return "DONE";
  }
}

}  // namespace

std::string Operations::key_of(const Operation& operation) {
  return operation.project + "/" + operation.location + "/" + operation.name;
}

Operation& Operations::begin(const OperationSpec& spec) {
  auto made = std::make_unique<Operation>();
  auto& operation = *made;
  const auto now = std::chrono::system_clock::now();
  const auto millis = std::chrono::duration_cast<Millis>(now.time_since_epoch()).count();
  operation.id = cloud_->new_id();
  operation.name = fmt::format("operation-{}-{:013x}-{:08x}-{:08x}", millis, operation.id & 0xfffffffffffffU,
                               cloud_->random()() & 0xffffffffU, cloud_->random()() & 0xffffffffU);
  operation.project = spec.project;
  operation.location = spec.location;
  operation.type = spec.type;
  operation.target = spec.target;
  operation.target_id = spec.target_id == 0 ? cloud_->new_id() : spec.target_id;
  operation.group_id = spec.group_id;
  operation.user = cloud_->knobs().user;
  operation.inserted = now;
  auto key = key_of(operation);
  operations_[key] = std::move(made);
  cloud_->later(cloud_->knobs().operation / 2, [this, key = std::move(key)] {
    auto* const running = find(key);
    if (running != nullptr && running->state == OperationState::pending) {
      running->state = OperationState::running;
      running->started = std::chrono::system_clock::now();
    }
  });
  return operation;
}

Operation& Operations::begin_timed(const OperationSpec& spec, std::vector<Failure> errors) {
  auto& operation = begin(spec);
  cloud_->later(cloud_->knobs().operation,
                [this, key = key_of(operation), errors = std::move(errors)] { finish(key, errors); });
  return operation;
}

void Operations::finish(const std::string& key, std::vector<Failure> errors) {
  auto* const operation = find(key);
  if (operation == nullptr || operation->state == OperationState::done) {
    return;
  }
  const auto now = std::chrono::system_clock::now();
  if (operation->state == OperationState::pending) {
    operation->started = now;
  }
  operation->state = OperationState::done;
  operation->ended = now;
  operation->errors = std::move(errors);
  for (const auto& step : std::exchange(operation->when_done, {})) {
    step();
  }
}

void Operations::wait(Operation& operation, Millis patience, const std::function<void()>& step) {
  if (operation.state == OperationState::done) {
    step();
    return;
  }
  const auto once = [waiting = std::make_shared<bool>(true), step] {
    if (std::exchange(*waiting, false)) {
      step();
    }
  };
  operation.when_done.emplace_back(once);
  cloud_->later(patience, once);
}

void Operations::reset() {
  const auto forgotten = std::exchange(operations_, {});
  for (const auto& [key, operation] : forgotten) {
    for (const auto& step : operation->when_done) {
      step();
    }
  }
}

Operation* Operations::find(const std::string& key) const {
  const auto found = operations_.find(key);
  return found == operations_.end() ? nullptr : found->second.get();
}

Operation* Operations::find(const std::string& project, const std::string& location, const std::string& name) const {
  return find(project + "/" + location + "/" + name);
}

Json to_json(const Operation& operation) {
  const auto home = "projects/" + operation.project + "/" + operation.location;
  Json out{{"kind", "compute#operation"},
           {"id", std::to_string(operation.id)},
           {"name", operation.name},
           {"operationType", operation.type},
           {"targetId", std::to_string(operation.target_id)},
           {"targetLink", link_to(operation.target)},
           {"status", name_of(operation.state)},
           {"user", operation.user},
           {"progress", operation.state == OperationState::done ? 100 : 0},
           {"insertTime", timestamp(operation.inserted)},
           {"selfLink", link_to(home + "/operations/" + operation.name)}};
  if (operation.state != OperationState::pending) {
    out["startTime"] = timestamp(operation.started);
  }
  if (operation.state == OperationState::done) {
    out["endTime"] = timestamp(operation.ended);
  }
  if (operation.location.starts_with("zones/")) {
    out["zone"] = link_to(home);
  } else if (operation.location.starts_with("regions/")) {
    out["region"] = link_to(home);
  }
  if (!operation.group_id.empty()) {
    out["operationGroupId"] = operation.group_id;
  }
  if (!operation.bulk_insert.is_null()) {
    out["instancesBulkInsertOperationMetadata"] = operation.bulk_insert;
  }
  if (!operation.errors.empty()) {
    const int status = http_status_of(operation.errors.front().code);
    out["error"] = to_json(operation.errors);
    out["httpErrorStatusCode"] = status;
    out["httpErrorMessage"] = reason_phrase(status);
  }
  return out;
}

}  // namespace cloudsim::gce
