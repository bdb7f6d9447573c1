// SPDX-License-Identifier: Apache-2.0
// The simulated Compute Engine behind HTTP.
#include "gce/gce_service.h"

#include <chrono>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "gce/names.h"
#include "gce/partial_reply.h"

namespace cloudsim::gce {

namespace {

using Json = nlohmann::json;

struct KnownMethod {
  Method method;
  bool mutates = false;
};

const std::unordered_map<std::string_view, KnownMethod>& methods() {
  static const std::unordered_map<std::string_view, KnownMethod> kMethods{
      {"Instances.get", {get_instance}},
      {"Instances.list", {list_instances}},
      {"Instances.aggregatedList", {aggregated_instances}},
      {"Instances.delete", {delete_instance, true}},
      {"Instances.bulkInsert", {bulk_insert_in_zone, true}},
      {"Regioninstances.bulkInsert", {bulk_insert_in_region, true}},
      {"Zoneoperations.get", {get_operation}},
      {"Zoneoperations.list", {list_operations}},
      {"Zoneoperations.wait", {get_operation}},
      {"Regionoperations.get", {get_operation}},
      {"Regionoperations.list", {list_operations}},
      {"Regionoperations.wait", {get_operation}},
      {"Globaloperations.get", {get_operation}},
      {"Globaloperations.list", {list_operations}},
      {"Globaloperations.wait", {get_operation}},
      {"Zones.get", {get_zone}},
      {"Zones.list", {list_zones}},
      {"Regions.get", {get_region}},
      {"Regions.list", {list_regions}},
      {"Machinetypes.get", {get_machine_type}},
      {"Machinetypes.list", {list_machine_types}},
      {"Instancetemplates.get", {get_template}},
      {"Instancetemplates.list", {list_templates}},
      {"Instancetemplates.insert", {insert_template, true}},
      {"Instancetemplates.delete", {delete_template, true}},
      {"Regioninstancetemplates.get", {get_template}},
      {"Regioninstancetemplates.list", {list_templates}},
      {"Regioninstancetemplates.insert", {insert_template, true}},
      {"Regioninstancetemplates.delete", {delete_template, true}},
      {"Regioninstancegroupmanagers.insert", {insert_group, true}},
      {"Regioninstancegroupmanagers.get", {get_group}},
      {"Regioninstancegroupmanagers.list", {list_groups}},
      {"Regioninstancegroupmanagers.delete", {delete_group, true}},
      {"Regioninstancegroupmanagers.listManagedInstances", {list_managed_instances}},
      {"Regioninstancegroupmanagers.deleteInstances", {delete_managed_instances, true}},
      {"Regioninstancegroupmanagerresizerequests.insert", {insert_resize_request, true}},
      {"Regioninstancegroupmanagerresizerequests.get", {get_resize_request}},
      {"Regioninstancegroupmanagerresizerequests.list", {list_resize_requests}},
      {"Regioninstancegroupmanagerresizerequests.cancel", {cancel_resize_request, true}},
      {"Regioninstancegroupmanagerresizerequests.delete", {delete_resize_request, true}},
  };
  return kMethods;
}

ApiError error_of(const Fault& fault) {
  if (fault.kind == FaultKind::throttle) {
    return rate_limit_exceeded(fault.status == 0 ? 403 : fault.status);
  }
  // The code that rules have by default is EC2's.
  const bool unsaid = fault.code == "InternalError";
  return api_error(fault.status == 0 ? 503 : fault.status, unsaid ? "backendError" : fault.code, fault.message);
}

void erase_field(Json& resource, const std::string& field) {
  if (resource.is_object()) {
    resource.erase(field);
  }
}

/// Out of the reply itself, if it is one resource, and out of every resource in a list.
void leave_out(Json& reply, const std::string& field) {
  if (!reply.contains("items") && !reply.contains("managedInstances")) {
    erase_field(reply, field);
  }
  for (const auto* const list : {"items", "managedInstances"}) {
    if (!reply.contains(list)) {
      continue;
    }
    for (auto& item : reply[list]) {
      erase_field(item, field);
      if (item.is_object() && item.contains("instances")) {  // a scope of an aggregated list
        for (auto& instance : item["instances"]) {
          erase_field(instance, field);
        }
      }
    }
  }
}

}  // namespace

/// A call on its way through the steps.
struct GceService::Answer {
  ApiCall call{};
  std::optional<Fault> fault{};
  int status = 200;
  Json body{};
  std::string code{};  ///< of the error, if it ends in one
  double started = 0;  ///< seconds since the epoch
};

GceService::GceService(const SharedParts& shared, std::uint64_t seed)
    : shared_(shared),
      cloud_(shared, knobs_, seed),
      operations_(cloud_),
      templates_(cloud_),
      groups_(cloud_, operations_),
      world_{cloud_, operations_, templates_, groups_},
      auth_(seed),
      metadata_(auth_, [this](const std::string& machine) { return metadata_of(machine); }) {}

void GceService::set_knobs(const Json& values) {
  for (const auto& [key, value] : values.items()) {
    if (!auth_.set_knob(key, value)) {
      knobs_.set(key, value);
    }
  }
}

void GceService::start(const std::string& url) {
  initial_knobs_ = knobs_;
  cloud_.set_metadata_base(url.substr(url.find("//") + 2) + "/gce-metadata/");
  auth_.start(url);
}

void GceService::reset() {
  knobs_ = initial_knobs_;
  cloud_.reset();
  operations_.reset();
  templates_.reset();
  groups_.reset();
  limits_.reset();
  repeatable_.clear();
  auth_.reset();
}

std::optional<MachineMetadata> GceService::metadata_of(const std::string& name) const {
  const auto project = knobs_.projects.empty() ? "cloudsim-project" : knobs_.projects.front();
  const auto& account = auth_.knobs().service_account;
  if (name == "head") {
    const auto& [region, letters] = *knobs_.regions.rbegin();
    return MachineMetadata{"head",
                           "1000000000000000000",
                           "head.c." + project + ".internal",
                           region + "-" + letters.front(),
                           "n2-standard-4",
                           "127.0.0.1",
                           project,
                           knobs_.project_number,
                           account,
                           {}};
  }
  const auto* const found = cloud_.find_machine(name);
  if (found == nullptr) {
    return std::nullopt;
  }
  const auto& instance = *found;
  const auto& place = instance.place;
  MachineMetadata out{place.name,
                      std::to_string(instance.id),
                      place.name + "." + place.zone + ".c." + place.project + ".internal",
                      place.zone,
                      instance.type,
                      instance.address,
                      place.project,
                      knobs_.project_number,
                      account,
                      {}};
  for (const auto& item : instance.properties.value("metadata", Json::object()).value("items", Json::array())) {
    out.attributes[item.at("key").get<std::string>()] = item.value("value", "");
  }
  return out;
}

std::optional<HttpReply> GceService::handle(const HttpRequest& request) {
  if (request.path.starts_with("/compute/")) {
    return compute(request);
  }
  if (const auto action = GoogleAuth::action_of(request)) {
    return local(request, *action);
  }
  if (MetadataService::is_asked(request)) {
    return local(request, "gce.metadata");
  }
  return std::nullopt;
}

/// Token endpoints and metadata server: beside the API, so without its latency unless that is asked for by name.
HttpReply GceService::local(const HttpRequest& request, const std::string& action) {
  auto done = shared_.calls.begin(action);
  const auto fault = shared_.faults.take(action, {{"Path", request.path}});
  HttpReply reply;
  if (fault && strikes_before_effect(fault->kind)) {
    const auto error = error_of(*fault);
    reply.status = error.status;
    reply.content_type = "application/json";
    reply.body = error_body(error).dump();
  } else {
    reply = action == "gce.metadata" ? metadata_.answer(request) : auth_.answer(request);
  }
  const auto code = fault ? fault->kind_name : (reply.status < 400 ? "" : std::to_string(reply.status));
  shared_.calls.record({action, "", {}, 0, reply.status, code}, false);
  reply.delay += shared_.knobs.latency.count(action) == 0 ? Millis{0} : shared_.knobs.latency_of(action);
  reply.done = std::move(done);
  if (fault) {
    apply_to_reply(*fault, reply);
  }
  return reply;
}

/// The method's reply, or that of the earlier call with the same requestId.
Json GceService::repeatable(const Answer& call) {
  const auto id = parameter(call.call, "requestId");
  const auto& known = methods().at(call.call.method);
  if (id.empty()) {
    return known.method(world_, call.call);
  }
  if (!is_uuid(id)) {
    throw invalid_field("requestId", id,
                        "The request ID must be a valid UUID with the exception that zero UUID is not "
                        "supported.");
  }
  const auto key = parameter(call.call, "project") + "/" + id;
  const auto earlier = repeatable_.find(key);
  if (earlier != repeatable_.end()) {
    const auto* const operation = operations_.find(earlier->second.operation);
    if (earlier->second.method != call.call.method || earlier->second.parameters != call.call.parameters ||
        operation == nullptr) {
      throw invalid_field("requestId", id, "It was used by another request.");
    }
    return to_json(*operation);
  }
  auto out = known.method(world_, call.call);
  repeatable_[key] = {
      call.call.method, call.call.parameters,
      parameter(call.call, "project") + "/" + location_of(call.call) + "/" + out.at("name").get<std::string>()};
  return out;
}

Json GceService::perform(Answer& out) {
  const auto& call = out.call;
  const auto known = methods().find(call.method);
  if (known == methods().end()) {
    throw api_error(501, "notImplemented", "cloudsim does not simulate " + call.method);
  }
  limits_.admit(shared_.knobs, call, known->second.mutates);
  check_places(knobs_, call);
  if (out.fault && out.fault->kind == FaultKind::operation_error && known->second.mutates) {
    return to_json(operations_.begin_timed({parameter(call, "project"), location_of(call),
                                            call.method.substr(call.method.rfind('.') + 1), home_of(call), 0, ""},
                                           {{out.fault->code, out.fault->message}}));
  }
  return repeatable(out);
}

void GceService::answer(const HttpRequest& request, Answer& out) {
  try {
    if (!auth_.authorized(request)) {
      throw auth_.refusal_of(request);
    }
    out.call = parse_call(request);
    auto parameters = out.call.parameters;
    if (!out.call.body.empty()) {
      parameters["body"] = out.call.body.dump();
    }
    out.fault = shared_.faults.take(out.call.method, parameters);
    if (out.fault && strikes_before_effect(out.fault->kind)) {
      throw error_of(*out.fault);
    }
    out.body = perform(out);
  } catch (const ApiError& error) {
    out.status = error.status;
    out.code = error.reason;
    out.body = error_body(error);
  }
}

HttpReply GceService::render(Answer& call) {
  if (call.fault && call.fault->kind == FaultKind::missing_field && call.code.empty()) {
    leave_out(call.body, call.fault->field);
  }
  if (const auto mask = parameter(call.call, "fields"); !mask.empty() && call.code.empty()) {
    call.body = select_fields(call.body, mask);
  }
  HttpReply reply;
  reply.status = call.status;
  reply.content_type = "application/json; charset=UTF-8";
  const bool pretty = parameter(call.call, "prettyPrint") != "false";
  reply.body = call.body.dump(pretty ? 1 : -1, ' ', false, Json::error_handler_t::replace);
  reply.delay = shared_.knobs.latency_of(call.call.method);
  if (call.fault) {
    apply_to_reply(*call.fault, reply);
    const bool spoilt = reply.delivery == Delivery::drop || reply.delivery == Delivery::cut ||
                        call.fault->kind == FaultKind::garbage || call.fault->kind == FaultKind::wrong_content_type;
    if (spoilt) {
      call.code = call.fault->kind_name;
    }
  }
  auto parameters = call.call.parameters;
  if (!call.call.body.empty()) {
    parameters["body"] = call.call.body.dump();
  }
  const auto zone = parameter(call.call, "zone");
  shared_.calls.record({call.call.method, zone.empty() ? parameter(call.call, "region") : region_of_zone(zone),
                        std::move(parameters), call.started, reply.status, call.code},
                       true);
  return reply;
}

HttpReply GceService::wait_for(const Operation& awaited, const Answer& call) {
  HttpReply reply;
  reply.deferred = [this, key = Operations::key_of(awaited), call](const HttpReply::Deliver& deliver) {
    operations_.wait(*operations_.find(key), knobs_.wait, [this, key, call, deliver] {
      const auto* const operation = operations_.find(key);
      if (operation == nullptr) {
        HttpReply gone;  // everything was reset while it waited
        gone.status = 503;
        deliver(std::move(gone));
        return;
      }
      auto answer = call;
      answer.body = to_json(*operation);
      deliver(render(answer));
    });
  };
  return reply;
}

HttpReply GceService::compute(const HttpRequest& request) {
  Answer call;
  call.started = std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  answer(request, call);
  auto done = shared_.calls.begin(call.call.method);
  HttpReply reply;
  auto* const awaited =
      call.code.empty() && call.call.method.ends_with("operations.wait")
          ? operations_.find(parameter(call.call, "project"), location_of(call.call), parameter(call.call, "operation"))
          : nullptr;
  reply = awaited != nullptr ? wait_for(*awaited, call) : render(call);
  reply.done = std::move(done);
  return reply;
}

}  // namespace cloudsim::gce
