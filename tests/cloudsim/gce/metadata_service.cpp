// SPDX-License-Identifier: Apache-2.0
// The metadata server. Form: cloud.google.com/compute/docs/metadata/querying-metadata
#include "gce/metadata_service.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "gce/api_description.h"

namespace cloudsim::gce {

namespace {

constexpr std::string_view kBase = "/computeMetadata/";
constexpr std::string_view kMachines = "/gce-metadata/";
constexpr std::string_view kVersion = "/computeMetadata/v1/";
constexpr std::string_view kScope = "https://www.googleapis.com/auth/cloud-platform";

using Items = std::map<std::string, std::string>;

HttpReply reply(int status, std::string body, const std::string& type = "application/text") {
  HttpReply out;
  out.status = status;
  out.content_type = type;
  out.body = std::move(body);
  out.headers = {{"Metadata-Flavor", "Google"}, {"Server", "Metadata Server for VM"}};
  return out;
}

HttpReply refusal(int status, const std::string& why) {
  return reply(status, fmt::format("<!DOCTYPE html>\n<html><title>Error {0}</title><p>{1}</p></html>\n", status, why),
               "text/html; charset=UTF-8");
}

// Everything but tokens, by its path below v1/.
Items items_of(const MachineMetadata& machine) {
  const auto prefix = fmt::format("projects/{}/", machine.project_number);
  Items out{{"project/project-id", machine.project},
            {"project/numeric-project-id", machine.project_number},
            {"instance/name", machine.name},
            {"instance/id", machine.id},
            {"instance/hostname", machine.hostname},
            {"instance/zone", prefix + "zones/" + machine.zone},
            {"instance/machine-type", prefix + "machineTypes/" + machine.type},
            {"instance/network-interfaces/0/ip", machine.address},
            {"instance/preempted", "FALSE"}};
  for (const auto& account : {std::string("default"), machine.service_account}) {
    const auto at = "instance/service-accounts/" + account + "/";
    out[at + "aliases"] = "default";
    out[at + "email"] = machine.service_account;
    out[at + "scopes"] = std::string(kScope) + "\n";
    out[at + "token"] = "";
  }
  for (const auto& [key, value] : machine.attributes) {
    out["instance/attributes/" + key] = value;
  }
  return out;
}

// The names right below a directory, each on a line; empty: it is none.
std::string listing(const Items& items, const std::string& directory) {
  std::string out;
  std::string last;
  for (const auto& [path, value] : items) {
    if (!path.starts_with(directory)) {
      continue;
    }
    const auto rest = path.substr(directory.size());
    const auto slash = rest.find('/');
    const auto name = slash == std::string::npos ? rest : rest.substr(0, slash + 1);
    if (name != last) {
      out += name + "\n";
      last = name;
    }
  }
  return out;
}

// instance/network-interfaces/ -> networkInterfaces; attributes keep their keys.
std::string json_name(std::string_view path, std::string_view name) {
  if (path.ends_with("attributes/") || path.ends_with("service-accounts/")) {
    return std::string(name);
  }
  std::string out;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const bool up = name[i] == '-' && i + 1 < name.size();
    out += up ? static_cast<char>(name[++i] - 'a' + 'A') : name[i];
  }
  return out;
}

nlohmann::json tree(const Items& items, const std::string& directory) {
  auto out = nlohmann::json::object();
  const auto names = listing(items, directory);
  for (const auto name : split(names, '\n')) {
    if (name.empty() || name == "token") {
      continue;
    }
    const auto key = json_name(directory, name.substr(0, name.find('/')));
    const auto path = directory + std::string(name);
    out[key] = name.ends_with('/') ? tree(items, path) : nlohmann::json(items.at(path));
  }
  return out;
}

}  // namespace

bool MetadataService::is_asked(const HttpRequest& request) {
  return request.path.starts_with(kBase) || request.path.starts_with(kMachines);
}

HttpReply MetadataService::answer(const HttpRequest& request) {
  std::string machine_name = "head";
  std::string path = request.path;
  if (path.starts_with(kMachines)) {
    path.erase(0, kMachines.size());
    const auto slash = std::min(path.find('/'), path.size());
    machine_name = percent_decode(path.substr(0, slash), false);
    path.erase(0, slash);
  }
  if (request.header("metadata-flavor") != "Google" || !request.header("x-forwarded-for").empty()) {
    return refusal(403, "Missing Metadata-Flavor:Google header.");
  }
  const auto machine = lookup_(machine_name);
  if (!machine || !path.starts_with(kVersion) || request.method != "GET") {
    return refusal(404, "Not found");
  }
  const auto query = parse_form(request.query);
  const auto items = items_of(*machine);
  const auto item = percent_decode(path.substr(kVersion.size()), false);
  if (const auto found = items.find(item); found != items.end()) {
    if (item.ends_with("/token")) {
      auto scopes = query.count("scopes") > 0 ? query.at("scopes") : std::string(kScope);
      std::replace(scopes.begin(), scopes.end(), ',', ' ');
      return reply(200, auth_->issue(scopes).dump(), "application/json");
    }
    const bool json = query.count("alt") > 0 && query.at("alt") == "json";
    return json ? reply(200, nlohmann::json(found->second).dump(), "application/json") : reply(200, found->second);
  }
  const auto directory = item.empty() || item.ends_with('/') ? item : item + "/";
  const auto names = listing(items, directory);
  if (names.empty() && directory != "instance/attributes/") {
    return refusal(404, "Not found");
  }
  if (directory != item) {
    auto moved = refusal(301, "Moved");
    moved.headers.emplace_back("Location", request.path + "/" + (request.query.empty() ? "" : "?" + request.query));
    return moved;
  }
  if (query.count("recursive") > 0 && query.at("recursive") == "true") {
    return reply(200, tree(items, directory).dump(), "application/json");
  }
  return reply(200, names);
}

}  // namespace cloudsim::gce
