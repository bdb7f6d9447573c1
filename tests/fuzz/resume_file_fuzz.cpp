// SPDX-License-Identifier: Apache-2.0
// SLURM_RESUME_FILE.
#include "burst/slurm.h"
#include "fuzz_input.h"

using namespace burst::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  only_errors([&] {
    for (const auto& job : burst::parse_resume_file(text_of(data, size))) require(job.id != 0, "a job has a number");
  });
  return 0;
}
