// SPDX-License-Identifier: Apache-2.0
// What a pod asks for, in Slurm's words.
#include "providers/kubernetes/pod_resources.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "burst/text.h"

namespace burst::kubernetes {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t kMilli = 1000;

/// What comes behind a quantity's number. (kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity)
constexpr auto kSuffixes = std::to_array<std::pair<std::string_view, double>>({{"", 1},
                                                                               {"n", 1e-9},
                                                                               {"u", 1e-6},
                                                                               {"m", 1e-3},
                                                                               {"k", 1e3},
                                                                               {"M", 1e6},
                                                                               {"G", 1e9},
                                                                               {"T", 1e12},
                                                                               {"P", 1e15},
                                                                               {"E", 1e18},
                                                                               {"Ki", 0x1p10},
                                                                               {"Mi", 0x1p20},
                                                                               {"Gi", 0x1p30},
                                                                               {"Ti", 0x1p40},
                                                                               {"Pi", 0x1p50},
                                                                               {"Ei", 0x1p60}});

constexpr auto kDevices =
    std::to_array<std::pair<std::string_view, std::string_view>>({{"nvidia.com/gpu", "gpu"},
                                                                  {"nvidia.com/gpu.shared", "gpu"},
                                                                  {"amd.com/gpu", "gpu"},
                                                                  {"gpu.intel.com/i915", "gpu"},
                                                                  {"gpu.intel.com/xe", "gpu"},
                                                                  {"google.com/tpu", "tpu"},
                                                                  {"aws.amazon.com/neuron", "neuron"}});
constexpr std::string_view kMig = "nvidia.com/mig-";

/// Adds up one container after the other.
class Summation {
 public:
  void add(const Json& container, const std::string& pointer) {
    const auto found = container.find("resources");
    if (found == container.end() || !found->is_object()) return;
    const Json requests = part(*found, "requests"), limits = part(*found, "limits");
    Json asked = limits;  // where a request is missing
    asked.update(requests);
    for (const auto& [name, value] : asked.items()) {
      const char* from = requests.contains(name) ? "requests" : "limits";
      add_resource(name, value, fmt::format("{}/resources/{}/{}", pointer, from, one_line(name)));
    }
    check_devices(requests, limits, pointer);
  }
  PodResources sums;
  double memory = 0;  ///< thousandths of bytes may not fit in 64 bits
  bool has_memory = false;

 private:
  static Json part(const Json& resources, const char* key) {
    const auto found = resources.find(key);
    return found != resources.end() && found->is_object() ? *found : Json::object();
  }

  static std::string text_of(const Json& value) {
    return value.is_string() ? value.get<std::string>() : value.is_number() ? value.dump() : "";
  }

  void add_resource(const std::string& name, const Json& value, const std::string& pointer) {
    const auto gres = gres_name(name);
    if (name != "cpu" && name != "memory" && gres.empty()) return;
    const auto quantity = milli_quantity(text_of(value));
    if (!quantity) {
      sums.problems.push_back(fmt::format("{}: expected a quantity such as 4 or 16Gi, found {}", pointer,
                                          one_line(value.dump(-1, ' ', true, Json::error_handler_t::replace), 60)));
      return;
    }
    if (name == "cpu") {
      sums.milli_cpus = sums.milli_cpus.value_or(0) + *quantity;
    } else if (name == "memory") {
      has_memory = true;
      memory += static_cast<double>(*quantity) / static_cast<double>(kMilli);
    } else {
      sums.devices[name] += *quantity / kMilli;
    }
  }

  /// Extended resources can't be overcommitted: the API server wants a limit, and a request that is the same or none.
  void check_devices(const Json& requests, const Json& limits, const std::string& pointer) {
    for (const auto& [name, value] : requests.items()) {
      if (gres_name(name).empty()) continue;
      const auto limit = limits.find(name);
      const auto limit_text = limit == limits.end() ? "none" : text_of(*limit);
      if (milli_quantity(limit_text) == milli_quantity(text_of(value))) continue;
      sums.problems.push_back(
          fmt::format("{}/resources: {} has a request of {} and a limit of {}: Kubernetes takes such a resource only "
                      "with a limit as large as its request",
                      pointer, one_line(name), one_line(text_of(value)), one_line(limit_text)));
    }
  }
};

}  // namespace

std::optional<std::int64_t> milli_quantity(std::string_view text) {
  if (text.empty() || (text[0] != '.' && (text[0] < '0' || text[0] > '9'))) return std::nullopt;
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc()) return std::nullopt;
  auto suffix = std::string_view(stop, static_cast<std::size_t>(end - stop));
  const auto known = std::find_if(kSuffixes.begin(), kSuffixes.end(), [&](const auto& s) { return s.first == suffix; });
  if (known == kSuffixes.end()) return std::nullopt;
  constexpr double most = 9e18, noise = 1e-9;
  const double milli = number * known->second * static_cast<double>(kMilli);
  if (!(milli <= most)) return std::nullopt;
  return static_cast<std::int64_t>(std::ceil(milli - noise));
}

std::int64_t PodResources::cpus() const { return milli_cpus ? std::max<std::int64_t>(1, *milli_cpus / kMilli) : 0; }

std::string PodResources::gres() const {
  std::map<std::string, std::int64_t> counts;
  for (const auto& [name, count] : devices) counts[gres_name(name)] += count;
  std::string text;
  for (const auto& [name, count] : counts) {
    if (count > 0) text += fmt::format("{}{}:{}", text.empty() ? "" : ",", name, count);
  }
  return text;
}

PodResources resources_of(const Json& spec) {
  Summation summation;
  const auto containers = spec.find("containers");
  if (containers != spec.end() && containers->is_array()) {
    for (std::size_t i = 0; i < containers->size(); ++i)
      summation.add((*containers)[i], fmt::format("/spec/containers/{}", i));
  }
  constexpr double mebibyte = 0x1p20;
  if (summation.has_memory) summation.sums.memory_mib = static_cast<std::int64_t>(summation.memory / mebibyte);
  return std::move(summation.sums);
}

std::string gres_name(std::string_view resource) {
  for (const auto& [name, gres] : kDevices) {
    if (resource == name) return std::string(gres);
  }
  if (resource.starts_with(kMig) && resource.size() > kMig.size())
    return "gpu:" + std::string(resource.substr(kMig.size()));
  return "";
}

}  // namespace burst::kubernetes
