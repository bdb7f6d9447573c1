// SPDX-License-Identifier: Apache-2.0
// Tests of certificates given as texts, of tls_server_name, and of which connections may be shared.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tls_fixture.h"

namespace burst::net {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class CurlTlsTexts : public CurlTls {
 protected:
  using Server = TestServer<httplib::SSLServer>;

  HttpCall call(const Server& server, HttpTls tls) const {
    auto call = call_to(server.url("/", "https"));
    call.max_attempts = 1;
    call.request.tls = std::make_shared<const HttpTls>(std::move(tls));
    return call;
  }
  std::string ca() const { return text_of(ca_file_); }
  std::string another_ca() {
    const Key key(EVP_EC_gen("P-256"));
    return text_of(write("other.pem", make_certificate("Other CA", "", key.get(), nullptr, key.get()).get()));
  }
  std::string client_pem(EVP_PKEY* key) { return text_of(write("client.pem", client_certificate(key).get())); }
  Secret key_pem(EVP_PKEY* key) { return Secret(text_of(write_key("client.key", key))); }
};

TEST_F(CurlTlsTexts, AcceptACertificateOfTheAuthority) {
  Server server(server_certificate("IP:127.0.0.1").c_str(), server_key_file_.c_str());
  serve_hello(server);
  Client<RealClock> client;
  client.environment.variables["AWS_CA_BUNDLE"] = "/nowhere";  // does not count beside the text
  EXPECT_EQ(client.http->send_one(call(server, {ca(), "", {}, ""})).body, "hello");
  EXPECT_EQ(client.http->send_one(call(server, {another_ca() + ca(), "", {}, ""})).body, "hello");
}

TEST_F(CurlTlsTexts, RefuseACertificateOfAnotherAuthority) {
  Server server(server_certificate("IP:127.0.0.1").c_str(), server_key_file_.c_str());
  serve_hello(server);
  Client<RealClock> client;
  auto wrong = call(server, {another_ca(), "", {}, ""});
  wrong.ca_file = ca_file_;  // does not widen it
  EXPECT_THAT(client.http->send_one(wrong).transport_error, StartsWith("verifying the certificate of 127.0.0.1:"));
  EXPECT_THAT(client.http->send_one(call(server, {"no PEM", "", {}, ""})).transport_error, Not(HasSubstr("no PEM")));
  EXPECT_EQ(server.requests(), 0);
}

TEST_F(CurlTlsTexts, RefuseACertificateForAnotherHost) {
  Server server(server_certificate("DNS:other.example").c_str(), server_key_file_.c_str());
  serve_hello(server);
  Client<RealClock> client;
  EXPECT_THAT(client.http->send_one(call(server, {ca(), "", {}, ""})).transport_error,
              StartsWith("verifying the certificate of "));
  EXPECT_EQ(server.requests(), 0);
}

TEST_F(CurlTlsTexts, VerifyTheServerNameWhileTheUrlSaysWhereToConnect) {
  std::vector<std::string> hosts;
  Server server(server_certificate("DNS:kubernetes.example").c_str(), server_key_file_.c_str());
  server.server.Get("/", [&](const httplib::Request& request, httplib::Response& response) {
    hosts.push_back(request.get_header_value("Host"));
    response.set_content("hello", "text/plain");
  });
  server.start();
  Client<RealClock> client;
  const HttpTls tls{ca(), "", {}, "kubernetes.example"};
  const auto response = client.http->send_one(call(server, tls));
  EXPECT_EQ(response.body, "hello") << response.transport_error;

  auto with_host = call(server, tls);
  with_host.request.headers = {{"Host", "as.written"}};
  EXPECT_EQ(client.http->send_one(with_host).body, "hello");
  EXPECT_EQ(server.connections(), 1U);

  EXPECT_EQ(client.http->send_one(call(server, {ca(), "", {}, ""})).status, 0);
  const auto wrong = client.http->send_one(call(server, {ca(), "", {}, "other.example"}));
  EXPECT_THAT(wrong.transport_error, StartsWith("verifying the certificate of 127.0.0.1:"));
  EXPECT_EQ(server.requests(), 2);
  EXPECT_THAT(hosts, ElementsAre("127.0.0.1:" + std::to_string(server.port()), "as.written"));
}

TEST_F(CurlTlsTexts, RefuseAServerNameThatIsNone) {
  Server server(server_certificate("IP:127.0.0.1").c_str(), server_key_file_.c_str());
  serve_hello(server);
  Client<RealClock> client;
  EXPECT_THROW(client.http->send_one(call(server, {ca(), "", {}, "a name/with@all"})), Error);
  EXPECT_EQ(server.requests(), 0);
}

TEST_F(CurlTlsTexts, LetNoProxyDecideAboutTheHostThatIsConnectedTo) {
  Server server(server_certificate("DNS:kubernetes.example").c_str(), server_key_file_.c_str());
  serve_hello(server);
  RawServer proxy("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n");
  const auto one = call(server, {ca(), "", {}, "kubernetes.example"});
  Client<RealClock> client;
  client.environment.variables = {{"https_proxy", "http://" + proxy.address()}, {"no_proxy", "127.0.0.0/8"}};
  EXPECT_EQ(client.http->send_one(one).body, "hello");
  EXPECT_TRUE(proxy.heads().empty());
  client.environment.variables["no_proxy"] = "kubernetes.example";
  EXPECT_EQ(client.http->send_one(one).status, 0);
  ASSERT_EQ(proxy.heads().size(), 1U);
  EXPECT_THAT(proxy.heads()[0], StartsWith("CONNECT 127.0.0.1:" + std::to_string(server.port()) + " HTTP/1.1\r\n"));
}

TEST_F(CurlTlsTexts, ShowTheClientsCertificate) {
  const Key key(EVP_EC_gen("P-256"));
  const Key other(EVP_EC_gen("P-256"));
  Server server(server_certificate("IP:127.0.0.1").c_str(), server_key_file_.c_str(), ca_file_.c_str());
  serve_hello(server);
  Client<RealClock> client;
  const auto pem = client_pem(key.get());
  EXPECT_EQ(client.http->send_one(call(server, {ca(), "", {}, ""})).status, 0);
  EXPECT_EQ(client.http->send_one(call(server, {ca(), pem, key_pem(key.get()), ""})).body, "hello");
  // The connection that is open now is for none of these.
  EXPECT_EQ(client.http->send_one(call(server, {ca(), "", {}, ""})).status, 0);
  const auto wrong_key = client.http->send_one(call(server, {ca(), pem, key_pem(other.get()), ""}));
  EXPECT_EQ(wrong_key.status, 0);
  EXPECT_THAT(wrong_key.transport_error, Not(HasSubstr("BEGIN")));
  EXPECT_EQ(client.http->send_one(call(server, {another_ca(), pem, key_pem(key.get()), ""})).status, 0);
  EXPECT_EQ(server.requests(), 1);
}

TEST_F(CurlTlsTexts, AskNobodyForAPassPhrase) {
  const Key key(EVP_EC_gen("P-256"));
  Server server(server_certificate("IP:127.0.0.1").c_str(), server_key_file_.c_str(), ca_file_.c_str());
  serve_hello(server);
  const auto path = (folder_ / "encrypted.key").string();
  auto* file = std::fopen(path.c_str(), "w");
  std::string phrase = "phrase";
  PEM_write_PrivateKey(file, key.get(), EVP_aes_128_cbc(),
                       reinterpret_cast<unsigned char*>(phrase.data()),  // NOLINT: OpenSSL's idea of text
                       static_cast<int>(phrase.size()), nullptr, nullptr);
  std::fclose(file);
  Client<RealClock> client;
  const auto response = client.http->send_one(call(server, {ca(), client_pem(key.get()), Secret(text_of(path)), ""}));
  EXPECT_EQ(response.status, 0);
  EXPECT_EQ(server.requests(), 0);
}

TEST_F(CurlTlsTexts, ShareAConnectionOnlyWhenTheyAreTheSame) {
  const Key key(EVP_EC_gen("P-256"));
  const Key other(EVP_EC_gen("P-256"));
  Server server(server_certificate("IP:127.0.0.1,DNS:a.example,DNS:b.example").c_str(), server_key_file_.c_str());
  serve_hello(server);
  Client<RealClock> client;
  const auto first = client_pem(key.get());
  const auto second = client_pem(other.get());
  const std::vector<HttpTls> all{
      {ca(), "", {}, ""},          {ca() + another_ca(), "", {}, ""},     {ca(), "", {}, "a.example"},
      {ca(), "", {}, "b.example"}, {ca(), first, key_pem(key.get()), ""}, {ca(), second, key_pem(other.get()), ""}};
  for (int round = 0; round < 2; ++round) {
    for (const auto& tls : all) EXPECT_EQ(client.http->send_one(call(server, tls)).body, "hello");
  }
  EXPECT_EQ(server.connections(), all.size());
  EXPECT_EQ(server.requests(), static_cast<int>(2 * all.size()));
}

TEST_F(CurlTlsTexts, MayBeSetByTheSignatureOfEachAttempt) {
  Server server(server_certificate("IP:127.0.0.1").c_str(), server_key_file_.c_str());
  serve_hello(server);
  Client<RealClock> client;
  auto one = call_to(server.url("/", "https"));
  one.sign = [tls = std::make_shared<const HttpTls>(HttpTls{ca(), "", {}, ""})](HttpRequest& request) {
    request.tls = tls;
  };
  EXPECT_EQ(client.http->send_one(one).body, "hello");
}

}  // namespace
}  // namespace burst::net
