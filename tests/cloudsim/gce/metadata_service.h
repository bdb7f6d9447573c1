// SPDX-License-Identifier: Apache-2.0
// The metadata server that machines of Compute Engine ask about themselves.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "gce/google_auth.h"
#include "http_message.h"

namespace cloudsim::gce {

/// What it says about one machine.
struct MachineMetadata {
  std::string name, id, hostname, zone, type, address;  ///< zone: "us-central1-a"
  std::string project, project_number;
  std::string service_account;                    ///< email
  std::map<std::string, std::string> attributes;  ///< of the instance: its metadata items
};

class MetadataService {
 public:
  /// The machine of that name; nothing: there is none (any more). "head": the one that all this runs on.
  using Lookup = std::function<std::optional<MachineMetadata>(const std::string& name)>;

  /// `auth` outlives the service.
  MetadataService(GoogleAuth& auth, Lookup lookup) : auth_(&auth), lookup_(std::move(lookup)) {}

  /// `/computeMetadata/...`, asked by the head node, and `/gce-metadata/NAME/computeMetadata/...`, by machine NAME,
  /// whose GCE_METADATA_HOST is `HOST:PORT/gce-metadata/NAME`.
  static bool is_asked(const HttpRequest& request);
  /// Answers a request for which is_asked() is true.
  HttpReply answer(const HttpRequest& request);

 private:
  GoogleAuth* auth_;
  Lookup lookup_;
};

}  // namespace cloudsim::gce
