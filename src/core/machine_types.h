// SPDX-License-Identifier: Apache-2.0
// What the names of Compute Engine's machine types and accelerators say.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace burst {

struct MachineType {
  int cpus = 0;
  long long memory_mib = 0;  ///< of the machine; its operating system sees less
  std::string gpu;           ///< Slurm's type of the GPUs that belong to it: `h200`; empty: none
  int gpus = 0;
};

/// `n2-standard-8`, `n2-custom-8-32768`, `a3-ultragpu-8g`; nothing for a name that does not say it for sure.
std::optional<MachineType> machine_type(std::string_view name);

/// The type for Slurm's Gres of a GPU as Google names it, the model without vendor and memory: `NVIDIA_H200_141GB` and
/// `nvidia-h200-141gb` give `h200`, `NVIDIA_TESLA_T4` `t4`, `NVIDIA_RTX_PRO_6000` `rtxpro6000`. Empty when it is no GPU
/// of NVIDIA.
std::string gpu_type(std::string_view accelerator);

/// RealMemory for a machine: 95 %, what is left when firmware and kernel have taken theirs, with room to spare; a node
/// that registers with less than its RealMemory is not used by Slurm.
long long real_memory(const MachineType& machine);

}  // namespace burst
