// SPDX-License-Identifier: Apache-2.0
// Instance templates: those that are there from the start in every project, and those that were inserted.
#pragma once

#include <map>
#include <string>

#include <nlohmann/json.hpp>

#include "gce/cloud.h"
#include "gce/model.h"

namespace cloudsim::gce {

class Templates {
 public:
  using Map = std::map<std::string, Template>;  ///< by resource, "projects/P/global/instanceTemplates/NAME"

  explicit Templates(Cloud& cloud) : cloud_(&cloud) {}

  /// By its link, full or from "projects/" or "global/" on. Throws ApiError; `field` is the one that it came in.
  const Template& resolve(const std::string& project, const std::string& reference, const std::string& field);
  /// Null: there is none.
  const Template* find(const std::string& resource);
  void insert(const std::string& resource, Template made) { templates_[resource] = std::move(made); }
  void erase(const std::string& resource) { templates_.erase(resource); }
  /// Those of one place: "projects/P/global/instanceTemplates/".
  Map below(const std::string& prefix);
  void reset() { templates_.clear(); }

 private:
  void seed(const std::string& project);

  Cloud* cloud_;
  Map templates_;
};

nlohmann::json to_json(const std::string& resource, const Template& found);

}  // namespace cloudsim::gce
