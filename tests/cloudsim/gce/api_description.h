// SPDX-License-Identifier: Apache-2.0
// tests/data/compute-v1.json, read once: which methods there are, and which fields each message has.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace cloudsim::gce {

/// A field's or parameter's type, taken from the file's notation ("string", "Disk[]", "map<string,Disk>").
struct FieldType {
  enum class Shape { one, list, map };
  enum class Kind { text, int64, int32, real, boolean, message, any };
  Shape shape = Shape::one;
  Kind kind = Kind::any;
  std::string message;  ///< of Kind::message
};

using Message = std::map<std::string, FieldType>;

struct MethodDescription {
  std::string name, http_method;
  std::vector<std::string> segments;  ///< of the path; "{zone}" stands for any
  std::vector<std::string> required;
  Message parameters;
  std::string body;  ///< message; empty: none
};

struct ApiDescription {
  std::vector<MethodDescription> methods;
  std::map<std::string, Message> messages;
};

const ApiDescription& compute_v1();

std::vector<std::string_view> split(std::string_view text, char separator);

}  // namespace cloudsim::gce
