// SPDX-License-Identifier: Apache-2.0
// The server's side of TLS, by OpenSSL.
#include "tls.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstring>
#include <stdexcept>
#include <string_view>

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

namespace cloudsim {

namespace {

constexpr long kHour = 3600;
constexpr long kYear = 365 * 24 * kHour;

template <auto Free>
struct Deleter {
  template <typename T>
  void operator()(T* object) const {
    Free(object);
  }
};
using Key = std::unique_ptr<EVP_PKEY, Deleter<EVP_PKEY_free>>;
using X509Ptr = std::unique_ptr<X509, Deleter<X509_free>>;
using Bio = std::unique_ptr<BIO, Deleter<BIO_free>>;
using Extension = std::unique_ptr<X509_EXTENSION, Deleter<X509_EXTENSION_free>>;

void check(bool good, const char* what) {
  if (!good) {
    throw std::runtime_error(std::string("TLS: ") + what);
  }
}

std::string text_of(const Bio& bio) {
  char* data = nullptr;
  const auto size = BIO_get_mem_data(bio.get(), &data);
  return {data, static_cast<std::size_t>(size)};
}

std::string to_pem(X509* certificate) {
  const Bio bio(BIO_new(BIO_s_mem()));
  check(PEM_write_bio_X509(bio.get(), certificate) == 1, "writing a certificate");
  return text_of(bio);
}

std::string to_pem(EVP_PKEY* key) {
  const Bio bio(BIO_new(BIO_s_mem()));
  check(PEM_write_bio_PrivateKey(bio.get(), key, nullptr, nullptr, 0, nullptr, nullptr) == 1, "writing a key");
  return text_of(bio);
}

Bio memory_of(const std::string& text) { return Bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size()))); }

void add_name(X509_NAME* name, const char* field, const std::string& value) {
  X509_NAME_add_entry_by_txt(name, field, MBSTRING_UTF8, reinterpret_cast<const unsigned char*>(value.c_str()), -1, -1,
                             0);
}

void add_extension(X509* certificate, X509* issuer, int nid, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  const Extension extension(X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str()));
  check(extension && X509_add_ext(certificate, extension.get(), -1) == 1, "adding an extension");
}

X509Ptr new_certificate(EVP_PKEY* key, const std::string& common_name, const std::vector<std::string>& organizations) {
  static std::atomic<long> serial{1};
  X509Ptr out(X509_new());
  X509_set_version(out.get(), 2);
  ASN1_INTEGER_set(X509_get_serialNumber(out.get()), serial++);
  X509_gmtime_adj(X509_getm_notBefore(out.get()), -kHour);
  X509_gmtime_adj(X509_getm_notAfter(out.get()), kYear);
  X509_set_pubkey(out.get(), key);
  auto* const name = X509_get_subject_name(out.get());
  for (const auto& organization : organizations) {
    add_name(name, "O", organization);
  }
  add_name(name, "CN", common_name);
  return out;
}

std::string asn1_text(X509_NAME_ENTRY* entry) {
  const auto* const data = X509_NAME_ENTRY_get_data(entry);
  return {reinterpret_cast<const char*>(ASN1_STRING_get0_data(data)),
          static_cast<std::size_t>(ASN1_STRING_length(data))};
}

std::vector<std::string> subject_entries(SSL* session, int nid) {
  std::vector<std::string> out;
  const X509Ptr peer(SSL_get1_peer_certificate(session));
  if (!peer) {
    return out;
  }
  auto* const name = X509_get_subject_name(peer.get());
  for (int at = X509_NAME_get_index_by_NID(name, nid, -1); at >= 0; at = X509_NAME_get_index_by_NID(name, nid, at)) {
    out.push_back(asn1_text(X509_NAME_get_entry(name, at)));
  }
  return out;
}

// A client that speaks h2 too must not be told that we do.
int choose_protocol(SSL* /*session*/, const unsigned char** out, unsigned char* out_length, const unsigned char* in,
                    unsigned int in_length, void* /*argument*/) {
  static constexpr std::string_view kHttp11 = "\x08http/1.1";
  unsigned char* chosen = nullptr;
  const int result = SSL_select_next_proto(&chosen, out_length, reinterpret_cast<const unsigned char*>(kHttp11.data()),
                                           static_cast<unsigned int>(kHttp11.size()), in, in_length);
  *out = chosen;
  return result == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_NOACK;
}

}  // namespace

struct CertificateAuthority::State {
  Key key;
  X509Ptr certificate;
};

CertificateAuthority::CertificateAuthority() : state_(std::make_unique<State>()) {
  state_->key.reset(EVP_EC_gen("P-256"));
  check(state_->key != nullptr, "making a key");
  state_->certificate = new_certificate(state_->key.get(), "cloudsim-ca", {});
  auto* const own = state_->certificate.get();
  X509_set_issuer_name(own, X509_get_subject_name(own));
  add_extension(own, own, NID_basic_constraints, "critical,CA:TRUE");
  add_extension(own, own, NID_key_usage, "critical,keyCertSign,cRLSign,digitalSignature");
  add_extension(own, own, NID_subject_key_identifier, "hash");
  check(X509_sign(own, state_->key.get(), EVP_sha256()) != 0, "signing");
}

CertificateAuthority::~CertificateAuthority() = default;

std::string CertificateAuthority::certificate() const { return to_pem(state_->certificate.get()); }

Certificate CertificateAuthority::issue(const std::string& common_name, const std::vector<std::string>& organizations,
                                        const std::string& alternative_names) const {
  const Key key(EVP_EC_gen("P-256"));
  check(key != nullptr, "making a key");
  const auto made = new_certificate(key.get(), common_name, organizations);
  auto* const issuer = state_->certificate.get();
  X509_set_issuer_name(made.get(), X509_get_subject_name(issuer));
  add_extension(made.get(), issuer, NID_key_usage, "critical,digitalSignature");
  add_extension(made.get(), issuer, NID_ext_key_usage, alternative_names.empty() ? "clientAuth" : "serverAuth");
  add_extension(made.get(), issuer, NID_authority_key_identifier, "keyid");
  if (!alternative_names.empty()) {
    add_extension(made.get(), issuer, NID_subject_alt_name, alternative_names);
  }
  check(X509_sign(made.get(), state_->key.get(), EVP_sha256()) != 0, "signing");
  return {to_pem(made.get()), to_pem(key.get())};
}

TlsContext::TlsContext(const CertificateAuthority& authority, const Certificate& own)
    : context_(SSL_CTX_new(TLS_server_method()), SSL_CTX_free) {
  auto* const context = context_.get();
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_options(context, SSL_OP_IGNORE_UNEXPECTED_EOF);
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
  const unsigned char id[] = "cloudsim";
  SSL_CTX_set_session_id_context(context, id, sizeof id - 1);  // without it, resuming with a client certificate fails
  SSL_CTX_set_alpn_select_cb(context, choose_protocol, nullptr);
  const auto certificate_text = memory_of(own.certificate);
  const auto key_text = memory_of(own.key);
  const auto authority_pem = authority.certificate();
  const auto authority_text = memory_of(authority_pem);
  const X509Ptr certificate(PEM_read_bio_X509(certificate_text.get(), nullptr, nullptr, nullptr));
  const Key key(PEM_read_bio_PrivateKey(key_text.get(), nullptr, nullptr, nullptr));
  const X509Ptr ca(PEM_read_bio_X509(authority_text.get(), nullptr, nullptr, nullptr));
  check(SSL_CTX_use_certificate(context, certificate.get()) == 1 && SSL_CTX_use_PrivateKey(context, key.get()) == 1,
        "using the server's certificate");
  X509_STORE_add_cert(SSL_CTX_get_cert_store(context), ca.get());
  SSL_CTX_add_client_CA(context, ca.get());
}

TlsSession::TlsSession(const TlsContext& context, int fd) : session_(SSL_new(context.context_.get()), SSL_free) {
  SSL_set_fd(session_.get(), fd);
  SSL_set_accept_state(session_.get());
}

ssize_t TlsSession::result_of(int result) {
  if (result > 0) {
    return result;
  }
  const int error = SSL_get_error(session_.get(), result);
  ERR_clear_error();
  if (error == SSL_ERROR_ZERO_RETURN) {
    return 0;
  }
  errno = error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE ? EAGAIN : EPROTO;
  return -1;
}

ssize_t TlsSession::read(char* data, std::size_t size) {
  return result_of(SSL_read(session_.get(), data, static_cast<int>(std::min<std::size_t>(size, INT_MAX))));
}

ssize_t TlsSession::write(const char* data, std::size_t size) {
  return result_of(SSL_write(session_.get(), data, static_cast<int>(std::min<std::size_t>(size, INT_MAX))));
}

void TlsSession::shut_down() { SSL_shutdown(session_.get()); }

std::string TlsSession::peer_name() const {
  const auto names = subject_entries(session_.get(), NID_commonName);
  return names.empty() ? "" : names.front();
}

std::vector<std::string> TlsSession::peer_organizations() const {
  return subject_entries(session_.get(), NID_organizationName);
}

}  // namespace cloudsim
