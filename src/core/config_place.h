// SPDX-License-Identifier: Apache-2.0
// A value of a configuration file together with where it stands, read with checks that report instead of throwing.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "burst/config.h"

namespace burst {

/// One value in one file. Every check that fails appends one problem and yields nothing (or the fallback), so that the
/// reader goes on and finds the next. The document and the list of problems outlive it.
class ConfigPlace {
 public:
  ConfigPlace(std::string file, const nlohmann::ordered_json& document, std::vector<ConfigProblem>& problems);

  const nlohmann::ordered_json& value() const { return *value_; }
  /// `"partitions.json": /Partitions/0`
  std::string location() const;

  bool is_object() const;
  bool has(std::string_view key) const;
  /// The object's member, which must be there; nothing, and a problem, when it is not.
  std::optional<ConfigPlace> required(std::string_view key) const;
  /// The object's member, if it is there.
  std::optional<ConfigPlace> optional(std::string_view key) const;
  /// The elements of an array, the members of an object.
  std::vector<ConfigPlace> children() const;
  /// The member's own name.
  const std::string& name() const { return name_; }

  bool expect_object() const;
  bool expect_array() const;
  std::optional<std::string> string() const;
  /// A string of letters and digits, at least one.
  std::optional<std::string> plain_name() const;
  std::optional<long long> integer(long long least, long long most) const;
  std::optional<bool> boolean() const;
  std::optional<double> positive_number() const;
  /// {"name": "text"}; the values are not shown in problems: they may be secrets.
  std::map<std::string, std::string> strings() const;
  /// Options of slurm.conf: strings, numbers and booleans, in their order, each fit for one line.
  SlurmOptions slurm_options() const;

  /// `reading "FILE": POINTER: expected WHAT, found VALUE`
  void expected(std::string_view what) const;
  /// `reading "FILE": POINTER: TEXT`
  void problem(std::string_view text, bool fatal = true) const;
  /// Warns of each member whose key is not in `known`, with "did you mean".
  void warn_unknown(std::span<const std::string_view> known) const;

 private:
  ConfigPlace(const ConfigPlace& parent, const nlohmann::ordered_json& value, std::string name);

  std::string file_, pointer_, name_;
  const nlohmann::ordered_json* value_;
  std::vector<ConfigProblem>* problems_;
};

}  // namespace burst
