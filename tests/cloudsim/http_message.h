// SPDX-License-Identifier: Apache-2.0
// A request as it came and a reply as it will go out.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "event_loop.h"

namespace cloudsim {

using HttpHeaders = std::vector<std::pair<std::string, std::string>>;  ///< names in lower case

struct HttpRequest {
  std::string method;
  std::string path;   ///< as sent, still percent-encoded
  std::string query;  ///< what follows the '?', as sent
  HttpHeaders headers;
  std::string body;
  std::string peer_name{};                        ///< common name of a client certificate that our authority signed
  std::vector<std::string> peer_organizations{};  ///< its organizations
  /// The first header of that (lower-case) name, or an empty view.
  std::string_view header(std::string_view name) const;
};

/// How the bytes of a reply reach the client.
enum class Delivery {
  whole,
  drop,     ///< the connection is closed without a byte
  cut,      ///< half of the body (of a stream: of its first chunk), then the connection is closed
  dribble,  ///< in pieces, spread over `dribble_over`
};

/// The open end of a reply that goes on as long as the server likes. Both do nothing once the client is gone.
struct ReplyStream {
  std::function<bool(std::string_view)> write;  ///< one chunk; false: the client is gone
  std::function<void()> end;
};

struct HttpReply {
  using Deliver = std::function<void(HttpReply)>;
  int status = 200;
  std::string content_type = "text/plain";
  std::string body;
  HttpHeaders headers{};
  Delivery delivery = Delivery::whole;
  Millis delay{0};  ///< the connection waits, others don't
  Millis dribble_over{0};
  /// Set: the reply itself is not there yet. Called at once with what gives it to the client, later; but for `done`,
  /// nothing else in this reply counts.
  std::function<void(Deliver)> deferred{};
  /// Set: after the head come the chunks that are written to the stream, in place of `body`. Called once.
  std::function<void(ReplyStream)> stream{};
  std::function<void()> done{};  ///< called once: the reply is out, or its client is gone
};

/// One parsed request from the head of `input`, which is consumed; `incomplete` asks for more bytes.
enum class Parsed { complete, incomplete, malformed };
Parsed parse_request(std::string& input, HttpRequest& request);

/// Status line, headers and body, with Content-Length.
std::string serialize(const HttpReply& reply, bool keep_alive);
/// Status line and headers of a reply in chunks.
std::string serialize_stream_head(const HttpReply& reply);
/// One chunk of it; of no text: the last one.
std::string serialize_chunk(std::string_view text);

std::string percent_decode(std::string_view text, bool plus_is_space);
/// `a=1&b=2`, decoded. A name that comes twice keeps its last value.
std::map<std::string, std::string> parse_form(std::string_view text);

}  // namespace cloudsim
