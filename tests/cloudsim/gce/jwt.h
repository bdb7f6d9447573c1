// SPDX-License-Identifier: Apache-2.0
// Service accounts' keys and the assertions signed with them, as Google's side sees them; on purpose no code of
// src/auth.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

struct evp_pkey_st;

namespace cloudsim::gce {

class RsaKey {
 public:
  static RsaKey generate();
  static RsaKey from_pem(const std::string& pem);  ///< a private key; throws std::invalid_argument

  std::string private_pem() const;
  std::string id() const;  ///< 40 hexadecimal digits, as Google's key ids
  /// RS256.
  bool signed_by_this(std::string_view text, std::string_view signature) const;

 private:
  explicit RsaKey(evp_pkey_st* key);
  std::shared_ptr<evp_pkey_st> key_;
};

/// A JSON Web Token, taken apart.
struct Jwt {
  nlohmann::json header, claims;
  std::string signed_text, signature;
};

/// Nothing for what is no JWT.
std::optional<Jwt> parse_jwt(std::string_view text);

}  // namespace cloudsim::gce
