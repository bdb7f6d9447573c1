// SPDX-License-Identifier: Apache-2.0
// What the names of Compute Engine's machine types and accelerators say.
#include "core/machine_types.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <vector>

namespace burst {

namespace {

constexpr long long kMibAGib = 1024;

/// https://cloud.google.com/compute/docs/accelerator-optimized-machines, and the sizes that break their series' rule.
struct NamedType {
  std::string_view name;
  int cpus;
  long long memory_gib;
  std::string_view gpu;
  int gpus;
};
constexpr auto kNamedTypes =
    std::to_array<NamedType>({{"a4-highgpu-8g", 224, 3968, "b200", 8},  {"a3-ultragpu-8g", 224, 2952, "h200", 8},
                              {"a3-megagpu-8g", 208, 1872, "h100", 8},  {"a3-highgpu-8g", 208, 1872, "h100", 8},
                              {"a3-highgpu-4g", 104, 936, "h100", 4},   {"a3-highgpu-2g", 52, 468, "h100", 2},
                              {"a3-highgpu-1g", 26, 234, "h100", 1},    {"a3-edgegpu-8g", 208, 1872, "h100", 8},
                              {"a2-ultragpu-8g", 96, 1360, "a100", 8},  {"a2-ultragpu-4g", 48, 680, "a100", 4},
                              {"a2-ultragpu-2g", 24, 340, "a100", 2},   {"a2-ultragpu-1g", 12, 170, "a100", 1},
                              {"a2-megagpu-16g", 96, 1360, "a100", 16}, {"a2-highgpu-8g", 96, 680, "a100", 8},
                              {"a2-highgpu-4g", 48, 340, "a100", 4},    {"a2-highgpu-2g", 24, 170, "a100", 2},
                              {"a2-highgpu-1g", 12, 85, "a100", 1},     {"g2-standard-4", 4, 16, "l4", 1},
                              {"g2-standard-8", 8, 32, "l4", 1},        {"g2-standard-12", 12, 48, "l4", 1},
                              {"g2-standard-16", 16, 64, "l4", 1},      {"g2-standard-24", 24, 96, "l4", 2},
                              {"g2-standard-32", 32, 128, "l4", 1},     {"g2-standard-48", 48, 192, "l4", 4},
                              {"g2-standard-96", 96, 384, "l4", 8},     {"h3-standard-88", 88, 352, "", 0},
                              {"n2-highmem-128", 128, 864, "", 0}});

/// Memory of a CPU in MiB, for the series whose sizes all follow one rule.
struct Series {
  std::string_view name;
  long long standard, highmem, highcpu;  ///< 0: there is none
};
constexpr auto kSeries = std::to_array<Series>({{"n1", 3840, 6656, 0},
                                                {"n2", 4096, 8192, 1024},
                                                {"n2d", 4096, 8192, 1024},
                                                {"n4", 4096, 8192, 2048},
                                                {"e2", 4096, 8192, 1024},
                                                {"c2", 4096, 0, 0},
                                                {"c2d", 4096, 8192, 2048},
                                                {"c3", 4096, 8192, 2048},
                                                {"c3d", 4096, 8192, 2048},
                                                {"c4a", 4096, 8192, 2048},
                                                {"t2d", 4096, 0, 0},
                                                {"t2a", 4096, 0, 0}});

std::vector<std::string_view> split(std::string_view text, std::string_view separators) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const auto end = std::min(text.find_first_of(separators), text.size());
    parts.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

/// A count above 0; 0 for anything else.
int number(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && value > 0 ? value : 0;
}

long long memory_a_cpu(const Series& series, std::string_view kind) {
  if (kind == "standard") return series.standard;
  if (kind == "highmem") return series.highmem;
  return kind == "highcpu" ? series.highcpu : 0;
}

}  // namespace

std::optional<MachineType> machine_type(std::string_view name) {
  for (const auto& row : kNamedTypes) {
    if (row.name == name) return MachineType{row.cpus, row.memory_gib * kMibAGib, std::string(row.gpu), row.gpus};
  }
  const auto parts = split(name, "-");
  const auto series = std::find_if(kSeries.begin(), kSeries.end(),
                                   [&](const auto& row) { return !parts.empty() && row.name == parts[0]; });
  if (series == kSeries.end()) return std::nullopt;
  if (parts.size() == 4 && parts[1] == "custom") {
    const int cpus = number(parts[2]), memory = number(parts[3]);
    return cpus > 0 && memory > 0 ? std::optional(MachineType{cpus, memory, "", 0}) : std::nullopt;
  }
  if (parts.size() != 3) return std::nullopt;
  const int cpus = number(parts[2]);
  const long long memory = memory_a_cpu(*series, parts[1]);
  if (cpus == 0 || memory == 0) return std::nullopt;
  return MachineType{cpus, cpus * memory, "", 0};
}

std::string gpu_type(std::string_view accelerator) {
  std::string lower(accelerator);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  const auto parts = split(lower, "_-");
  if (parts.empty() || parts[0] != "nvidia") return "";
  std::string type;
  for (const auto part : parts) {
    const bool is_memory = part.ends_with("gb") && number(part.substr(0, part.size() - 2)) > 0;
    if (part != "nvidia" && part != "tesla" && part != "mega" && !is_memory) type += part;
  }
  return type;
}

long long real_memory(const MachineType& machine) {
  constexpr long long percent = 95, whole = 100;
  return machine.memory_mib * percent / whole;
}

}  // namespace burst
