// SPDX-License-Identifier: Apache-2.0
// What providers have to know of the texts of tags and labels.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace burst {

/// What stands for the node in a tag or a template, and the other words of one node that a MachineTag may hold.
inline constexpr std::string_view kNodeWord = "{node_name}";
inline constexpr auto kNodeWords = std::to_array<std::string_view>({kNodeWord, "{ip_address}", "{hostname}"});

/// Whether the value differs from node to node: labels that all machines of a request share can't hold it.
bool is_of_the_node(std::string_view value);

/// FNV-1a, the same on every machine and in every release.
std::uint64_t hash_of(std::string_view text, std::uint64_t start = 0xcbf29ce484222325);

}  // namespace burst
