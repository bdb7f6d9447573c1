// SPDX-License-Identifier: Apache-2.0
// Tests of exec plugins: real scripts, what they are told, and what is made of their answers.
#include "auth/kube_exec_plugin.h"

#include <filesystem>

#include <nlohmann/json.hpp>

#include "botocore_reference.h"
#include "kube_fixture.h"
#include "system/disk_files.h"
#include "system/spawn_processes.h"

namespace burst::auth {
namespace {

using nlohmann::json;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr auto* kV1 = "client.authentication.k8s.io/v1";
constexpr auto* kV1Beta1 = "client.authentication.k8s.io/v1beta1";

std::string answer(const std::string& status, const std::string& version = kV1) {
  return R"({"kind": "ExecCredential", "apiVersion": ")" + version + R"(", "status": )" + status + "}";
}

TEST(KubeExecInfo, SaysWhatThePluginAskedFor) {
  KubeExec exec;
  exec.api_version = kV1Beta1;
  KubeCluster cluster;
  cluster.server = "https://a";
  EXPECT_EQ(json::parse(kube_exec_info(exec, cluster)),
            json::parse(R"({"kind": "ExecCredential", "apiVersion": "client.authentication.k8s.io/v1beta1",
                            "spec": {"interactive": false}})"));
  exec.provide_cluster_info = true;
  cluster.ca_certificates = "ABC";
  cluster.tls_server_name = "name";
  cluster.proxy_url = "http://p";
  cluster.exec_config = R"({"audience": "x"})";
  EXPECT_EQ(json::parse(kube_exec_info(exec, cluster)).at("spec"),
            json::parse(R"({"interactive": false, "cluster": {"server": "https://a", "tls-server-name": "name",
                            "certificate-authority-data": "QUJD", "proxy-url": "http://p",
                            "config": {"audience": "x"}}})"));
}

class KubeExecAnswer : public KubeWorld {
 protected:
  KubeExecAnswer() { exec_.api_version = kV1; }
  FetchedKubeCredential parse(const std::string& text) {
    return parse_kube_exec_answer(text, exec_, "exec plugin \"p\"", now());
  }
  std::chrono::sys_seconds now() const { return std::chrono::floor<seconds>(world_.clock.now()); }
  KubeExec exec_;
};

TEST_F(KubeExecAnswer, HoldsATokenOrACertificateOrBoth) {
  EXPECT_EQ(parse(answer(R"({"token": "t"})")).credential.token.reveal(), "t");
  EXPECT_FALSE(parse(answer(R"({"token": "t", "expirationTimestamp": null})")).renew);
  const json both{{"token", "t"}, {"clientCertificateData", kCertificatePem}, {"clientKeyData", kKeyPem}};
  EXPECT_EQ(parse(answer(both.dump())).credential, (KubeCredential{Secret("t"), kCertificatePem, Secret(kKeyPem)}));
}

TEST_F(KubeExecAnswer, IsRenewedAMinuteBeforeItExpires) {
  // The fake clock stands at 2026-05-28T20:26:40Z.
  const auto hour = parse(answer(R"({"token": "t", "expirationTimestamp": "2026-05-28T21:26:40Z"})"));
  EXPECT_EQ(*hour.expires, now() + minutes(60));
  EXPECT_EQ(*hour.renew, now() + minutes(59));
  const auto brief = parse(answer(R"({"token": "t", "expirationTimestamp": "2026-05-28T22:27:00+02:00"})"));
  EXPECT_EQ(*brief.renew, now() + seconds(10));
}

TEST_F(KubeExecAnswer, IsReadStrictlyAndNeverQuoted) {
  const std::vector<std::pair<std::string, std::string>> all{
      {"", "expected an ExecCredential as JSON"},
      {"s3cret", "expected an ExecCredential as JSON"},
      {answer(R"({"token": "s3cret"})") + "s3cret", "expected an ExecCredential as JSON"},
      {"[\"s3cret\"]", "expected an object, found a list"},
      {"{}", "/kind: expected ExecCredential"},
      {R"({"kind": "s3cret"})", "/kind: expected ExecCredential"},
      {answer(R"({"token": "s3cret"})", kV1Beta1), "/apiVersion: expected client.authentication.k8s.io/v1"},
      {answer("null"), "/status/token: expected a token or a client certificate, found neither"},
      {answer("\"s3cret\""), "/status: expected an object, found a text"},
      {answer(R"({"token": ["s3cret"]})"), "/status/token: expected a text, found a list"},
      {answer(R"({"clientKeyData": "s3cret"})"), "/status/clientKeyData: expected clientCertificateData and"},
      {answer(R"({"clientKeyData": "s3cret", "clientCertificateData": "s3cret"})"),
       "/status/clientCertificateData: expected a CERTIFICATE in PEM"},
      {answer(R"({"token": "s3cret", "expirationTimestamp": "s3cret"})"),
       "/status/expirationTimestamp: expected a time"},
      {answer(R"({"token": "s3cret", "expirationTimestamp": "2026-05-28T20:26:40Z"})"), "found one that is over"},
      {std::string((1U << 20U) + 1, ' '), "found over 1 MiB"},
  };
  for (const auto& [text, message] : all) {
    EXPECT_THAT(failure([&] { parse(text); }),
                AllOf(StartsWith("NoCredentials: exec plugin \"p\": "), HasSubstr(message)))
        << text.substr(0, 200);
  }
}

/// Scripts in a folder, run as they will be.
class KubeExecPlugin : public KubeWorld {
 protected:
  Services real() {
    return {world_.clock, world_.environment, files_, world_.http, world_.log, processes_, world_.random};
  }
  std::string script(const std::string& name, const std::string& text) {
    auto path = folder_.write(name, "#!/bin/sh\n" + text);
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return path;
  }
  /// The kubeconfig beside the scripts.
  std::shared_ptr<KubeAccess> access_with(const std::string& exec, const std::string& more = "") {
    KubeAccessSettings settings;
    settings.kubeconfig = folder_.write(
        "config", config_with_user("{exec: {apiVersion: " + std::string(kV1) + ", " + exec + "}" + more + "}"));
    return make_kube_access(settings, real());
  }
  TemporaryFolder folder_;
  DiskFiles files_;
  SpawnProcesses processes_;
};

TEST_F(KubeExecPlugin, IsRunBesideItsKubeconfigWithArgumentsAndVariablesAndNoInput) {
  script("plugin",
         "read line && exit 9\n"
         "case $KUBERNETES_EXEC_INFO in *'\"interactive\":false'*) ;; *) exit 8 ;; esac\n"
         "echo '" +
             answer(R"({"token": "'"$1-$A"'"})") + "'\n");
  const auto one = access_with("command: ./plugin, args: [with space], env: [{name: A, value: b}]");
  get(*one);
  EXPECT_THAT(bearers(), ::testing::ElementsAre("Bearer with space-b"));
}

TEST_F(KubeExecPlugin, HasAHomeFolderAlsoWhenSlurmctldPassesNoneOn) {
  script("plugin", "echo '" + answer(R"({"token": "'$HOME'"})") + "'\n");
  get(*access_with("command: ./plugin"));
  get(*access_with("command: ./plugin, env: [{name: HOME, value: /own}]"));
  world_.environment.variables.erase("HOME");
  get(*access_with("command: ./plugin"));
  ASSERT_EQ(bearers().size(), 3U);
  EXPECT_EQ(bearers()[0], "Bearer /home/x");
  EXPECT_EQ(bearers()[1], "Bearer /own");
  EXPECT_THAT(bearers()[2], StartsWith("Bearer /"));
}

TEST_F(KubeExecPlugin, IsRunOnceUntilItsTokenExpires) {
  const auto counter = folder_.write("calls", "");
  script("plugin", "echo x >>'" + counter + "'\nn=$(wc -l <'" + counter + "')\necho '" +
                       answer(R"({"token": "'$n'", "expirationTimestamp": "2026-05-28T21:26:40Z"})") + "'\n");
  const auto one = access_with("command: ./plugin");
  get(*one);
  get(*one);
  world_.clock.advance(minutes(58));
  get(*one);
  EXPECT_THAT(bearers(), ::testing::Each("Bearer 1"));
  world_.http.handler = [](const HttpRequest& request) {
    HttpResponse response;
    response.status = request.headers.back().second == "Bearer 1" ? 401 : 200;
    return response;
  };
  EXPECT_EQ(get(*one).status, 200);  // a rejection runs it again, once
  EXPECT_EQ(bearers().back(), "Bearer 2");
}

TEST_F(KubeExecPlugin, ThatFailsIsQuotedInOneLineWithItsHint) {
  script("plugin", "echo 'no session,\n  log in' >&2\nexit 3\n");
  const auto one = access_with("command: ./plugin, installHint: 'see https://x'");
  const auto text = failure([&] { get(*one); });
  EXPECT_THAT(text, StartsWith("NoCredentials: context \"x\" of "));
  EXPECT_THAT(text, HasSubstr("/plugin\": exit status 3: no session, log in"));
  EXPECT_THAT(text, ::testing::EndsWith("; see https://x"));
}

TEST_F(KubeExecPlugin, ThatIsNotThereIsNamedWithItsHint) {
  const auto one = access_with("command: burst-no-such-plugin, installHint: get it");
  EXPECT_THAT(failure([&] { get(*one); }),
              AllOf(StartsWith("ExecPluginNotStarted: "), HasSubstr("exec plugin \"burst-no-such-plugin\": running "),
                    HasSubstr("No such file or directory; get it")));
}

TEST_F(KubeExecPlugin, AddsToTheUsersClientCertificate) {
  script("plugin", "echo '" + answer(R"({"token": "t"})") + "'\n");
  folder_.write("cert.pem", kCertificatePem);
  folder_.write("key.pem", kKeyPem);
  const auto one = access_with("command: ./plugin", ", client-certificate: cert.pem, client-key: key.pem");
  get(*one);
  ASSERT_EQ(world_.http.requests.size(), 1U);
  EXPECT_EQ(world_.http.requests[0].tls->client_certificate, kCertificatePem);
  EXPECT_EQ(bearers()[0], "Bearer t");
}

}  // namespace
}  // namespace burst::auth
