// SPDX-License-Identifier: Apache-2.0
// Tests of certificates: what is not trusted gets no request.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tls_fixture.h"

namespace burst::net {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST_F(CurlTls, AcceptsACertificateOfTheNamedAuthority) {
  TestServer<httplib::SSLServer> server(server_certificate("IP:127.0.0.1").c_str(), server_key_file_.c_str());
  serve_hello(server);
  Client<RealClock> client;
  auto call = call_to(server.url("/", "https"));
  call.ca_file = ca_file_;
  EXPECT_EQ(client.http->send_one(call).body, "hello");
  for (const auto& response : client.http->send(std::vector<HttpCall>(20, call))) EXPECT_EQ(response.body, "hello");

  Client<RealClock> other;
  other.environment.variables["AWS_CA_BUNDLE"] = ca_file_;
  EXPECT_EQ(other.http->send_one(call_to(server.url("/", "https"))).body, "hello");
}

TEST_F(CurlTls, RefusesAnUnknownAuthorityAndDoesNotAskAgain) {
  TestServer<httplib::SSLServer> server(server_certificate("IP:127.0.0.1").c_str(), server_key_file_.c_str());
  serve_hello(server);
  Client<RealClock> client;
  const auto response = client.http->send_one(call_to(server.url("/", "https")));
  EXPECT_EQ(response.status, 0);
  EXPECT_THAT(response.transport_error, StartsWith("verifying the certificate of 127.0.0.1:"));
  EXPECT_EQ(server.requests(), 0);
  EXPECT_EQ(client.log.text(), "");  // no second attempt
}

TEST_F(CurlTls, RefusesASelfSignedCertificate) {
  const auto certificate =
      write("self.pem", make_certificate("self", "IP:127.0.0.1", key_.get(), nullptr, key_.get()).get());
  TestServer<httplib::SSLServer> server(certificate.c_str(), server_key_file_.c_str());
  serve_hello(server);
  Client<RealClock> client;
  auto call = call_to(server.url("/", "https"));
  call.ca_file = ca_file_;
  EXPECT_THAT(client.http->send_one(call).transport_error, StartsWith("verifying the certificate of "));
  EXPECT_EQ(server.requests(), 0);
}

TEST_F(CurlTls, RefusesACertificateForAnotherHost) {
  TestServer<httplib::SSLServer> server(server_certificate("DNS:other.example").c_str(), server_key_file_.c_str());
  serve_hello(server);
  Client<RealClock> client;
  auto call = call_to(server.url("/", "https"));
  call.ca_file = ca_file_;
  EXPECT_THAT(client.http->send_one(call).transport_error, StartsWith("verifying the certificate of "));
  EXPECT_EQ(server.requests(), 0);
}

TEST_F(CurlTls, ChecksTheCertificateOfEachCallByItsOwnAuthority) {
  TestServer<httplib::SSLServer> server(server_certificate("IP:127.0.0.1").c_str(), server_key_file_.c_str());
  serve_hello(server);
  Client<RealClock> client;
  auto call = call_to(server.url("/", "https"));
  call.ca_file = ca_file_;
  EXPECT_EQ(client.http->send_one(call).status, 200);
  call.ca_file.clear();  // a connection that another call trusted is not enough
  EXPECT_EQ(client.http->send_one(call).status, 0);
}

TEST_F(CurlTls, ShowsItsOwnCertificateWhenItHasOne) {
  const Key client_key(EVP_EC_gen("P-256"));
  const auto certificate =
      write("client.pem", make_certificate("client", "DNS:client", client_key.get(), ca_.get(), ca_key_.get()).get());
  TestServer<httplib::SSLServer> server(server_certificate("IP:127.0.0.1").c_str(), server_key_file_.c_str(),
                                        ca_file_.c_str());
  serve_hello(server);
  Client<RealClock> client;
  auto call = call_to(server.url("/", "https"));
  call.ca_file = ca_file_;
  call.max_attempts = 1;
  EXPECT_EQ(client.http->send_one(call).status, 0);
  call.client_certificate_file = certificate;
  call.client_key_file = write_key("client.key", client_key.get());
  EXPECT_EQ(client.http->send_one(call).body, "hello");
}

TEST_F(CurlTls, NamesACaFileThatCannotBeRead) {
  TestServer<httplib::SSLServer> server(server_certificate("IP:127.0.0.1").c_str(), server_key_file_.c_str());
  serve_hello(server);
  Client<RealClock> client;
  auto call = call_to(server.url("/", "https"));
  call.ca_file = (folder_ / "absent.pem").string();
  const auto response = client.http->send_one(call);
  EXPECT_EQ(response.status, 0);
  EXPECT_THAT(response.transport_error, HasSubstr("absent.pem"));
}

}  // namespace
}  // namespace burst::net
