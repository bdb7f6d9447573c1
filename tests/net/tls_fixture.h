// SPDX-License-Identifier: Apache-2.0
// A certificate authority of the tests' own, in a folder that goes with the test.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>

#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include "curl_fixture.h"

namespace burst::net {

template <auto Free>
struct Freed {
  template <typename T>
  void operator()(T* object) const {
    Free(object);
  }
};
using Key = std::unique_ptr<EVP_PKEY, Freed<EVP_PKEY_free>>;
using Certificate = std::unique_ptr<X509, Freed<X509_free>>;

inline void add_extension(X509* certificate, int kind, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, certificate, certificate, nullptr, nullptr, 0);
  auto* extension = X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str());
  X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
}

/// Signed by `issuer_key`; an empty `host` makes an authority.
inline Certificate make_certificate(const std::string& name, const std::string& host, EVP_PKEY* key, X509* issuer,
                                    EVP_PKEY* issuer_key) {
  static long serial = 1;
  Certificate certificate(X509_new());
  X509_set_version(certificate.get(), 2);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), serial++);
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -3600);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), 3600);
  X509_set_pubkey(certificate.get(), key);
  auto* subject = X509_get_subject_name(certificate.get());
  X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8,
                             reinterpret_cast<const unsigned char*>(name.c_str()),  // NOLINT: OpenSSL's idea of text
                             -1, -1, 0);
  X509_set_issuer_name(certificate.get(), issuer == nullptr ? subject : X509_get_subject_name(issuer));
  if (host.empty()) {
    add_extension(certificate.get(), NID_basic_constraints, "critical,CA:TRUE");
    add_extension(certificate.get(), NID_key_usage, "critical,keyCertSign");
  } else {
    add_extension(certificate.get(), NID_subject_alt_name, host);
  }
  X509_sign(certificate.get(), issuer_key, EVP_sha256());
  return certificate;
}

class CurlTls : public ::testing::Test {
 protected:
  CurlTls() {
    std::string name = (std::filesystem::temp_directory_path() / "burst-tls-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
    ca_ = make_certificate("Test CA", "", ca_key_.get(), nullptr, ca_key_.get());
    ca_file_ = write("ca.pem", ca_.get());
    server_key_file_ = write_key("server.key", key_.get());
  }
  ~CurlTls() override { std::filesystem::remove_all(folder_); }

  std::string write(const std::string& name, X509* certificate) {
    auto path = (folder_ / name).string();
    auto* file = std::fopen(path.c_str(), "w");
    PEM_write_X509(file, certificate);
    std::fclose(file);
    return path;
  }
  std::string write_key(const std::string& name, EVP_PKEY* key) {
    auto path = (folder_ / name).string();
    auto* file = std::fopen(path.c_str(), "w");
    PEM_write_PrivateKey(file, key, nullptr, nullptr, 0, nullptr, nullptr);
    std::fclose(file);
    return path;
  }
  static std::string text_of(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  /// A server certificate of our CA for `host` ("IP:127.0.0.1").
  std::string server_certificate(const std::string& host) {
    return write("server.pem", make_certificate("server", host, key_.get(), ca_.get(), ca_key_.get()).get());
  }

  Certificate client_certificate(EVP_PKEY* key) {
    return make_certificate("client", "DNS:client", key, ca_.get(), ca_key_.get());
  }

  std::filesystem::path folder_;
  Key ca_key_{EVP_EC_gen("P-256")}, key_{EVP_EC_gen("P-256")};
  Certificate ca_;
  std::string ca_file_, server_key_file_;
};

template <typename Server>
void serve_hello(TestServer<Server>& server) {
  server.server.Get(
      "/", [](const httplib::Request&, httplib::Response& response) { response.set_content("hello", "text/plain"); });
  server.start();
}

}  // namespace burst::net
