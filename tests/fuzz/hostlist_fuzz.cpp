// SPDX-License-Identifier: Apache-2.0
// Hostlists: what expands can be written and read again.
#include "burst/hostlist.h"
#include "fuzz_input.h"

using namespace burst::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  only_errors([&] {
    auto names = burst::expand_hostlist(text_of(data, size));
    if (names.size() > 20'000) return;  // slow, and no different from fewer
    require(burst::expand_hostlist(burst::fold_hostlist(names)) == names, "expand(fold(names)) is names");
    burst::sort_hostnames(names);
    const auto sorted = names;
    burst::sort_hostnames(names);
    require(names == sorted, "sorting twice is sorting once");
    require(burst::expand_hostlist(burst::fold_hostlist(sorted)) == sorted, "expand(fold(sorted)) is sorted");
  });
  return 0;
}
