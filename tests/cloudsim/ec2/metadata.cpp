// SPDX-License-Identifier: Apache-2.0
// The instance metadata service, version 2.
#include "ec2/metadata.h"

#include <charconv>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace cloudsim::ec2 {

namespace {

constexpr std::string_view kPrefix = "/imds/";
constexpr std::string_view kMetadata = "/latest/meta-data/";

HttpReply reply(int status, std::string body, const std::string& type = "text/plain") {
  HttpReply out;
  out.status = status;
  out.content_type = type;
  out.body = std::move(body);
  return out;
}

HttpReply not_found() { return reply(404, "404 - Not Found"); }

Instance head_node(const Cloud& cloud, const std::string& region) {
  Instance head;
  head.id = "i-00000000000000001";
  head.region = region;
  head.zone = region + "a";
  head.address = "127.0.0.1";
  head.hostname = "ip-127-0-0-1.ec2.internal";
  head.type = "t3.micro";
  head.image_id = "ami-0123456789abcdef0";
  head.role = cloud.ec2_knobs().role;
  return head;
}

std::string joined_keys(const Tags& tags) {
  std::string out;
  for (const auto& [key, value] : tags) {
    out += (out.empty() ? "" : "\n") + key;
  }
  return out;
}

std::optional<std::string> tag_item(const Instance& instance, const std::string& key) {
  if (!instance.metadata_tags) {
    return std::nullopt;
  }
  if (key.empty()) {
    return joined_keys(instance.tags);
  }
  const auto found = instance.tags.find(percent_decode(key, false));
  return found == instance.tags.end() ? std::nullopt : std::optional(found->second);
}

std::optional<std::string> plain_item(const Instance& instance, const std::string& item) {
  if (item == "instance-id") {
    return instance.id;
  }
  if (item == "ami-id") {
    return instance.image_id;
  }
  if (item == "instance-type") {
    return instance.type;
  }
  if (item == "placement/availability-zone") {
    return instance.zone;
  }
  if (item == "placement/region") {
    return instance.region;
  }
  if (item == "local-ipv4") {
    return instance.address;
  }
  if (item == "local-hostname" || item == "hostname") {
    return instance.hostname;
  }
  if (item.empty()) {
    return "ami-id\nhostname\niam/\ninstance-id\ninstance-type\nlocal-hostname\nlocal-ipv4\nplacement/\ntags/";
  }
  if (item == "iam/security-credentials" || item == "iam/security-credentials/") {
    return instance.role;
  }
  return std::nullopt;
}

std::string identity_document(const Instance& instance, const std::string& account) {
  return nlohmann::json{
      {"instanceId", instance.id},     {"region", instance.region},     {"availabilityZone", instance.zone},
      {"privateIp", instance.address}, {"instanceType", instance.type}, {"imageId", instance.image_id},
      {"accountId", account}}
      .dump();
}

}  // namespace

HttpReply Metadata::issue_token(const HttpRequest& request, const std::string& instance) {
  const auto text = request.header("x-aws-ec2-metadata-token-ttl-seconds");
  int seconds = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (result.ec != std::errc{} || seconds < 1 || seconds > 21600) {
    return reply(400, "400 - Bad Request");
  }
  if (!request.header("x-forwarded-for").empty()) {
    return reply(403, "403 - Forbidden");
  }
  auto token = fmt::format("AQAEA{:016x}{:016x}==", cloud_->random()(), cloud_->random()());
  tokens_[token] = {instance, std::chrono::steady_clock::now() + std::chrono::seconds(seconds)};
  auto out = reply(200, std::move(token));
  out.headers.emplace_back("X-Aws-Ec2-Metadata-Token-Ttl-Seconds", text);
  return out;
}

bool Metadata::authorized(const HttpRequest& request, const std::string& instance) const {
  const auto found = tokens_.find(std::string(request.header("x-aws-ec2-metadata-token")));
  return found != tokens_.end() && found->second.instance == instance &&
         found->second.expires > std::chrono::steady_clock::now();
}

std::string Metadata::credentials_document(const std::string& session) {
  const auto& knobs = cloud_->ec2_knobs();
  const auto now = std::chrono::system_clock::now();
  const auto arn = fmt::format("arn:aws:sts::{}:assumed-role/{}/{}", knobs.account, knobs.role, session);
  const auto& key = credentials_->issue(arn, "AROACLOUDSIM:" + session, knobs.credential_lifetime, now);
  return nlohmann::json{{"Code", "Success"},
                        {"Type", "AWS-HMAC"},
                        {"LastUpdated", iso_time(now)},
                        {"AccessKeyId", key.access_key_id},
                        {"SecretAccessKey", key.secret_access_key},
                        {"Token", key.session_token},
                        {"Expiration", iso_time(key.expires)}}
      .dump(1);
}

HttpReply Metadata::handle(const HttpRequest& request) {
  const auto rest = std::string_view(request.path).substr(kPrefix.size());
  const auto slash = rest.find('/');
  const std::string name(rest.substr(0, slash));
  const std::string_view item = slash == std::string_view::npos ? std::string_view{} : rest.substr(slash);
  const auto* found = cloud_->find_anywhere(name);
  if (name != "head" && (found == nullptr || found->state == InstanceState::terminated)) {
    return not_found();
  }
  const Instance instance = name == "head" ? head_node(*cloud_, head_region_) : *found;
  if (request.method == "PUT" && item == "/latest/api/token") {
    return issue_token(request, name);
  }
  if (request.method != "GET") {
    return reply(405, "405 - Method Not Allowed");
  }
  if (!authorized(request, name)) {
    return reply(401, "401 - Unauthorized");
  }
  if (item == "/latest/dynamic/instance-identity/document") {
    return reply(200, identity_document(instance, cloud_->ec2_knobs().account));
  }
  if (!item.starts_with(kMetadata)) {
    return not_found();
  }
  const std::string field(item.substr(kMetadata.size()));
  static constexpr std::string_view kTags = "tags/instance";
  if (field.starts_with(kTags)) {
    const auto value = tag_item(instance, field.substr(std::min(field.size(), kTags.size() + 1)));
    return value ? reply(200, *value) : not_found();
  }
  if (field == "iam/security-credentials/" + instance.role) {
    return reply(200, credentials_document(instance.id));
  }
  const auto value = plain_item(instance, field);
  return value ? reply(200, *value) : not_found();
}

HttpReply Metadata::container_credentials(const HttpRequest& request) {
  const auto& wanted = cloud_->ec2_knobs().container_authorization;
  if (!wanted.empty() && request.header("authorization") != wanted) {
    return reply(401, R"({"code":"InvalidAuthorization","message":"authorization token is missing or wrong"})",
                 "application/json");
  }
  return reply(200, credentials_document("container"), "application/json");
}

}  // namespace cloudsim::ec2
