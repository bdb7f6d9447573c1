// SPDX-License-Identifier: Apache-2.0
// Compute Engine's names: of projects, regions, zones, labels, and of resources in their several spellings.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace burst::gce {

/// One resource: `projects/P/regions/R/resourcePolicies/NAME`.
struct ResourceName {
  std::string project;
  std::string location;  ///< `global`, `regions/R`, `zones/Z`; empty where the text has none
  std::string name;
};

/// A resource of a collection as users write it: its name alone, `global/COLLECTION/NAME`, `regions/R/COLLECTION/NAME`,
/// `projects/P/...` or the whole URL; nothing for any other text. `project` is the one where the text names none.
std::optional<ResourceName> parse_resource(std::string_view text, std::string_view collection,
                                           std::string_view project);

/// An id such as `my-project-1`, a domain-scoped one (`example.com:my-project`), or a project's number.
bool is_project(std::string_view text);
/// `us-central1`
bool is_region(std::string_view text);
/// A zone of that region: `us-central1-a`, `us-central1-ai1a`.
bool is_zone_of(std::string_view text, std::string_view region);
/// RFC 1035: `[a-z]([-a-z0-9]*[a-z0-9])?`, at most 63 characters.
bool is_dns_label(std::string_view text);
/// At most 63 of [a-z0-9_-]; a key is not empty and begins with a letter.
bool is_label_key(std::string_view text);
bool is_label_value(std::string_view text);

/// Lower case, '-' in place of what no label may have, cut to 63 characters.
std::string as_label_text(std::string_view text);

}  // namespace burst::gce
