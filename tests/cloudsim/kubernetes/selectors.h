// SPDX-License-Identifier: Apache-2.0
// labelSelector and fieldSelector of list and watch calls.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "kubernetes/resource_type.h"

namespace cloudsim::kubernetes {

class Selector {
 public:
  /// Throws StatusError 400 for a text that an API server refuses.
  static Selector labels(const std::string& text);
  static Selector fields(const ResourceType& type, const std::string& text);
  bool matches(const nlohmann::json& object) const;
  bool empty() const { return terms_.empty(); }

 private:
  enum class Operator { in, not_in, exists, missing };
  struct Term {
    std::string key;
    Operator test = Operator::exists;
    std::vector<std::string> values;
  };
  bool fields_ = false;
  std::vector<Term> terms_;
};

/// Does its `matchLabels` map fit? An empty one fits everything.
bool has_labels(const nlohmann::json& object, const nlohmann::json& wanted);

}  // namespace cloudsim::kubernetes
