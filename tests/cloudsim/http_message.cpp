// SPDX-License-Identifier: Apache-2.0
// HTTP/1.1 text to messages and back; as much of it as clients of the simulated clouds send.
#include "http_message.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <optional>

#include <fmt/format.h>

namespace cloudsim {

namespace {

constexpr std::size_t kMaxHead = std::size_t{64} << 10U;
constexpr std::size_t kMaxBody = std::size_t{64} << 20U;

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return out;
}

std::string_view trim(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) {
    return {};
  }
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

bool parse_request_line(std::string_view line, HttpRequest& request) {
  const auto first = line.find(' ');
  const auto second = line.rfind(' ');
  if (first == std::string_view::npos || second == first || !line.substr(second + 1).starts_with("HTTP/1.")) {
    return false;
  }
  const auto target = line.substr(first + 1, second - first - 1);
  const auto mark = target.find('?');
  request.method = line.substr(0, first);
  request.path = target.substr(0, mark);
  request.query = mark == std::string_view::npos ? "" : target.substr(mark + 1);
  return !request.method.empty() && request.path.starts_with('/');
}

bool parse_head(std::string_view head, HttpRequest& request) {
  auto end = head.find("\r\n");
  if (!parse_request_line(head.substr(0, end), request)) {
    return false;
  }
  while (end != std::string_view::npos) {
    head.remove_prefix(end + 2);
    end = head.find("\r\n");
    const auto line = head.substr(0, end);
    const auto colon = line.find(':');
    if (colon == std::string_view::npos) {
      return line.empty();
    }
    request.headers.emplace_back(lower(line.substr(0, colon)), trim(line.substr(colon + 1)));
  }
  return true;
}

std::optional<std::size_t> body_length(const HttpRequest& request) {
  const auto text = request.header("content-length");
  if (text.empty()) {
    return request.header("transfer-encoding").empty() ? std::optional<std::size_t>{0} : std::nullopt;
  }
  std::size_t length = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), length);
  if (result.ec != std::errc{} || result.ptr != text.data() + text.size() || length > kMaxBody) {
    return std::nullopt;
  }
  return length;
}

enum class Chunks { complete, incomplete, malformed };

/// The body that starts at `at` in chunks, put together; `at` moves behind it.
Chunks read_chunks(const std::string& input, std::size_t& at, std::string& body) {
  for (;;) {
    const auto line_end = input.find("\r\n", at);
    if (line_end == std::string::npos) {
      return Chunks::incomplete;
    }
    std::size_t size = 0;
    const auto result = std::from_chars(input.data() + at, input.data() + line_end, size, 16);
    if (result.ec != std::errc{} || size > kMaxBody) {
      return Chunks::malformed;
    }
    if (input.size() < line_end + 2 + size + 2) {
      return Chunks::incomplete;
    }
    body.append(input, line_end + 2, size);
    at = line_end + 2 + size + 2;  // no client sends trailers: the blank line follows at once
    if (size == 0) {
      return Chunks::complete;
    }
  }
}

std::string_view reason(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 201:
      return "Created";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 409:
      return "Conflict";
    case 410:
      return "Gone";
    case 412:
      return "Precondition Failed";
    case 422:
      return "Unprocessable Entity";
    case 429:
      return "Too Many Requests";
    case 500:
      return "Internal Server Error";
    case 503:
      return "Service Unavailable";
    default:
      return "Other";
  }
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') {
    return c - '0';
  }
  if (c >= 'a' && c <= 'f') {
    return c - 'a' + 10;
  }
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

}  // namespace

std::string_view HttpRequest::header(std::string_view name) const {
  const auto found = std::find_if(headers.begin(), headers.end(), [&](const auto& h) { return h.first == name; });
  return found == headers.end() ? std::string_view{} : std::string_view{found->second};
}

Parsed parse_request(std::string& input, HttpRequest& request) {
  const auto end = input.find("\r\n\r\n");
  if (end == std::string::npos) {
    return input.size() > kMaxHead ? Parsed::malformed : Parsed::incomplete;
  }
  request = {};
  if (!parse_head(std::string_view(input).substr(0, end), request)) {
    return Parsed::malformed;
  }
  if (request.header("transfer-encoding") == "chunked") {
    std::size_t at = end + 4;
    const auto chunks = read_chunks(input, at, request.body);
    if (chunks == Chunks::complete) {
      input.erase(0, at);
    }
    return chunks == Chunks::complete     ? Parsed::complete
           : chunks == Chunks::incomplete ? Parsed::incomplete
                                          : Parsed::malformed;
  }
  const auto length = body_length(request);
  if (!length) {
    return Parsed::malformed;
  }
  const auto begin = end + 4;
  if (input.size() - begin < *length) {
    return Parsed::incomplete;
  }
  request.body = input.substr(begin, *length);
  input.erase(0, begin + *length);
  return Parsed::complete;
}

std::string serialize(const HttpReply& reply, bool keep_alive) {
  std::string out;
  out.reserve(reply.body.size() + 256);
  fmt::format_to(std::back_inserter(out), "HTTP/1.1 {} {}\r\nContent-Type: {}\r\nContent-Length: {}\r\n", reply.status,
                 reason(reply.status), reply.content_type, reply.body.size());
  for (const auto& [name, value] : reply.headers) {
    fmt::format_to(std::back_inserter(out), "{}: {}\r\n", name, value);
  }
  out += keep_alive ? "\r\n" : "Connection: close\r\n\r\n";
  out += reply.body;
  return out;
}

std::string serialize_stream_head(const HttpReply& reply) {
  auto out = fmt::format("HTTP/1.1 {} {}\r\nContent-Type: {}\r\nTransfer-Encoding: chunked\r\n", reply.status,
                         reason(reply.status), reply.content_type);
  for (const auto& [name, value] : reply.headers) {
    fmt::format_to(std::back_inserter(out), "{}: {}\r\n", name, value);
  }
  return out + "\r\n";
}

std::string serialize_chunk(std::string_view text) { return fmt::format("{:x}\r\n{}\r\n", text.size(), text); }

std::string percent_decode(std::string_view text, bool plus_is_space) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const int high = text[i] == '%' && i + 2 < text.size() ? hex_digit(text[i + 1]) : -1;
    const int low = high >= 0 ? hex_digit(text[i + 2]) : -1;
    if (low >= 0) {
      out += static_cast<char>(high * 16 + low);
      i += 2;
    } else {
      out += plus_is_space && text[i] == '+' ? ' ' : text[i];
    }
  }
  return out;
}

std::map<std::string, std::string> parse_form(std::string_view text) {
  std::map<std::string, std::string> out;
  while (!text.empty()) {
    const auto end = text.find('&');
    const auto pair = text.substr(0, end);
    const auto equals = pair.find('=');
    if (!pair.empty()) {
      out[percent_decode(pair.substr(0, equals), true)] =
          equals == std::string_view::npos ? "" : percent_decode(pair.substr(equals + 1), true);
    }
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return out;
}

}  // namespace cloudsim
