// SPDX-License-Identifier: Apache-2.0
// What a provider's simulation offers to the rest of cloudsim. A new provider is one more of these.
#pragma once

#include <optional>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "http_message.h"

namespace cloudsim {

class SimulatedCloud {
 public:
  virtual ~SimulatedCloud() = default;
  SimulatedCloud() = default;
  SimulatedCloud(const SimulatedCloud&) = delete;
  SimulatedCloud& operator=(const SimulatedCloud&) = delete;

  virtual std::string name() const = 0;  ///< the key of its knobs: "ec2"
  /// Nothing: the request is none of this provider's.
  virtual std::optional<HttpReply> handle(const HttpRequest& request) = 0;
  /// A call of the control API below /_control; nothing: not one of this provider's. Throws std::invalid_argument.
  virtual std::optional<nlohmann::json> control(const HttpRequest& request, const nlohmann::json& body) = 0;
  /// Throws std::invalid_argument or nlohmann::json::exception.
  virtual void set_knobs(const nlohmann::json& values) = 0;
  /// The server listens there; the knobs set so far are those that reset() goes back to.
  virtual void start(const std::string& url) = 0;
  /// Everything as at the start.
  virtual void reset() = 0;
};

}  // namespace cloudsim
