// SPDX-License-Identifier: Apache-2.0
// What is remembered of a node group between runs, as JSON; and when it pauses.
#include "core/group_memory.h"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include "burst/text.h"

namespace burst {
namespace {

using nlohmann::json;
using std::chrono::seconds;
using std::chrono::sys_seconds;

json number_of(sys_seconds time) { return time.time_since_epoch().count(); }
/// Within 30,000 years: what is computed from a time must not overflow.
seconds seconds_of(const json& number) {
  return seconds(std::clamp<std::int64_t>(number.get<std::int64_t>(), 0, 1'000'000'000'000));
}
sys_seconds time_of(const json& number) { return sys_seconds(seconds_of(number)); }

json json_of(const CoolDown& cool_down) {
  json object{{"code", cool_down.code},
              {"message", cool_down.message},
              {"until", number_of(cool_down.until)},
              {"length", cool_down.length.count()}};
  if (cool_down.probing_since) object["probing_since"] = number_of(*cool_down.probing_since);
  return object;
}

CoolDown cool_down_of(const json& object) {
  CoolDown cool_down;
  cool_down.code = object.at("code").get<std::string>();
  cool_down.message = object.at("message").get<std::string>();
  cool_down.until = time_of(object.at("until"));
  cool_down.length = seconds_of(object.at("length"));
  if (object.contains("probing_since")) cool_down.probing_since = time_of(object.at("probing_since"));
  return cool_down;
}

GroupMemory memory_of(const json& object) {
  GroupMemory memory;
  if (object.contains("cool_down")) memory.cool_down = cool_down_of(object.at("cool_down"));
  memory.last_length = seconds_of(object.value("last_length", json(0)));
  memory.bootstrap_failures = object.value("bootstrap_failures", 0);
  memory.invalid_registrations = object.value("invalid_registrations", 0);
  const auto member = [&](const char* key) { return object.value(key, json::object()); };
  const json booting = member("booting"), sightings = member("sightings"), machines = member("machines_since"),
             expires = member("expires");
  for (const auto& [node, machine] : booting.items()) memory.booting[node] = machine.get<std::string>();
  for (const auto& [node, sighting] : sightings.items()) {
    memory.sightings[node] = {sighting.at("state").get<std::string>(), time_of(sighting.at("since")),
                              sighting.at("passes").get<int>()};
  }
  for (const auto& [node, time] : expires.items()) memory.expires[node] = time_of(time);
  for (const auto& [machine, since] : machines.items()) memory.machines_since[machine] = time_of(since);
  return memory;
}

}  // namespace

GroupMemory parse_group_memory(std::string_view text) {
  try {
    return memory_of(json::parse(text));
  } catch (const json::exception&) {
    return {};
  }
}

std::string to_json(const GroupMemory& memory) {
  json object = json::object();
  if (memory.cool_down) object["cool_down"] = json_of(*memory.cool_down);
  if (memory.last_length.count() != 0) object["last_length"] = memory.last_length.count();
  if (memory.bootstrap_failures != 0) object["bootstrap_failures"] = memory.bootstrap_failures;
  if (memory.invalid_registrations != 0) object["invalid_registrations"] = memory.invalid_registrations;
  if (!memory.booting.empty()) object["booting"] = memory.booting;
  for (const auto& [node, sighting] : memory.sightings) {
    object["sightings"][node] = {
        {"state", sighting.state}, {"since", number_of(sighting.since)}, {"passes", sighting.passes}};
  }
  for (const auto& [node, time] : memory.expires) object["expires"][node] = number_of(time);
  for (const auto& [machine, since] : memory.machines_since) object["machines_since"][machine] = number_of(since);
  // What a cloud said may not be UTF-8; a replaced byte in a message is no loss.
  return object.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

bool record_refusal(GroupMemory& memory, const std::string& code, const std::string& message, sys_seconds now,
                    const Timing& timing) {
  if (is_closed(memory, now)) return false;
  const auto& running = memory.cool_down;
  const seconds before = running ? std::max(running->length, memory.last_length) : memory.last_length;
  const seconds length =
      before.count() == 0 ? timing.cool_down : std::min(before * 2, std::max(timing.max_cool_down, timing.cool_down));
  memory.cool_down = CoolDown{one_line(code, 80), one_line(message), now + length, length, std::nullopt};
  memory.last_length = length;
  return true;
}

bool is_closed(const GroupMemory& memory, sys_seconds now) {
  return memory.cool_down && !memory.cool_down->probing_since && now < memory.cool_down->until;
}

void record_success(GroupMemory& memory) {
  if (!memory.cool_down) {
    if (memory.bootstrap_failures == 0) memory.last_length = seconds(0);
  } else if (memory.cool_down->probing_since && memory.cool_down->code != kBootstrapFailing) {
    memory.cool_down.reset();
    memory.last_length = seconds(0);
  }
}

}  // namespace burst
