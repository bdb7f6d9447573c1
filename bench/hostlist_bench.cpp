// SPDX-License-Identifier: Apache-2.0
// How long hostlists take to expand and to fold.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "burst/hostlist.h"

namespace {

/// Ranges as wide as Slurm takes them: the nodes of a big job.
std::string wide_ranges(std::int64_t count) {
  constexpr std::int64_t widest = 65536;
  std::string list = "aws-node-[";
  for (std::int64_t first = 0; first < count; first += widest) {
    if (first > 0) list += ',';
    list += std::to_string(first) + "-" + std::to_string(std::min(first + widest, count) - 1);
  }
  return list + "]";
}

/// Every third node is missing: no name has two neighbours.
std::string with_gaps(std::int64_t count) {
  std::string list = "aws-node-[";
  for (std::int64_t i = 0; i < count; ++i) {
    if (i > 0) list += ',';
    list += std::to_string(i + i / 2);
  }
  return list + "]";
}

using MakeList = std::string (*)(std::int64_t);

void expand(benchmark::State& state, MakeList make) {
  const std::string list = make(state.range(0));
  for ([[maybe_unused]] auto _ : state) benchmark::DoNotOptimize(burst::expand_hostlist(list));
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

void fold(benchmark::State& state, MakeList make) {
  const std::vector<std::string> names = burst::expand_hostlist(make(state.range(0)));
  for ([[maybe_unused]] auto _ : state) benchmark::DoNotOptimize(burst::fold_hostlist(names));
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

}  // namespace

BENCHMARK_CAPTURE(expand, ranges, wide_ranges)->Arg(10)->Arg(1000)->Arg(100000);
BENCHMARK_CAPTURE(expand, gaps, with_gaps)->Arg(10)->Arg(1000)->Arg(100000);
BENCHMARK_CAPTURE(fold, ranges, wide_ranges)->Arg(10)->Arg(1000)->Arg(100000);
BENCHMARK_CAPTURE(fold, gaps, with_gaps)->Arg(10)->Arg(1000)->Arg(100000);
