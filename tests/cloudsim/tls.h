// SPDX-License-Identifier: Apache-2.0
// The server's side of TLS: certificates that one authority signed, and what a connection's bytes become.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include <sys/types.h>

struct ssl_ctx_st;
struct ssl_st;

namespace cloudsim {

struct Certificate {
  std::string certificate;  ///< PEM
  std::string key;          ///< PEM
};

/// Keys and certificates in PEM, good for a year from an hour ago.
class CertificateAuthority {
 public:
  CertificateAuthority();
  ~CertificateAuthority();
  CertificateAuthority(const CertificateAuthority&) = delete;
  CertificateAuthority& operator=(const CertificateAuthority&) = delete;

  std::string certificate() const;  ///< its own
  /// `alternative_names` as OpenSSL writes them, `DNS:localhost,IP:127.0.0.1`: a server's; none: a client's.
  Certificate issue(const std::string& common_name, const std::vector<std::string>& organizations,
                    const std::string& alternative_names = "") const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Speaks TLS 1.2 and 1.3, HTTP/1.1 only; asks for a client certificate and does without one.
class TlsContext {
 public:
  TlsContext(const CertificateAuthority& authority, const Certificate& own);

 private:
  friend class TlsSession;
  std::shared_ptr<ssl_ctx_st> context_;
};

/// One connection over a non-blocking socket, which stays its owner's.
class TlsSession {
 public:
  TlsSession(const TlsContext& context, int fd);

  /// As recv() and send(): 0 is the end, negative with errno EAGAIN asks to come again.
  ssize_t read(char* data, std::size_t size);
  ssize_t write(const char* data, std::size_t size);
  void shut_down();  ///< tells the client that nothing more comes
  std::string peer_name() const;
  std::vector<std::string> peer_organizations() const;

 private:
  ssize_t result_of(int result);
  std::shared_ptr<ssl_st> session_;
};

}  // namespace cloudsim
