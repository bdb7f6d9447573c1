// SPDX-License-Identifier: Apache-2.0
// The methods about operations. Waiting is the service's: its reply comes later.
#include "gce/methods.h"
#include "gce/pages.h"

namespace cloudsim::gce {

using Json = nlohmann::json;

Json get_operation(World& world, const ApiCall& call) {
  const auto name = parameter(call, "operation");
  const auto* const found = world.operations.find(parameter(call, "project"), location_of(call), name);
  if (found == nullptr) {
    throw not_found(home_of(call) + "/operations/" + name);
  }
  return to_json(*found);
}

Json list_operations(World& world, const ApiCall& call) {
  const auto prefix = parameter(call, "project") + "/" + location_of(call) + "/";
  const auto& all = world.operations.all();
  std::vector<Listed> listed;
  for (auto at = all.lower_bound(prefix); at != all.end() && at->first.starts_with(prefix); ++at) {
    listed.push_back({at->second->name, [&operation = *at->second] { return to_json(operation); }});
  }
  return list_reply("compute#operationList", home_of(call) + "/operations",
                    page_of(call, "Operation", std::move(listed)));
}

}  // namespace cloudsim::gce
