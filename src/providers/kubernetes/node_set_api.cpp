// SPDX-License-Identifier: Apache-2.0
// What soperator keeps of one NodeSet in the API: its size, its active ordinals, its pods, why one was refused.
#include "providers/kubernetes/node_set_api.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "auth/percent_encoding.h"
#include "burst/error.h"
#include "providers/json_fields.h"

namespace burst::kubernetes {
namespace {

using nlohmann::json;
using reply::list;
using reply::member;
using reply::text;
using reply::time_of;
using std::chrono::milliseconds;

/// Others write for some milliseconds each: there is always a turn for everyone before this is over, and the program's
/// own deadline ends it sooner.
constexpr std::chrono::seconds kEditTime{120};
constexpr milliseconds kFirstPause{50}, kLongestPause{1'000};

constexpr int kForbidden = 403, kServerFault = 500;

[[noreturn]] void raise(const ApiError& error) { throw Error(error.code, error.message); }

/// What the API server said to the operator, as if it had said it to us.
ApiError error_in_event(const std::string& words) {
  const bool is_final = words.find("forbidden") != std::string::npos || words.find("denied") != std::string::npos;
  return parse_error(is_final ? kForbidden : kServerFault, json{{"kind", "Status"}, {"message", words}}.dump());
}

std::chrono::sys_seconds last_time(const json& event) {
  std::chrono::sys_seconds last{};
  for (const char* key : {"firstTimestamp", "lastTimestamp", "eventTime"})
    last = std::max(last, time_of(event, key).value_or(last));
  return std::max(last, time_of(member(event, "series"), "lastObservedTime").value_or(last));
}

/// `create Pod worker-3 in StatefulSet worker failed error: ...`: its words are an operator's own, the name is not.
std::optional<std::int64_t> ordinal_named_in(std::string_view words, std::string_view node_set) {
  while (!words.empty()) {
    const auto end = words.find_first_of(" \"'/,:;");
    if (const auto ordinal = ordinal_in(words.substr(0, end), node_set)) return ordinal;
    if (end == std::string_view::npos) return std::nullopt;
    words.remove_prefix(end + 1);
  }
  return std::nullopt;
}

}  // namespace

NodeSetApi::NodeSetApi(KubernetesApi api, std::string node_set, Clock& clock, Random& random)
    : api_(std::move(api)), node_set_(std::move(node_set)), clock_(clock), random_(random) {}

std::string NodeSetApi::path(const char* resource) const {
  return fmt::format("/apis/slurm.nebius.ai/v1alpha1/namespaces/{}/{}", auth::percent_encode(api_.name_space()),
                     resource);
}

CallResult NodeSetApi::call(const char* method, const std::string& path, const std::string& body,
                            const char* kind) const {
  return std::move(api_.send({{method, path, body, fmt::format("{} {}", kind, node_set_)}}).front());
}

NodeSet NodeSetApi::node_set() const {
  const auto result = call("GET", path("nodesets/") + auth::percent_encode(node_set_), {}, "NodeSet");
  if (result.ok()) return parse_node_set(result.body);
  if (result.error->meaning == ErrorMeaning::gone) throw Error("NodeSetNotFound", result.error->message);
  raise(*result.error);
}

std::optional<PowerState> NodeSetApi::power_state() const {
  const auto result =
      call("GET", path("nodesetpowerstates/") + auth::percent_encode(node_set_), {}, "NodeSetPowerState");
  if (result.ok()) return PowerState::parse(result.body);
  if (result.error->meaning == ErrorMeaning::gone) return std::nullopt;
  raise(*result.error);
}

bool NodeSetApi::write(const PowerState& state) const {
  const bool exists = state.exists();
  std::string target = path("nodesetpowerstates");
  if (exists) target += "/" + auth::percent_encode(node_set_);
  const auto result = call(exists ? "PUT" : "POST", target, state.body(), "NodeSetPowerState");
  if (result.ok()) return true;
  switch (result.error->meaning) {
    case ErrorMeaning::conflict:
    case ErrorMeaning::already_exists:
      return false;
    case ErrorMeaning::gone:
      if (exists) return false;  // since it was read: it is looked at anew
      break;
    default:
      break;
  }
  raise(*result.error);
}

bool NodeSetApi::edit(const Edit& edit, Absent absent) const {
  const auto end = clock_.steady_now() + kEditTime;
  for (milliseconds longest = kFirstPause;; longest = std::min(longest * 2, kLongestPause)) {
    auto state = power_state();
    if (!state && absent == Absent::is_left) return false;
    if (!state) state = PowerState::create(api_.name_space(), node_set_);
    if (!edit(*state)) return state->exists();
    if (write(*state)) return true;
    const milliseconds pause{static_cast<std::int64_t>(random_.next() % static_cast<std::uint64_t>(longest.count()))};
    if (clock_.steady_now() + pause > end)
      throw Error("Conflict", fmt::format("NodeSetPowerState {} in namespace {} is changed by others all the time",
                                          node_set_, api_.name_space()));
    clock_.sleep_for(pause);
  }
}

std::map<std::int64_t, Pod> NodeSetApi::pods() const {
  std::map<std::int64_t, Pod> pods;
  api_.list(
      api_.pods_path() + "?labelSelector=", ListOf::objects,
      [&](std::string_view body) {
        auto page = parse_pod_list(body, {});
        for (auto& pod : page.pods)
          if (const auto ordinal = ordinal_in(pod.name, node_set_)) pods.insert_or_assign(*ordinal, std::move(pod));
        return page.continue_token;
      },
      [&] { pods.clear(); });
  return pods;
}

std::map<std::int64_t, ApiError> NodeSetApi::refused_pods(std::chrono::sys_seconds since) const {
  struct Refusal {
    std::chrono::sys_seconds time;
    std::string words;
  };
  std::map<std::int64_t, Refusal> latest;
  api_.list(
      fmt::format("/api/v1/namespaces/{}/events?fieldSelector={}", auth::percent_encode(api_.name_space()),
                  auth::percent_encode(fmt::format("involvedObject.name={},reason=FailedCreate", node_set_))),
      ListOf::objects,
      [&](std::string_view body) {
        const json document = json::parse(body, nullptr, false);
        for (const auto& event : list(document, "items")) {
          const std::string words = text(event, "message");
          const auto ordinal = ordinal_named_in(words, node_set_);
          const auto time = last_time(event);
          if (!ordinal || time < since) continue;
          const auto [known, added] = latest.try_emplace(*ordinal, Refusal{time, words});
          if (!added && known->second.time <= time) known->second = {time, words};
        }
        return text(member(document, "metadata"), "continue");
      },
      [&] { latest.clear(); });
  std::map<std::int64_t, ApiError> refused;
  for (const auto& [ordinal, refusal] : latest) refused.emplace(ordinal, error_in_event(refusal.words));
  return refused;
}

}  // namespace burst::kubernetes
