// SPDX-License-Identifier: Apache-2.0
// Asking for machines that Google gives when it has them: an instance group and a resize request a launch.
#include "providers/gce/gce_flex_start.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "burst/error.h"
#include "providers/gce/gce_flex_stop.h"

namespace burst::gce {
namespace {

/// An instance group's name may be taken by one that is being deleted: so many names are tried.
constexpr int kNames = 3;

/// What one instance group and its resize request are made for.
struct Part {
  std::size_t launch = 0;  ///< index of its Launch
  Request request;
  std::chrono::seconds duration{};
  int attempt = 0;
  bool has_group = false;
  bool accepted = false;
  std::optional<ApiError> error;
};

std::vector<Part> plan_parts(const GroupContext& context, std::span<const Launch> launches) {
  std::vector<Part> parts;
  for (std::size_t i = 0; i < launches.size(); ++i) {
    const Launch& launch = launches[i];
    const std::span<const NodeName> nodes = launch.nodes;
    for (std::size_t first = 0; first < nodes.size(); first += kMachinesPerResizeRequest) {
      const auto some = nodes.subspan(first, std::min(kMachinesPerResizeRequest, nodes.size() - first));
      Part part;
      part.launch = i;
      part.request.nodes.assign(some.begin(), some.end());
      part.request.job = launch.job;
      part.request.all_or_nothing = launch.all_or_nothing;
      part.duration = run_duration(context.settings, launch.job_time_limit);
      parts.push_back(std::move(part));
    }
  }
  return parts;
}

class FlexStart {
 public:
  FlexStart(const GroupContext& context, std::span<const Launch> launches)
      : context_(context), parts_(plan_parts(context, launches)) {}

  std::vector<NodeOutcome> run() {
    make_groups();
    make_requests();
    drop_incomplete();
    end_unused_groups();
    std::vector<NodeOutcome> outcomes;
    for (const auto& part : parts_)
      for (const auto& node : part.request.nodes) outcomes.push_back(outcome_of_node(part, node));
    return outcomes;
  }

 private:
  const GroupContext& context_;
  std::vector<Part> parts_;

  std::string path_of(const Part& part) const {
    return context_.regional("instanceGroupManagers/" + part.request.launch);
  }

  void make_groups() {
    std::vector<Part*> wanted;
    for (auto& part : parts_) wanted.push_back(&part);
    while (!wanted.empty()) {
      std::vector<ApiCall> calls;
      for (Part* part : wanted) {
        part->request.launch = instance_group_name(context_.identity, part->request, part->attempt);
        calls.push_back({"regionInstanceGroupManagers.insert",
                         context_.regional("instanceGroupManagers"),
                         {},
                         instance_group_body(context_.settings, context_.identity, part->request)});
      }
      const auto results = context_.api.run(calls);
      std::vector<Part*> again;
      for (std::size_t i = 0; i < wanted.size(); ++i) {
        if (!take_group(*wanted[i], results[i])) again.push_back(wanted[i]);
      }
      wanted = std::move(again);
    }
  }

  /// False: under another name, please.
  bool take_group(Part& part, const CallResult& result) {
    part.error = result.error;
    if (result.ok()) {
      part.has_group = true;
      return true;
    }
    if (error_kind(result.error->code) != ErrorKind::exists) {
      part.has_group = result.unknown;  // it may be there: to be ended
      return true;
    }
    if (is_reusable(part)) {
      context_.log.info(
          fmt::format("{}: instance group {} of an earlier try is used", context_.identity.key(), part.request.launch));
      part.has_group = true;
      part.error.reset();
      return true;
    }
    return ++part.attempt == kNames;
  }

  /// Whether the instance group of that name is what a launch of the same nodes left before it could ask for them.
  bool is_reusable(const Part& part) const {
    try {
      const auto body = context_.api.get({"regionInstanceGroupManagers.get", path_of(part), {}, {}});
      if (!body) return false;
      if (parse_instance_group(*body).description != describe_request(context_.identity, part.request)) return false;
      return read_resize_requests(context_, {part.request.launch}).front().empty();
    } catch (const Error& error) {
      context_.log.warning(fmt::format("{}: {}", context_.identity.key(), error.what()));
      return false;
    }
  }

  void make_requests() {
    std::vector<Part*> wanted;
    std::vector<ApiCall> calls;
    for (auto& part : parts_) {
      if (part.error) continue;
      wanted.push_back(&part);
      calls.push_back({"regionInstanceGroupManagerResizeRequests.insert",
                       path_of(part) + "/resizeRequests",
                       {},
                       resize_request_body(part.request.nodes, part.duration)});
    }
    const auto results = context_.api.run(calls);
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      wanted[i]->accepted = results[i].ok() || (results[i].unknown && may_be_accepted(*wanted[i]));
      if (!wanted[i]->accepted) wanted[i]->error = results[i].error;
    }
  }

  /// After a call without an answer: what Google says; where it says nothing, the nodes wait, and list() will tell.
  bool may_be_accepted(const Part& part) const {
    try {
      return !read_resize_requests(context_, {part.request.launch}).front().empty();
    } catch (const Error& error) {
      context_.log.warning(fmt::format("{}: {}", context_.identity.key(), error.what()));
      return true;
    }
  }

  /// All-or-nothing launches of more nodes than a request takes: one part's refusal is every part's.
  void drop_incomplete() {
    for (const auto& refused : parts_) {
      if (!refused.request.all_or_nothing || !refused.error) continue;
      const ApiError error = *refused.error;
      for (auto& part : parts_) {
        if (part.launch != refused.launch || part.error) continue;
        part.accepted = false;
        part.error = error;
      }
    }
  }

  /// At once: what is left empty here would be found by change_state only.
  void end_unused_groups() {
    std::vector<FlexGroup> unused;
    for (const auto& part : parts_) {
      if (!part.has_group || part.accepted) continue;
      FlexGroup flex;
      flex.group.name = part.request.launch;
      // It may have been accepted as part of a launch that is given up.
      flex.requests.push_back({"nodes", "ACCEPTED", {}, {}, {}});
      if (!part.request.all_or_nothing) flex.requests.clear();
      unused.push_back(std::move(flex));
    }
    std::vector<const FlexGroup*> ending;
    for (const auto& flex : unused) ending.push_back(&flex);
    for (const auto& [name, error] : end_instance_groups(context_, ending))
      context_.log.error(fmt::format("Failed to delete instance group {}: {}: {}", name, error.code, error.message));
  }

  NodeOutcome outcome_of_node(const Part& part, const NodeName& node) const {
    if (!part.accepted) return {node, outcome_of(part.error->code), {}, part.error->code, part.error->message};
    Machine machine;
    machine.id = fmt::format("{}/{}", part.request.launch, node);
    machine.node = node;
    machine.launch = part.request.launch;
    machine.state = MachineState::queued;
    machine.created = std::chrono::floor<std::chrono::seconds>(context_.clock.now());
    machine.job = part.request.job;
    return {node, Outcome::pending, std::move(machine), "Queued",
            fmt::format("resize request of {} accepted", part.request.launch)};
  }
};

}  // namespace

std::vector<NodeOutcome> start_by_resize_requests(const GroupContext& context, std::span<const Launch> launches) {
  return FlexStart(context, launches).run();
}

}  // namespace burst::gce
