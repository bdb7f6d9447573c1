// SPDX-License-Identifier: Apache-2.0
// The pods of one node group, looked up and deleted.
#include "providers/kubernetes/pod_inventory.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "auth/percent_encoding.h"

namespace burst::kubernetes {
namespace {

/// A selector stands in the URL.
constexpr std::size_t kMostLaunchesInASelector = 20;

bool is_hopeless(const ApiError& error) {
  return error.meaning == ErrorMeaning::over_quota || error.meaning == ErrorMeaning::configuration ||
         error.meaning == ErrorMeaning::credentials;
}

ApiCall delete_call(const GroupContext& context, const PodId& pod) {
  const nlohmann::json options{{"apiVersion", "v1"},
                               {"kind", "DeleteOptions"},
                               {"gracePeriodSeconds", context.settings.grace_period.count()},
                               {"propagationPolicy", "Background"},
                               {"preconditions", {{"uid", pod.uid}}}};
  return {"DELETE", context.api.pods_path(pod.name),
          options.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace), "pod " + pod.name, kMetadataForm};
}

std::vector<Pod> read_selected(const GroupContext& context, const std::string& selector, ListOf what) {
  std::vector<Pod> pods;
  context.api.list(
      fmt::format("{}?labelSelector={}", context.api.pods_path(), auth::percent_encode(selector)), what,
      [&](std::string_view body) {
        PodList page = parse_pod_list(body, context.identity);
        std::move(page.pods.begin(), page.pods.end(), std::back_inserter(pods));
        return std::move(page.continue_token);
      },
      [&] { pods.clear(); });
  std::erase_if(pods, [](const Pod& pod) { return !pod.ours; });
  return pods;
}

}  // namespace

std::vector<Pod> read_pods(const GroupContext& context, const std::vector<std::string>& launches) {
  std::string selector = context.identity.selector();
  if (!launches.empty() && launches.size() <= kMostLaunchesInASelector)
    selector += fmt::format(",{} in ({})", kLaunchLabel, fmt::join(launches, ","));
  return read_selected(context, selector, ListOf::objects);
}

std::vector<Pod> read_pod_metadata(const GroupContext& context) {
  return read_selected(context, context.identity.selector(), ListOf::metadata);
}

std::vector<CallResult> send_until_hopeless(const KubernetesApi& api, const std::vector<ApiCall>& calls) {
  std::optional<ApiError> hopeless;
  auto results = api.send(calls, [&](std::size_t, const CallResult& result) {
    if (!hopeless && result.error && is_hopeless(*result.error)) hopeless = result.error;
    return !hopeless;
  });
  for (auto& result : results)
    if (!result.sent && hopeless) result.error = hopeless;
  return results;
}

std::map<std::string, ApiError> delete_pods(const GroupContext& context, std::span<const PodId> pods) {
  std::vector<ApiCall> calls;
  calls.reserve(pods.size());
  for (const auto& pod : pods) calls.push_back(delete_call(context, pod));
  const auto results = send_until_hopeless(context.api, calls);
  std::map<std::string, ApiError> failed;
  for (std::size_t i = 0; i < pods.size(); ++i) {
    const auto& error = results[i].error;
    if (!error || error->meaning == ErrorMeaning::gone || error->meaning == ErrorMeaning::conflict) continue;
    failed.emplace(machine_id(pods[i]), *error);
  }
  return failed;
}

}  // namespace burst::kubernetes
