// SPDX-License-Identifier: Apache-2.0
// XML as AWS writes it: elements and text, nothing else.
#pragma once

#include <string>
#include <string_view>

namespace cloudsim::ec2 {

class XmlWriter {
 public:
  void open(std::string_view name);
  void close(std::string_view name);
  void text(std::string_view name, std::string_view value);
  void boolean(std::string_view name, bool value) { text(name, value ? "true" : "false"); }
  void raw(std::string_view xml) { out_ += xml; }
  /// Calls `inside` between the tags.
  template <typename Inside>
  void element(std::string_view name, Inside inside) {
    open(name);
    inside();
    close(name);
  }
  std::string take() { return std::move(out_); }

 private:
  std::string out_;
};

std::string xml_escaped(std::string_view text);

}  // namespace cloudsim::ec2
