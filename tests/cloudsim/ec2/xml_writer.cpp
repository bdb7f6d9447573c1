// SPDX-License-Identifier: Apache-2.0
// XML as AWS writes it.
#include "ec2/xml_writer.h"

namespace cloudsim::ec2 {

void XmlWriter::open(std::string_view name) {
  out_ += '<';
  out_ += name;
  out_ += '>';
}

void XmlWriter::close(std::string_view name) {
  out_ += "</";
  out_ += name;
  out_ += '>';
}

void XmlWriter::text(std::string_view name, std::string_view value) {
  open(name);
  out_ += value.find_first_of("&<>\"") == std::string_view::npos ? std::string(value) : xml_escaped(value);
  close(name);
}

std::string xml_escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

}  // namespace cloudsim::ec2
