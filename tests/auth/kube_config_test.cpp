// SPDX-License-Identifier: Apache-2.0
// Tests of finding, merging and reading kubeconfig files.
#include "kube_fixture.h"

namespace burst::auth {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::StartsWith;

class KubeConfigFile : public KubeWorld {
 protected:
  KubeConfig load(const std::string& context = "", bool other_credentials = false) {
    return load_kube_config(find_kube_config("", world_.environment), context, other_credentials, world_.files);
  }
  std::string load_failure(const std::string& context = "") {
    return failure([&] { load(context); });
  }
};

constexpr auto* kTwo = R"(
apiVersion: v1
kind: Config
preferences: {colors: true}
current-context: second
clusters:
- name: one
  cluster:
    server: https://one.example/
    certificate-authority: certs/ca.pem
    tls-server-name: kubernetes.default
    proxy-url: socks5://proxy:1080
    extensions:
    - {name: client.authentication.k8s.io/exec, extension: {audience: "42"}}
- name: two
  cluster: {server: "https://[fd00::1]:6443", unknown: {}}
contexts:
- name: first
  context: {cluster: one, user: plugin, namespace: jobs}
- name: second
  context: {cluster: two, user: files}
- name: nobody
  context: {cluster: two}
users:
- name: files
  user: {tokenFile: secrets/token, client-certificate: /abs/cert.pem, client-key: ../key.pem}
- name: plugin
  user:
    exec:
      apiVersion: client.authentication.k8s.io/v1beta1
      command: ./bin/plugin
      args: [get, "--x=1"]
      env: [{name: A, value: b}, {name: EMPTY, value: ""}]
      installHint: get it somewhere
      interactiveMode: IfAvailable
      provideClusterInfo: true
)";

TEST_F(KubeConfigFile, GivesTheCurrentContext) {
  config(kTwo);
  const auto found = load();
  EXPECT_EQ(found.origin, R"(context "second" of "/home/x/.kube/config")");
  EXPECT_EQ(found.cluster.server, "https://[fd00::1]:6443");
  EXPECT_EQ(found.default_namespace, "");
  EXPECT_EQ(found.user.token_file, "/home/x/.kube/secrets/token");
  EXPECT_EQ(found.user.client_certificate_file, "/abs/cert.pem");
  EXPECT_EQ(found.user.client_key_file, "/home/x/.kube/../key.pem");
  EXPECT_FALSE(found.user.exec);
}

TEST_F(KubeConfigFile, GivesANamedContext) {
  config(kTwo);
  const auto found = load("first");
  EXPECT_EQ(found.cluster.server, "https://one.example");
  EXPECT_EQ(found.cluster.ca_file, "/home/x/.kube/certs/ca.pem");
  EXPECT_EQ(found.cluster.tls_server_name, "kubernetes.default");
  EXPECT_EQ(found.cluster.proxy_url, "socks5h://proxy:1080");
  EXPECT_EQ(found.cluster.exec_config, R"({"audience":"42"})");
  EXPECT_EQ(found.default_namespace, "jobs");
  ASSERT_TRUE(found.user.exec);
  const auto& exec = *found.user.exec;
  EXPECT_EQ(exec.api_version, "client.authentication.k8s.io/v1beta1");
  EXPECT_EQ(exec.command, "/home/x/.kube/./bin/plugin");
  EXPECT_THAT(exec.arguments, ElementsAre("get", "--x=1"));
  EXPECT_THAT(exec.environment, ElementsAre(Pair("A", "b"), Pair("EMPTY", "")));
  EXPECT_EQ(exec.install_hint, "get it somewhere");
  EXPECT_TRUE(exec.provide_cluster_info);
  EXPECT_EQ(load("nobody").user.token_file, "");
}

TEST_F(KubeConfigFile, ReadsDataInBase64) {
  const auto data = [](const std::string& pem) { return base64(pem); };
  config(config_with_user(
      "{client-certificate-data: " + data(kCertificatePem) + ", client-key-data: " + data(kKeyPem) + ", token: t0ken}",
      "{server: 'https://a', certificate-authority-data: " + data(kCertificatePem) + ", certificate-authority: /x}"));
  const auto found = load();
  EXPECT_EQ(found.cluster.ca_certificates, kCertificatePem);
  EXPECT_EQ(found.user.client_certificate, kCertificatePem);
  EXPECT_EQ(found.user.client_key.reveal(), kKeyPem);
  EXPECT_EQ(found.user.token.reveal(), "t0ken");
}

TEST_F(KubeConfigFile, RefusesAKeyThatWantsAPassPhrase) {
  for (const std::string pem :
       {"-----BEGIN ENCRYPTED PRIVATE KEY-----\nQUJD\n", "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n"}) {
    config(config_with_user("{client-certificate: /c, client-key-data: " + base64(pem) + "}"));
    EXPECT_THAT(load_failure(),
                HasSubstr("/users/0/user/client-key-data: expected a PRIVATE KEY without a pass phrase"));
  }
}

TEST_F(KubeConfigFile, IsReadAsJsonToo) {
  config(R"({"current-context": "x", "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
             "clusters": [{"name": "c", "cluster": {"server": "https:\/\/a"}}],
             "users": [{"name": "u", "user": {"token": "t"}}]})");
  EXPECT_EQ(load().cluster.server, "https://a");
  EXPECT_EQ(load().user.token.reveal(), "t");
}

// As kubectl 1.32 shows it by `config view --merge --raw`.
TEST_F(KubeConfigFile, IsMergedFromTheListOfKubeconfig) {
  world_.environment.variables["KUBECONFIG"] = ":/a/one:/nowhere::/b/two";
  world_.files.content["/a/one"] =
      "clusters: [{name: c, cluster: {server: 'https://a:1'}}]\nusers: [{name: u, user: {tokenFile: tok}}]\n"
      "current-context: ''\n";
  world_.files.content["/b/two"] =
      "clusters: [{name: c, cluster: {server: 'https://b:1', tls-server-name: z}},\n"
      "           {name: d, cluster: {server: 'https://d:1', certificate-authority: ca.pem}}]\n"
      "users: [{name: u, user: {token: t}}]\ncurrent-context: x\n"
      "contexts: [{name: x, context: {cluster: c, user: u, namespace: 'on'}}, {name: y, context: {cluster: d}}]\n";
  config("not: read");
  const auto found = load();
  EXPECT_EQ(found.cluster.server, "https://a:1");
  EXPECT_EQ(found.cluster.tls_server_name, "");  // nothing of the second file's entry of that name
  EXPECT_EQ(found.user.token_file, "/a/tok");
  EXPECT_EQ(found.user.token.reveal(), "");
  EXPECT_EQ(found.default_namespace, "on");
  EXPECT_EQ(load("y").cluster.ca_file, "/b/ca.pem");
}

TEST_F(KubeConfigFile, NamedInTheConfigurationComesFirstAndMustExist) {
  world_.environment.variables["KUBECONFIG"] = "/a";
  EXPECT_THAT(find_kube_config("/etc/k", world_.environment).files, ElementsAre("/etc/k"));
  EXPECT_THAT(
      failure([&] { load_kube_config(find_kube_config("/etc/k", world_.environment), "", false, world_.files); }),
      "InvalidConfig: reading \"/etc/k\": no such file");
  EXPECT_THAT(load_failure(), "InvalidConfig: no kubeconfig: no file /a");
}

TEST_F(KubeConfigFile, NamesTheContextsThatThereAre) {
  config(kTwo);
  EXPECT_EQ(
      load_failure("third"),
      "InvalidConfig: reading '/home/x/.kube/config': no context 'third'; there are: 'first', 'second', 'nobody'");
  config("current-context: lost\n");
  EXPECT_THAT(load_failure(), HasSubstr("/current-context: no context 'lost'; there are: none"));
  config("{}");
  EXPECT_THAT(load_failure(), HasSubstr("/current-context: expected the name of a context, found nothing"));
  config("");
  EXPECT_THAT(load_failure(), HasSubstr("/current-context: "));
}

struct Wrong {
  const char *user, *cluster, *message;
};

TEST_F(KubeConfigFile, SaysWhatIsWrongAndWhere) {
  constexpr auto* kFine = "{server: 'https://a'}";
  const std::vector<Wrong> all{
      {"{}", "{}", "/clusters/0/cluster/server: expected a text, found nothing"},
      {"{}", "{server: a}", "/clusters/0/cluster/server: expected https://HOST:PORT"},
      {"{}", "{server: 'http://10.0.0.1'}", "/clusters/0/cluster/server: expected https; "},
      {"{}", "{server: 12}", "/clusters/0/cluster/server: expected a text, found a number"},
      {"{}", "[]", "/clusters/0/cluster: expected an object, found a list"},
      {"{}", "{server: 'https://a', insecure-skip-tls-verify: true}",
       "/clusters/0/cluster/insecure-skip-tls-verify: not supported, TLS is always verified"},
      {"{}", "{server: 'https://a', insecure-skip-tls-verify: maybe}", "expected true or false, found a text"},
      {"{}", "{server: 'https://a', certificate-authority-data: 's3cret!'}",
       "/clusters/0/cluster/certificate-authority-data: expected base64"},
      {"{}", "{server: 'https://a', certificate-authority-data: czNjcmV0}",
       "/clusters/0/cluster/certificate-authority-data: expected a CERTIFICATE in PEM"},
      {"{auth-provider: {name: gcp, config: {access-token: s3cret}}}", kFine,
       "/users/0/user/auth-provider: not supported: kubectl took it out in 1.26, and its tokens lie in the file "
       "itself; use exec, a token"},
      {"{username: admin, password: s3cret}", kFine, "/users/0/user/username: not supported: "},
      {"{token: t, as: root}", kFine, "/users/0/user/as: impersonation is not supported"},
      {"{token: [s3cret]}", kFine, "/users/0/user/token: expected a text, found a list"},
      {"{token: 5317}", kFine, "/users/0/user/token: expected a text, found a number"},
      {"{client-certificate: /a}", kFine, "/users/0/user/client-key: expected the key of client-certificate"},
      {"{client-key-data: s3cretKEY=}", kFine, "/users/0/user/client-key-data: expected base64"},
      {"{client-key: /a}", kFine, "/users/0/user/client-certificate: expected one beside client-key"},
      {"{exec: {command: x}}", kFine, "/users/0/user/exec/apiVersion: expected client.authentication.k8s.io/v1 or"},
      {"{exec: {command: x, apiVersion: client.authentication.k8s.io/v1alpha1}}", kFine, "found \"client.authent"},
      {"{exec: {apiVersion: client.authentication.k8s.io/v1}}", kFine, "/users/0/user/exec/command: expected a text"},
      {"{exec: {command: x, apiVersion: client.authentication.k8s.io/v1, interactiveMode: Always}}", kFine,
       "/users/0/user/exec/interactiveMode: Always is not supported: nobody is there to answer"},
      {"{exec: {command: x, apiVersion: client.authentication.k8s.io/v1, args: [[s3cret]]}}", kFine,
       "/users/0/user/exec/args/0: expected a text, found a list"},
      {"{exec: {command: x, apiVersion: client.authentication.k8s.io/v1, env: [{value: s3cret}]}}", kFine,
       "/users/0/user/exec/env/0/name: expected a text"},
  };
  for (const auto& one : all) {
    config(config_with_user(one.user, one.cluster));
    EXPECT_THAT(load_failure(),
                AllOf(StartsWith("InvalidConfig: reading \"/home/x/.kube/config\": "), HasSubstr(one.message)))
        << one.user << " " << one.cluster;
  }
}

TEST_F(KubeConfigFile, SaysWhichPartOfAContextIsMissing) {
  config("current-context: x\ncontexts: [{name: x, context: {cluster: c, user: u}}]\n");
  EXPECT_THAT(load_failure(), HasSubstr("/contexts/0/context/cluster: no cluster 'c'; there are: none"));
  config(
      "current-context: x\ncontexts: [{name: x, context: {cluster: c, user: u}}]\n"
      "clusters: [{name: c, cluster: {server: 'https://a'}}]\nusers: [{name: v, user: {}}]\n");
  EXPECT_THAT(load_failure(), HasSubstr("/contexts/0/context/user: no user 'u'; there are: 'v'"));
  EXPECT_EQ(load("", true).cluster.server, "https://a");  // somebody else says who we are
  config(
      "current-context: x\ncontexts: [{name: x, context: {cluster: c}}]\n"
      "clusters: [{name: c, cluster: {server: 'https://a'}}, {name: c, cluster: {server: 'https://b'}}]\n");
  EXPECT_THAT(load_failure(), HasSubstr("/clusters/1/name: expected each name once"));
}

TEST_F(KubeConfigFile, MayNameThisMachineByPlainHttp) {
  for (const auto* server : {"http://127.0.0.1:8001", "http://localhost:8001", "http://[::1]:8001"}) {
    config(config_with_user("{}", std::string("{server: '") + server + "'}"));
    EXPECT_EQ(load().cluster.server, server);
  }
}

}  // namespace
}  // namespace burst::auth
