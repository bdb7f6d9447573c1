// SPDX-License-Identifier: Apache-2.0
// Kubernetes' names: of objects, of labels, of what a label may hold.
#pragma once

#include <string>
#include <string_view>

namespace burst::kubernetes {

/// RFC 1123: `[a-z0-9]([-a-z0-9]*[a-z0-9])?`, at most 63 characters.
bool is_dns_label(std::string_view text);
/// DNS labels with dots between them, at most 253 characters.
bool is_dns_subdomain(std::string_view text);
/// A label's or an annotation's key: `name`, or `prefix/name` with a DNS subdomain before the slash.
bool is_label_key(std::string_view text);
/// `[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?`, at most 63 characters, or empty.
bool is_label_value(std::string_view text);
/// Whether slurm-burst sets this label or annotation itself.
bool is_own_key(std::string_view key);

/// The nearest that a label may hold: '-' in place of other characters, cut to 63, ends that it may not have taken off.
std::string as_label_text(std::string_view text);

}  // namespace burst::kubernetes
