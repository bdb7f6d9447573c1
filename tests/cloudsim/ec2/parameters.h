// SPDX-License-Identifier: Apache-2.0
// The parameters of an EC2 Query request, read by type; what does not fit becomes the error that AWS gives.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "ec2/api_error.h"
#include "faults.h"

namespace cloudsim::ec2 {

using Tags = std::map<std::string, std::string>;

/// Throws UnknownParameter for a name that botocore's model of the action does not have; InvalidAction for an action
/// that is not simulated.
void check_names(const std::string& action, const CallParameters& parameters);

/// A view of the parameters below a prefix: `at("Overrides.2.")`. The map outlives it.
class Parameters {
 public:
  explicit Parameters(const CallParameters& all, std::string prefix = "") : all_(&all), prefix_(std::move(prefix)) {}

  Parameters at(const std::string& below) const { return Parameters(*all_, prefix_ + below + "."); }
  bool any() const;  ///< something stands below the prefix
  bool has(const std::string& name) const { return all_->count(prefix_ + name) != 0; }
  std::string text(const std::string& name, const std::string& fallback = "") const;
  std::string required(const std::string& name) const;
  std::optional<std::int64_t> integer(const std::string& name, std::int64_t low, std::int64_t high) const;
  std::optional<double> number(const std::string& name) const;
  bool boolean(const std::string& name) const;  ///< absent: false
  /// One of `allowed`, or absent (then the first).
  std::string choice(const std::string& name, const std::vector<std::string>& allowed) const;
  std::vector<std::string> list(const std::string& name) const;       ///< NAME.1, NAME.2 ...
  std::vector<Parameters> structures(const std::string& name) const;  ///< NAME.1., NAME.2. ...
  /// Everything below the prefix, without it.
  CallParameters copy() const;

 private:
  const CallParameters* all_;
  std::string prefix_;
};

struct Filter {
  std::string name;
  std::unordered_set<std::string> exact;
  std::vector<std::string> patterns;  ///< values with * or ?
  bool accepts(const std::string& value) const;
  /// For the names `tag:KEY`, `tag-key`, `tag-value`.
  bool accepts_tags(const Tags& tags) const;
  bool is_about_tags() const;
};

/// Throws InvalidParameterValue for a filter whose name is neither in `names` nor one about tags, FilterLimitExceeded.
std::vector<Filter> parse_filters(const Parameters& parameters, const std::vector<std::string_view>& names);
bool matches_wildcard(std::string_view pattern, std::string_view text);

/// Tag.1.Key, Tag.1.Value ...: throws what AWS refuses (duplicates, `aws:`, lengths, more than 50).
Tags parse_tags(const Parameters& parameters);
/// Keys that instance metadata can't show are refused where tags in metadata are on.
void check_metadata_tag_keys(const Tags& tags);

/// MaxResults and NextToken; `limit` 0: everything.
struct Page {
  std::size_t limit = 0;
  std::uint64_t after = 0;  ///< the position that the page before ended at
};
Page parse_page(const Parameters& parameters, const std::string& ids_name);
std::string page_token(std::uint64_t position);

}  // namespace cloudsim::ec2
