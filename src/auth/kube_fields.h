// SPDX-License-Identifier: Apache-2.0
// Reading the fields of a Kubernetes object, with messages that say where a wrong one stands.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

namespace burst::auth {

/// An object, seen with its place. Refers to the value and lives no longer than it.
class KubeFields {
 public:
  /// Throws Error{code, `FROM: POINTER: expected an object, ...`} when it is none. `from`: `reading "PATH"`.
  KubeFields(const nlohmann::json& value, std::string from, std::string pointer = {},
             std::string code = "InvalidConfig");

  /// Empty when absent or null. A number or a boolean is none: it wants quotes.
  std::string text(std::string_view key) const;
  /// A text that has to be there and not empty.
  std::string needed_text(std::string_view key) const;
  /// False when absent or null.
  bool flag(std::string_view key) const;
  /// Whether it is there, and neither null nor an empty text, list or object.
  bool has(std::string_view key) const;
  /// An empty object when absent or null.
  KubeFields object(std::string_view key) const;
  void for_each(std::string_view key, const std::function<void(const KubeFields&)>& visit) const;
  void for_each_text(std::string_view key, const std::function<void(std::string)>& visit) const;

  const nlohmann::json& value() const { return *value_; }
  const std::string& pointer() const { return pointer_; }
  /// Throws Error{code, `FROM: POINTER/KEY: WHAT`}.
  [[noreturn]] void fail(std::string_view key, const std::string& what) const;

 private:
  const nlohmann::json* find(std::string_view key) const;
  const nlohmann::json* find_list(std::string_view key) const;

  const nlohmann::json* value_;
  std::string from_, pointer_, code_;
};

}  // namespace burst::auth
