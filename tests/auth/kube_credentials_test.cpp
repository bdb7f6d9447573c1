// SPDX-License-Identifier: Apache-2.0
// Tests of a user's credentials: what counts, when it is read anew, what a rejection does.
#include <thread>

#include "kube_fixture.h"

namespace burst::auth {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class KubeCredentials : public KubeWorld {
 protected:
  std::shared_ptr<KubeCredentialSource> source(const KubeUser& user) {
    KubeConfig config;
    config.origin = "context \"x\"";
    config.cluster.server = "https://a";
    config.user = user;
    return make_kube_credential_source(config, world_.services());
  }
  static std::string token(KubeCredentialSource& source) { return source.get()->token.reveal(); }
  std::string& file(const std::string& path) { return world_.files.content[path]; }
};

TEST_F(KubeCredentials, AStaticTokenIsAllThereIs) {
  KubeUser user;
  user.token = Secret("t");
  const auto fixed = source(user);
  EXPECT_EQ(token(*fixed), "t");
  EXPECT_FALSE(fixed->rejected(*fixed->get()));
  EXPECT_EQ(token(*fixed), "t");
}

TEST_F(KubeCredentials, NobodyHasNone) { EXPECT_EQ(*source({})->get(), KubeCredential()); }

TEST_F(KubeCredentials, ATokenFileComesBeforeATokenAndAPlugin) {
  KubeUser user;
  user.token = Secret("t");
  user.token_file = "/token";
  user.exec = KubeExec{};
  file("/token") = " \tfrom-file\r\n";
  EXPECT_EQ(token(*source(user)), "from-file");
  user.token_file.clear();
  EXPECT_EQ(token(*source(user)), "t");
  EXPECT_TRUE(world_.processes.requests.empty());
}

TEST_F(KubeCredentials, ATokenFileIsReadAnewWhenAMinuteOld) {
  KubeUser user;
  user.token_file = "/token";
  file("/token") = "one";
  const auto read = source(user);
  EXPECT_EQ(token(*read), "one");
  file("/token") = "two";
  world_.clock.advance(seconds(59));
  EXPECT_EQ(token(*read), "one");
  world_.clock.advance(seconds(1));
  EXPECT_EQ(token(*read), "two");
}

TEST_F(KubeCredentials, ATokenFileIsReadAnewAfterARejectionButNotOverAndOver) {
  KubeUser user;
  user.token_file = "/token";
  file("/token") = "one";
  const auto read = source(user);
  const auto old = read->get();
  file("/token") = "two";
  EXPECT_TRUE(read->rejected(*old));
  EXPECT_TRUE(read->rejected(*old));  // of another call that had it too
  EXPECT_EQ(token(*read), "two");
  EXPECT_TRUE(read->rejected(*old));
  EXPECT_EQ(token(*read), "two");
  EXPECT_FALSE(read->rejected(*read->get()));
  world_.clock.advance(seconds(60));
  EXPECT_TRUE(read->rejected(*read->get()));
}

TEST_F(KubeCredentials, ATokenServesOnWhileItsFileIsAway) {
  KubeUser user;
  user.token_file = "/token";
  file("/token") = "one";
  const auto read = source(user);
  EXPECT_EQ(token(*read), "one");
  world_.files.content.clear();
  world_.clock.advance(seconds(61));
  EXPECT_EQ(token(*read), "one");
  EXPECT_EQ(token(*read), "one");
  ASSERT_EQ(world_.log.lines.size(), 1U);  // not for each request
  EXPECT_EQ(world_.log.lines[0].first, LogLevel::warning);
  EXPECT_EQ(failure([&] { token(*source(user)); }),
            "NoCredentials: context \"x\": tokenFile: no such file: \"/token\"");
  file("/token") = " \n";
  EXPECT_THAT(failure([&] { token(*source(user)); }), HasSubstr("the file is empty"));
}

TEST_F(KubeCredentials, AClientCertificateIsReadFromItsFiles) {
  KubeUser user;
  user.client_certificate_file = "/cert";
  user.client_key_file = "/key";
  file("/cert") = kCertificatePem;
  file("/key") = kKeyPem;
  const auto read = source(user);
  EXPECT_EQ(read->get()->client_certificate, kCertificatePem);
  EXPECT_EQ(read->get()->client_key.reveal(), kKeyPem);
  EXPECT_TRUE(read->get()->token.empty());
  file("/key") = kCertificatePem;
  EXPECT_THAT(failure([&] { source(user)->get(); }),
              StartsWith("NoCredentials: context \"x\": client-key: expected a PRIVATE KEY in PEM in \"/key\""));
  file("/key") = "s3cret";
  file("/cert") = "s3cret";
  EXPECT_THAT(failure([&] { source(user)->get(); }), HasSubstr("client-certificate: expected a CERTIFICATE in PEM"));
}

TEST_F(KubeCredentials, AreFetchedByOneThreadAtATime) {
  std::atomic<int> running = 0;
  std::atomic<int> fetches = 0;
  const auto cached = cache_kube_credential(
      [&](bool) {
        EXPECT_EQ(++running, 1);
        ++fetches;
        std::this_thread::yield();
        --running;
        return FetchedKubeCredential{{Secret("t"), "", {}}, {}, {}};
      },
      "x", world_.clock, world_.log);
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      for (int k = 0; k < 50; ++k) EXPECT_EQ(cached->get()->token.reveal(), "t");
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(fetches, 1);
}

TEST_F(KubeCredentials, ThatExpiredAreNotGivenOut) {
  bool broken = false;
  const auto start = std::chrono::floor<seconds>(world_.clock.now());
  const auto cached = cache_kube_credential(
      [&](bool) {
        if (broken) throw Error("Broken", "it broke");
        return FetchedKubeCredential{{Secret("t"), "", {}}, start + seconds(50), start + seconds(100)};
      },
      "x", world_.clock, world_.log);
  EXPECT_EQ(token(*cached), "t");
  broken = true;
  world_.clock.advance(seconds(99));
  EXPECT_EQ(token(*cached), "t");
  EXPECT_EQ(world_.log.text(), "x: getting a new credential failed, the present one serves on: it broke\n");
  world_.clock.advance(seconds(1));
  EXPECT_EQ(failure([&] { cached->get(); }), "Broken: it broke");
  broken = false;
  EXPECT_EQ(token(*cached), "t");
}

}  // namespace
}  // namespace burst::auth
