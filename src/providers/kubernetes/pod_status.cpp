// SPDX-License-Identifier: Apache-2.0
// A pod as the API server shows it, and which machine that makes.
#include "providers/kubernetes/pod_status.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "burst/error.h"
#include "burst/text.h"
#include "providers/json_fields.h"
#include "providers/kubernetes/pod_failure.h"

namespace burst::kubernetes {
namespace {

using nlohmann::json;
using reply::list;
using reply::member;
using reply::number;
using reply::text;
using reply::throw_invalid;
using reply::time_of;
using std::chrono::seconds;
using std::chrono::sys_seconds;

constexpr std::size_t kMessageLimit = 500;
/// A pod that got its machine later than this had to wait for one.
constexpr seconds kAtOnce{30};

std::string line(const json& object, const char* key) { return one_line(text(object, key), kMessageLimit); }

/// A reason, fit to be the code of a node's reason; anything else is dropped.
std::string word(const json& object, const char* key) {
  std::string value = text(object, key);
  const bool good = value.size() <= 64 && std::ranges::all_of(value, [](char c) {
                      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
                             c == '-' || c == '_' || c == '/';
                    });
  return good ? value : std::string();
}

/// An IPv4 or IPv6 address; anything else is dropped.
std::string address_in(const json& status) {
  std::string value = text(status, "podIP");
  return value.size() <= 45 && value.find_first_not_of("0123456789abcdefABCDEF.:") == std::string::npos ? value
                                                                                                        : std::string();
}

std::string label(const json& labels, std::string_view key) { return text(labels, std::string(key).c_str()); }

std::optional<JobId> job_of(const std::string& value) {
  JobId job = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), job);
  if (value.empty() || error != std::errc() || end != value.data() + value.size()) return std::nullopt;
  return job;
}

bool is_ours(const json& labels, const GroupIdentity& identity) {
  return label(labels, kManagedBy) == kManager && label(labels, kClusterLabel) == label_value(identity.cluster) &&
         label(labels, kPartitionLabel) == label_value(identity.partition) &&
         label(labels, kGroupLabel) == label_value(identity.group);
}

/// `OOMKilled, exit code 137`, `exit code 1: error: ...`; empty when there was no end.
std::string end_of(const json& terminated) {
  if (!terminated.is_object()) return {};
  std::string end = fmt::format("exit code {}", number(terminated, "exitCode").value_or(0));
  const std::string reason = word(terminated, "reason");
  if (!reason.empty() && reason != "Error" && reason != "Completed") end = reason + ", " + end;
  const std::string message = line(terminated, "message");
  return message.empty() ? end : end + ": " + message;
}

/// How much a container's state has to say.
enum class Weight { none, has_ended, has_failed, waits };

Weight weigh(const json& status, ContainerTrouble& trouble) {
  const json& state = member(status, "state");
  const json& waiting = member(state, "waiting");
  const json& terminated = member(state, "terminated").is_object() ? member(state, "terminated")
                                                                   : member(member(status, "lastState"), "terminated");
  trouble.container = line(status, "name");
  trouble.last_end = end_of(terminated);
  trouble.restarts = static_cast<int>(
      std::clamp<std::int64_t>(number(status, "restartCount").value_or(0), 0, std::numeric_limits<int>::max()));
  const std::string reason = word(waiting, "reason");
  if (!reason.empty() && reason != "ContainerCreating" && reason != "PodInitializing") {
    trouble.reason = reason;
    trouble.message = line(waiting, "message");
    return Weight::waits;
  }
  if (!terminated.is_object()) return Weight::none;
  return number(terminated, "exitCode").value_or(0) != 0 ? Weight::has_failed : Weight::has_ended;
}

void read_containers(Pod& pod, const json& spec, const json& status) {
  Weight most = Weight::none;
  for (const char* key : {"initContainerStatuses", "containerStatuses"}) {
    for (const auto& container : list(status, key)) {
      ContainerTrouble trouble;
      const Weight weight = weigh(container, trouble);
      if (weight <= most) continue;
      most = weight;
      pod.trouble = std::move(trouble);
    }
  }
  std::string main;
  for (const auto& container : list(spec, "containers"))
    if (const std::string name = text(container, "name"); main.empty() || name == "slurmd") main = name;
  for (const auto& container : list(status, "containerStatuses"))
    if (text(container, "name") == main && member(member(container, "state"), "running").is_object())
      pod.slurmd_runs = true;
}

void read_conditions(Pod& pod, const json& status) {
  for (const auto& condition : list(status, "conditions")) {
    const std::string type = text(condition, "type");
    const bool holds = text(condition, "status") == "True";
    if (type == "PodScheduled" && holds) {
      pod.scheduled = time_of(condition, "lastTransitionTime").value_or(pod.created);
    } else if (type == "PodScheduled") {
      pod.unschedulable = line(condition, "message");
      if (pod.unschedulable.empty()) pod.unschedulable = word(condition, "reason");
    } else if (type == "DisruptionTarget" && holds && pod.reason.empty()) {
      pod.reason = word(condition, "reason");
      pod.message = line(condition, "message");
    }
  }
}

Pod identified_pod(const json& object, const GroupIdentity& identity, const char* what) {
  Pod pod = parse_pod(object, identity);
  if (pod.name.empty()) throw_invalid(what, "a pod without a name");
  if (pod.uid.empty()) throw_invalid(what, "a pod without a UID");
  return pod;
}

using Keys = std::initializer_list<std::string_view>;

bool is_one_of(std::string_view key, Keys keys) { return std::ranges::find(keys, key) != keys.end(); }

/// Reads a list as it is parsed: each pod when it is whole, whose document goes then; of the documents only what is
/// read. A page of 500 pods is megabytes of text, and several times that as a document.
class PodListReader {
 public:
  PodListReader(const GroupIdentity& identity, PodList& into) : identity_(identity), into_(into) {}

  bool operator()(int depth, json::parse_event_t event, json& parsed) {
    if (event == json::parse_event_t::key) {
      keys_.resize(static_cast<std::size_t>(depth) + 1);
      keys_.back() = parsed.get<std::string>();
      return is_read();
    }
    if (event != json::parse_event_t::object_end || depth != 2 || !is_in_items()) return true;
    into_.pods.push_back(identified_pod(parsed, identity_, "a list of pods"));
    return false;
  }

 private:
  const GroupIdentity& identity_;
  PodList& into_;
  std::vector<std::string> keys_;  ///< by depth; none at an array's

  std::string_view key(std::size_t depth) const { return depth < keys_.size() ? keys_[depth] : std::string_view(); }
  bool is_in_items() const { return key(1) == "items" && key(2).empty(); }

  bool is_read() const {
    if (!is_in_items()) return true;
    switch (keys_.size() - 1) {
      case 3:
        return is_one_of(key(3), {"metadata", "spec", "status"});
      case 4:
        if (key(3) == "metadata")
          return is_one_of(key(4), {"name", "uid", "labels", "annotations", "creationTimestamp", "deletionTimestamp"});
        if (key(3) == "spec") return is_one_of(key(4), {"nodeName", "activeDeadlineSeconds", "containers"});
        return is_one_of(key(4), {"phase", "reason", "message", "podIP", "startTime", "conditions",
                                  "initContainerStatuses", "containerStatuses"});
      case 5:
        return key(4) != "annotations" || is_one_of(key(5), {kJobAnnotation, kTemplateAnnotation});
      case 6:
        return key(4) != "containers" || key(6) == "name";
      default:
        return true;
    }
  }
};

}  // namespace

Pod parse_pod(const json& object, const GroupIdentity& identity) {
  const json& metadata = member(object, "metadata");
  const json& labels = member(metadata, "labels");
  const json& annotations = member(metadata, "annotations");
  const json& spec = member(object, "spec");
  const json& status = member(object, "status");
  Pod pod;
  pod.name = text(metadata, "name");
  pod.uid = text(metadata, "uid");
  pod.launch = label(labels, kLaunchLabel);
  pod.template_hash = label(annotations, kTemplateAnnotation);
  pod.job = job_of(label(annotations, kJobAnnotation));
  pod.ours = is_ours(labels, identity);
  pod.phase = word(status, "phase");
  pod.reason = word(status, "reason");
  pod.message = line(status, "message");
  pod.address = address_in(status);
  pod.machine_name = word(spec, "nodeName");
  pod.created = time_of(metadata, "creationTimestamp").value_or(sys_seconds());
  pod.deleted = time_of(metadata, "deletionTimestamp");
  read_conditions(pod, status);
  const auto started = time_of(status, "startTime");
  if (!pod.machine_name.empty() && !pod.scheduled) pod.scheduled = started.value_or(pod.created);
  if (pod.scheduled) pod.unschedulable.clear();
  const auto limit = number(spec, "activeDeadlineSeconds");
  if (started && limit && *limit >= 0 && *limit <= std::numeric_limits<std::int32_t>::max())
    pod.expires = *started + seconds{*limit};
  read_containers(pod, spec, status);
  return pod;
}

Pod parse_pod_reply(std::string_view body, const GroupIdentity& identity) {
  constexpr const char* what = "a pod";
  const json document = json::parse(body, nullptr, false);
  const auto kind = text(document, "kind");
  if (kind != "Pod" && kind != "PartialObjectMetadata") throw_invalid(what, "the reply is not a Pod");
  return identified_pod(document, identity, what);
}

PodList parse_pod_list(std::string_view body, const GroupIdentity& identity) {
  constexpr const char* what = "a list of pods";
  PodList page;
  PodListReader reader(identity, page);
  const json document = json::parse(
      body, [&](int depth, json::parse_event_t event, json& parsed) { return reader(depth, event, parsed); }, false);
  const auto kind = text(document, "kind");
  if (kind != "PodList" && kind != "PartialObjectMetadataList") throw_invalid(what, "the reply is not a PodList");
  const json& items = member(document, "items");
  if (!items.is_null() && !items.is_array()) throw_invalid(what, "\"items\" is not a list");
  if (!list(document, "items").empty()) throw_invalid(what, "\"items\" holds what is no pod");
  const json& metadata = member(document, "metadata");
  page.resource_version = text(metadata, "resourceVersion");
  page.continue_token = text(metadata, "continue");
  return page;
}

Machine machine_of(const Pod& pod, const GroupSettings& settings, sys_seconds now) {
  Machine machine;
  machine.id = machine_id({pod.name, pod.uid});
  machine.node = pod.name;
  machine.address = pod.address;
  machine.hostname = pod.name;
  machine.zone = pod.machine_name;
  machine.launch = pod.launch;
  machine.created = pod.created;
  machine.expires = pod.expires;
  machine.job = pod.job;
  if (pod.scheduled && *pod.scheduled - pod.created > kAtOnce)
    machine.register_by = *pod.scheduled + settings.boot_timeout;
  const auto detail = [](const std::string& reason, const std::string& message) {
    return reason.empty() || message.empty() ? reason + message : reason + ": " + message;
  };
  machine.failure = pod_failure(pod, settings, now);
  if (pod.deleted) {
    machine.state = MachineState::stopping;
    machine.detail = detail(pod.reason, pod.message);
  } else if (machine.failure) {
    machine.state = MachineState::failed;
  } else if (!pod.scheduled) {
    machine.state = MachineState::queued;
    machine.detail = pod.unschedulable;
  } else {
    machine.state = pod.phase == "Running" && !pod.address.empty() ? MachineState::running : MachineState::starting;
    machine.detail = detail(pod.trouble.reason, pod.trouble.message);
  }
  return machine;
}

std::string machine_id(const PodId& pod) { return pod.name + "/" + pod.uid; }

std::optional<PodId> pod_id(const std::string& id) {
  const auto slash = id.find('/');
  if (slash == std::string::npos || slash == 0 || slash + 1 == id.size() ||
      id.find('/', slash + 1) != std::string::npos)
    return std::nullopt;
  return PodId{id.substr(0, slash), id.substr(slash + 1)};
}

}  // namespace burst::kubernetes
