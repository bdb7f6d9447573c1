// SPDX-License-Identifier: Apache-2.0
// The simulated actions. Each gets a checked and admitted call and returns what stands in its response, or throws
// ApiError.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "ec2/cloud.h"
#include "ec2/credentials.h"
#include "ec2/parameters.h"
#include "ec2/xml_writer.h"
#include "faults.h"

namespace cloudsim::ec2 {

struct Call {
  const Parameters& parameters;
  Region& region;
  Cloud& cloud;
  Credentials& credentials;
  const Caller& caller;
  const std::optional<Fault>& fault;  ///< one that the action itself renders
};

using Action = std::string (*)(const Call&);

std::string create_fleet(const Call& call);
std::string run_instances(const Call& call);
std::string describe_instances(const Call& call);
std::string describe_instance_status(const Call& call);
std::string terminate_instances(const Call& call);
std::string create_tags(const Call& call);
std::string describe_tags(const Call& call);
std::string create_launch_template(const Call& call);
std::string describe_launch_templates(const Call& call);
std::string describe_subnets(const Call& call);
std::string assume_role(const Call& call);
std::string assume_role_with_web_identity(const Call& call);
std::string get_caller_identity(const Call& call);

/// A template that a launch names, or the refusal that EC2 gives.
struct ResolvedTemplate {
  const LaunchTemplate* found = nullptr;
  std::string version;
  std::optional<Refusal> refusal;
};
ResolvedTemplate resolve_template(const Region& region, const Parameters& specification);

/// What template, override and parameters together ask for; `refusal` when a part of it does not exist.
struct ResolvedLaunch {
  LaunchSpec spec;
  std::optional<Refusal> refusal;
};
ResolvedLaunch resolve_launch(const Call& call, const Parameters& given, const ResolvedTemplate& from);

/// Tags of the TagSpecification entries for one kind of resource.
Tags tags_for(const Parameters& parameters, std::string_view resource_type);
/// The body that the same client token got before, if any. Throws IdempotentParameterMismatch.
std::optional<std::string> replayed(const Call& call, const std::string& action);
void remember(const Call& call, const std::string& action, const std::string& body);

/// InstanceId.N, each one checked. Throws .Malformed, .NotFound.
std::vector<Instance*> named_instances(const Call& call, const std::vector<std::string>& ids);
void write_tags(XmlWriter& xml, const Tags& tags);
/// The <item> of an instance; `without`: a field that is left out.
void write_instance(XmlWriter& xml, const Call& call, const Instance& instance, std::string_view without);

}  // namespace cloudsim::ec2
