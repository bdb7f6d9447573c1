// SPDX-License-Identifier: Apache-2.0
// What machine types and accelerators say by their names.
#include "core/machine_types.h"

#include <gtest/gtest.h>

namespace burst {
namespace {

TEST(MachineType, SaysCpusAndMemory) {
  struct Row {
    const char* name;
    int cpus;
    long long gib;
  };
  for (const auto& [name, cpus, gib] :
       {Row{"n2-standard-8", 8, 32}, Row{"n2-highmem-16", 16, 128}, Row{"n2-highcpu-32", 32, 32},
        Row{"n2-highmem-128", 128, 864}, Row{"n1-standard-4", 4, 15}, Row{"e2-standard-2", 2, 8},
        Row{"c3-highcpu-176", 176, 352}, Row{"h3-standard-88", 88, 352}, Row{"n2-custom-6-20480", 6, 20},
        Row{"a3-ultragpu-8g", 224, 2952}, Row{"a2-highgpu-1g", 12, 85}, Row{"g2-standard-48", 48, 192}}) {
    const auto machine = machine_type(name);
    ASSERT_TRUE(machine) << name;
    EXPECT_EQ(machine->cpus, cpus) << name;
    EXPECT_EQ(machine->memory_mib, gib * 1024) << name;
  }
}

TEST(MachineType, SaysTheGpusThatBelongToIt) {
  EXPECT_EQ(machine_type("a3-ultragpu-8g")->gpu, "h200");
  EXPECT_EQ(machine_type("a3-ultragpu-8g")->gpus, 8);
  EXPECT_EQ(machine_type("n2-standard-8")->gpus, 0);
}

TEST(MachineType, SaysNothingOfNamesThatItIsNotSureOf) {
  for (const char* name :
       {"", "n2", "n2-standard", "n2-standard-x", "n2-standard-0", "n2-standard-8-lssd", "x9-standard-8",
        "c2-highmem-8", "n1-highcpu-8", "e2-micro", "n2-custom-6", "n2-standard--8", "a3-ultragpu-9g"}) {
    EXPECT_FALSE(machine_type(name)) << name;
  }
}

TEST(MachineType, LeavesTheOperatingSystemItsMemory) {
  EXPECT_EQ(real_memory(*machine_type("n2-standard-8")), 31'129);
  EXPECT_EQ(real_memory(*machine_type("a3-ultragpu-8g")), 2'871'705);
}

TEST(GpuType, IsTheModelWithoutVendorAndMemory) {
  for (const auto& [accelerator, type] :
       std::initializer_list<std::pair<const char*, const char*>>{{"NVIDIA_H200_141GB", "h200"},
                                                                  {"nvidia-h200-141gb", "h200"},
                                                                  {"NVIDIA_H100_80GB", "h100"},
                                                                  {"NVIDIA_H100_MEGA_80GB", "h100"},
                                                                  {"NVIDIA_TESLA_A100", "a100"},
                                                                  {"NVIDIA_A100_80GB", "a100"},
                                                                  {"NVIDIA_L4", "l4"},
                                                                  {"NVIDIA_TESLA_T4", "t4"},
                                                                  {"NVIDIA_GB200", "gb200"},
                                                                  {"NVIDIA_B200", "b200"},
                                                                  {"NVIDIA_RTX_PRO_6000", "rtxpro6000"},
                                                                  {"TPU_V5_LITEPOD", ""},
                                                                  {"ACCELERATOR_TYPE_UNSPECIFIED", ""},
                                                                  {"", ""}}) {
    EXPECT_EQ(gpu_type(accelerator), type) << accelerator;
  }
}

}  // namespace
}  // namespace burst
