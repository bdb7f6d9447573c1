// SPDX-License-Identifier: Apache-2.0
// The simulated EC2, STS and metadata service behind HTTP.
#include "ec2/ec2_service.h"

#include <array>
#include <chrono>
#include <unordered_map>
#include <utility>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "ec2/limits.h"

namespace cloudsim::ec2 {

namespace {

constexpr std::string_view kStsVersion = "2011-06-15";
constexpr std::string_view kEc2Version = "2016-11-15";

struct KnownAction {
  std::string_view service;
  Action action;
};

const std::unordered_map<std::string_view, KnownAction>& actions() {
  static const std::unordered_map<std::string_view, KnownAction> kActions{
      {"CreateFleet", {"ec2", create_fleet}},
      {"RunInstances", {"ec2", run_instances}},
      {"DescribeInstances", {"ec2", describe_instances}},
      {"DescribeInstanceStatus", {"ec2", describe_instance_status}},
      {"TerminateInstances", {"ec2", terminate_instances}},
      {"CreateTags", {"ec2", create_tags}},
      {"DescribeTags", {"ec2", describe_tags}},
      {"CreateLaunchTemplate", {"ec2", create_launch_template}},
      {"DescribeLaunchTemplates", {"ec2", describe_launch_templates}},
      {"DescribeSubnets", {"ec2", describe_subnets}},
      {"AssumeRole", {"sts", assume_role}},
      {"AssumeRoleWithWebIdentity", {"sts", assume_role_with_web_identity}},
      {"GetCallerIdentity", {"sts", get_caller_identity}},
  };
  return kActions;
}

bool is_sts(const CallParameters& parameters) {
  const auto version = parameters.find("Version");
  return version != parameters.end() && version->second == kStsVersion;
}

std::string success_body(bool sts, const std::string& action, const std::string& request_id, const std::string& body) {
  if (sts) {
    return fmt::format(
        "<{0}Response xmlns=\"https://sts.amazonaws.com/doc/2011-06-15/\"><{0}Result>{1}</{0}Result>"
        "<ResponseMetadata><RequestId>{2}</RequestId></ResponseMetadata></{0}Response>",
        action, body, request_id);
  }
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<{0}Response xmlns=\"http://ec2.amazonaws.com/doc/2016-11-15/\">"
      "<requestId>{1}</requestId>{2}</{0}Response>",
      action, request_id, body);
}

std::string error_body(bool sts, const std::string& code, const std::string& message, const std::string& request_id) {
  if (sts) {
    return fmt::format(
        "<ErrorResponse xmlns=\"https://sts.amazonaws.com/doc/2011-06-15/\"><Error><Type>Sender</Type><Code>{}</Code>"
        "<Message>{}</Message></Error><RequestId>{}</RequestId></ErrorResponse>",
        code, xml_escaped(message), request_id);
  }
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Response><Errors><Error><Code>{}</Code><Message>{}</Message>"
      "</Error></Errors><RequestID>{}</RequestID></Response>",
      code, xml_escaped(message), request_id);
}

CallParameters without_secrets(CallParameters parameters) {
  parameters.erase("WebIdentityToken");
  parameters.erase("UserData");
  return parameters;
}

}  // namespace

/// A call on its way through the steps.
struct Ec2Service::Answer {
  CallParameters parameters{};
  std::string action{}, region{}, request_id{};
  bool sts = false;
  std::optional<Fault> fault{};
  int status = 200;
  std::string body{};
  std::string code{};  ///< of the error, if it ends in one
};

Ec2Service::Ec2Service(const SharedParts& shared, const std::string& head_region, std::uint64_t seed)
    : shared_(shared),
      cloud_(shared.loop, shared.boot, shared.knobs, knobs_, seed),
      credentials_(knobs_, cloud_.random()),
      metadata_(cloud_, credentials_, head_region) {}

void Ec2Service::set_knobs(const nlohmann::json& values) {
  for (const auto& [key, value] : values.items()) {
    knobs_.set(key, value);
  }
  cloud_.preload_known_regions();
}

void Ec2Service::start(const std::string& url) {
  initial_knobs_ = knobs_;
  cloud_.set_metadata_base(url + "/imds/");
}

void Ec2Service::reset() {
  knobs_ = initial_knobs_;
  cloud_.reset();
  credentials_.clear();
  metadata_.clear();
}

bool Ec2Service::is_signed(const HttpRequest& request) const {
  try {
    return credentials_.verify(request, std::chrono::system_clock::now()).service == "sts";
  } catch (const ApiError&) {
    return false;
  }
}

std::optional<HttpReply> Ec2Service::handle(const HttpRequest& request) {
  if (request.path.starts_with("/imds/") || request.path == "/container-credentials") {
    return metadata(request);
  }
  if (request.path == "/") {
    return query(request);
  }
  return std::nullopt;
}

HttpReply Ec2Service::metadata(const HttpRequest& request) {
  const bool container = request.path == "/container-credentials";
  const std::string action = container ? "ContainerCredentials" : "Metadata";
  auto done = shared_.calls.begin(action);
  const auto fault = shared_.faults.take(action, {{"Path", request.path}});
  HttpReply reply;
  if (fault && strikes_before_effect(fault->kind)) {
    reply.status = fault->status != 0 ? fault->status : (fault->kind == FaultKind::throttle ? 503 : 500);
    reply.body = fault->message;
  } else {
    reply = container ? metadata_.container_credentials(request) : metadata_.handle(request);
  }
  const auto code = fault ? fault->kind_name : (reply.status < 400 ? "" : std::to_string(reply.status));
  shared_.calls.record({action, "", {}, 0, reply.status, code}, false);
  reply.delay = shared_.knobs.latency_of(action);
  if (shared_.knobs.latency.count(action) == 0) {
    reply.delay = Millis{0};  // the latency of `*` is that of the distant API; this service is local
  }
  reply.done = std::move(done);
  if (fault) {
    apply_to_reply(*fault, reply);
  }
  return reply;
}

std::string Ec2Service::perform(const Caller& caller, Answer& out) {
  auto& region = cloud_.region(caller.region);
  const Parameters parameters(out.parameters);
  const auto known = actions().find(out.action);
  if (known == actions().end() || known->second.service != (out.sts ? "sts" : "ec2")) {
    throw ApiError("InvalidAction", fmt::format("The action {} is not valid for this web service.", out.action));
  }
  if (!out.sts) {
    if (parameters.text("Version") != kEc2Version) {
      throw ApiError("InvalidParameterValue", "cloudsim knows only Version 2016-11-15");
    }
    admit(shared_.knobs, region, out.action, parameters);
  }
  check_names(out.action, out.parameters);
  if (parameters.boolean("DryRun")) {
    throw ApiError(412, "DryRunOperation", "Request would have succeeded, but DryRun flag is set.");
  }
  return known->second.action(Call{parameters, region, cloud_, credentials_, caller, out.fault});
}

void Ec2Service::answer(const HttpRequest& request, Answer& out) {
  try {
    Caller caller;
    if (out.sts && out.action == "AssumeRoleWithWebIdentity") {
      caller.region = "us-east-1";  // unsigned: the token is the proof
    } else {
      caller = credentials_.verify(request, std::chrono::system_clock::now());
      if ((caller.service == "sts") != out.sts) {
        throw ApiError("InvalidAction", fmt::format("The action {} is not valid for this web service.", out.action));
      }
    }
    out.region = caller.region;
    out.fault = shared_.faults.take(out.action, out.parameters);
    if (out.fault && out.fault->kind == FaultKind::throttle) {
      throw ApiError(503, out.sts ? "Throttling" : "RequestLimitExceeded", "Request limit exceeded.");
    }
    if (out.fault && strikes_before_effect(out.fault->kind)) {
      throw ApiError(out.fault->status == 0 ? 400 : out.fault->status, out.fault->code, out.fault->message);
    }
    out.body = success_body(out.sts, out.action, out.request_id, perform(caller, out));
  } catch (const ApiError& error) {
    out.status = error.status();
    out.code = error.code();
    out.body = error_body(out.sts, error.code(), error.what(), out.request_id);
  }
}

HttpReply Ec2Service::query(const HttpRequest& request) {
  Answer call;
  call.parameters = parse_form(request.method == "GET" ? request.query : request.body);
  const auto action = call.parameters.find("Action");
  call.action = action == call.parameters.end() ? "" : action->second;
  call.sts = is_sts(call.parameters);
  call.request_id = cloud_.new_request_id();
  auto done = shared_.calls.begin(call.action);
  const auto now = std::chrono::system_clock::now();
  answer(request, call);
  HttpReply reply;
  reply.status = call.status;
  reply.content_type = call.sts ? "text/xml" : "text/xml;charset=UTF-8";
  reply.body = std::move(call.body);
  if (!call.sts) {
    reply.headers.emplace_back("x-amzn-requestid", call.request_id);
  }
  reply.headers.emplace_back(
      "Date", fmt::format("{:%a, %d %b %Y %H:%M:%S} GMT", fmt::gmtime(std::chrono::system_clock::to_time_t(now))));
  reply.delay = shared_.knobs.latency_of(call.action);
  reply.done = std::move(done);
  if (call.fault) {
    apply_to_reply(*call.fault, reply);
    const bool spoilt = reply.delivery == Delivery::drop || reply.delivery == Delivery::cut ||
                        call.fault->kind == FaultKind::garbage || call.fault->kind == FaultKind::wrong_content_type;
    if (spoilt) {
      call.code = call.fault->kind_name;
    }
  }
  const double started = std::chrono::duration<double>(now.time_since_epoch()).count();
  shared_.calls.record(
      {call.action, call.region, without_secrets(std::move(call.parameters)), started, reply.status, call.code}, true);
  return reply;
}

}  // namespace cloudsim::ec2
