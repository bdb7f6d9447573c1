// SPDX-License-Identifier: Apache-2.0
// Tests of access to an API server as a whole: in cluster, by kubeconfig, and what a call is given.
#include "auth/kube_access.h"

#include "kube_fixture.h"

namespace burst::auth {
namespace {

using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class KubeAccessTo : public KubeWorld {
 protected:
  static HttpResponse status(int number) {
    HttpResponse response;
    response.status = number;
    return response;
  }
};

TEST_F(KubeAccessTo, APodsOwnClusterNeedsNoVariables) {
  in_pod();
  const auto one = access();
  EXPECT_EQ(one->server(), "https://kubernetes.default.svc");
  EXPECT_EQ(one->default_namespace(), "jobs");
  get(*one, "/api/v1/namespaces/jobs/pods");
  ASSERT_EQ(world_.http.requests.size(), 1U);
  const auto& request = world_.http.requests[0];
  EXPECT_EQ(request.url, "https://kubernetes.default.svc/api/v1/namespaces/jobs/pods");
  EXPECT_EQ(request.tls->ca_certificates, kCertificatePem);
  EXPECT_THAT(bearers(), ElementsAre("Bearer pod-token"));
}

TEST_F(KubeAccessTo, APodsOwnClusterTakesItsVariables) {
  in_pod();
  world_.environment.variables["KUBERNETES_SERVICE_HOST"] = "10.96.0.1";
  EXPECT_EQ(access()->server(), "https://kubernetes.default.svc");
  world_.environment.variables["KUBERNETES_SERVICE_PORT"] = "443";
  EXPECT_EQ(access()->server(), "https://10.96.0.1:443");
  world_.environment.variables["KUBERNETES_SERVICE_HOST"] = "fd00::1";
  EXPECT_EQ(access()->server(), "https://[fd00::1]:443");
  world_.environment.variables["KUBERNETES_SERVICE_PORT"] = "x";
  EXPECT_THAT(failure([&] { access(); }), StartsWith("InvalidConfig: KUBERNETES_SERVICE_HOST and "));
}

TEST_F(KubeAccessTo, APodsOwnClusterReadsItsTokenAnew) {
  in_pod();
  const auto one = access();
  get(*one);
  world_.files.content[std::string(kPod) + "/token"] = "next";
  world_.clock.advance(seconds(61));
  get(*one);
  EXPECT_THAT(bearers(), ElementsAre("Bearer pod-token", "Bearer next"));
}

TEST_F(KubeAccessTo, APodsOwnClusterNeedsItsAuthority) {
  in_pod();
  const auto path = std::string(kPod) + "/ca.crt";
  world_.files.content[path] = "s3cret";
  EXPECT_THAT(failure([&] { access(); }),
              HasSubstr("in cluster: certificate authority: expected a CERTIFICATE in PEM"));
  world_.files.content.erase(path);
  EXPECT_THAT(failure([&] { access(); }), HasSubstr("in cluster: certificate authority: no such file: \"" + path));
}

TEST_F(KubeAccessTo, ComesFromTheFirstPlaceThatThereIs) {
  const auto of = [](const std::string& server) { return config_with_user("{}", "{server: '" + server + "'}"); };
  config(of("https://home"));
  EXPECT_EQ(access()->server(), "https://home");
  in_pod();
  EXPECT_EQ(access()->server(), "https://kubernetes.default.svc");
  KubeAccessSettings settings;
  settings.context = "x";  // a pod has no contexts
  EXPECT_EQ(access(settings)->server(), "https://home");
  world_.environment.variables["KUBECONFIG"] = "/env";
  world_.files.content["/env"] = of("https://env");
  EXPECT_EQ(access()->server(), "https://env");
  settings.kubeconfig = "/named";
  world_.files.content["/named"] = of("https://named");
  EXPECT_EQ(access(settings)->server(), "https://named");
  world_.environment.variables["KUBECONFIG"] = "";
  settings = {};
  settings.service_account_folder = "/elsewhere";
  EXPECT_EQ(access(settings)->server(), "https://home");
}

TEST_F(KubeAccessTo, AClusterGivesCallsItsTlsAndProxy) {
  config(config_with_user("{client-certificate: cert, client-key: key}",
                          "{server: 'https://10.0.0.1:6443/k8s/', certificate-authority: ca, tls-server-name: name, "
                          "proxy-url: 'http://p'}"));
  world_.files.content["/home/x/.kube/ca"] = kCertificatePem;
  world_.files.content["/home/x/.kube/cert"] = kCertificatePem;
  world_.files.content["/home/x/.kube/key"] = kKeyPem;
  const auto one = access();
  EXPECT_EQ(one->default_namespace(), "default");
  HttpCall call;
  call.request.url = "/api";
  one->prepare(call);
  EXPECT_EQ(call.proxy, "http://p");
  world_.http.send_one(std::move(call));
  get(*one);
  ASSERT_EQ(world_.http.requests.size(), 2U);
  const auto& request = world_.http.requests[0];
  EXPECT_EQ(request.url, "https://10.0.0.1:6443/k8s/api");
  EXPECT_EQ(*request.tls, (HttpTls{kCertificatePem, kCertificatePem, Secret(kKeyPem), "name"}));
  EXPECT_EQ(request.tls, world_.http.requests[1].tls);  // one for all calls
  EXPECT_THAT(bearers(), ElementsAre("", ""));

  KubeAccessSettings settings;
  settings.proxy = "http://other";
  HttpCall proxied;
  access(settings)->prepare(proxied);
  EXPECT_EQ(proxied.proxy, "http://other");
}

TEST_F(KubeAccessTo, ACallsOwnSignAndJudgeStayInForce) {
  config(config_with_user("{token: t}"));
  const auto one = access();
  world_.http.handler = [&](const HttpRequest&) { return status(world_.http.requests.size() < 3 ? 409 : 200); };
  HttpCall call;
  call.request.url = "/x";
  call.request.headers = {{"Authorization", "Bearer of another"}};
  call.sign = [](HttpRequest& request) { request.headers = {{"X-Signed", "yes"}}; };
  call.judge = [](const HttpResponse& response) { return RetryVerdict{response.status == 409, {}}; };
  one->prepare(call);
  EXPECT_EQ(world_.http.send_one(std::move(call)).status, 200);
  ASSERT_EQ(world_.http.requests.size(), 3U);
  EXPECT_THAT(world_.http.requests[2].headers,
              ElementsAre(std::pair("X-Signed", "yes"), std::pair("Authorization", "Bearer t")));
}

TEST_F(KubeAccessTo, AskedOnceMoreAfter401WithANewToken) {
  in_pod();
  const auto one = access();
  get(*one);
  world_.files.content[std::string(kPod) + "/token"] = "next";
  world_.http.handler = [&](const HttpRequest&) { return status(bearers().back() == "Bearer next" ? 200 : 401); };
  EXPECT_EQ(get(*one).status, 200);
  EXPECT_THAT(bearers(), ElementsAre("Bearer pod-token", "Bearer pod-token", "Bearer next"));
}

TEST_F(KubeAccessTo, NotAskedOverAndOverAfter401) {
  in_pod();
  const auto one = access();
  world_.http.handler = [](const HttpRequest&) { return status(401); };
  EXPECT_EQ(get(*one).status, 401);
  EXPECT_EQ(world_.http.requests.size(), 2U);
  EXPECT_EQ(get(*one).status, 401);  // the token was read anew just now
  EXPECT_EQ(world_.http.requests.size(), 3U);

  world_.http.requests.clear();
  config(config_with_user("{token: t}"));
  KubeAccessSettings settings;
  settings.context = "x";
  EXPECT_EQ(get(*access(settings)).status, 401);
  EXPECT_EQ(world_.http.requests.size(), 1U);  // there is but this token
}

TEST_F(KubeAccessTo, WithoutAJudgeFailuresAreRetriedAsUsual) {
  config(config_with_user("{token: t}"));
  const auto one = access();
  world_.http.handler = [&](const HttpRequest&) { return status(world_.http.requests.size() < 3 ? 503 : 404); };
  EXPECT_EQ(get(*one).status, 404);
  EXPECT_EQ(world_.http.requests.size(), 3U);
}

TEST_F(KubeAccessTo, AProxyOnThisMachineIsToldNoCredentials) {
  config(config_with_user("{token: t}", "{server: 'http://127.0.0.1:8001'}"));
  get(*access());
  EXPECT_THAT(bearers(), ElementsAre(""));
}

TEST_F(KubeAccessTo, EksTakesServerAndAuthorityFromTheKubeconfigAndNothingElse) {
  config(config_with_user("{auth-provider: {name: x}}",
                          "{server: 'https://ABC.gr7.eu-north-1.eks.amazonaws.com', certificate-authority-data: " +
                              base64(kCertificatePem) + "}"));
  world_.environment.variables["AWS_ACCESS_KEY_ID"] = "AKIAE";
  world_.environment.variables["AWS_SECRET_ACCESS_KEY"] = "s3cret";
  KubeAccessSettings settings;
  settings.eks = EksTokenSettings{"gpu", "", "", ""};
  get(*access(settings));
  ASSERT_EQ(world_.http.requests.size(), 1U);
  EXPECT_EQ(world_.http.requests[0].tls->ca_certificates, kCertificatePem);
  EXPECT_THAT(bearers()[0], StartsWith("Bearer k8s-aws-v1."));
  EXPECT_TRUE(world_.processes.requests.empty());

  settings.gke = GoogleCredentialOptions{};
  EXPECT_EQ(failure([&] { access(settings); }), "InvalidConfig: EksCluster and Gke: expected one of them, found both");
}

TEST_F(KubeAccessTo, GkeTakesItsTokenFromGoogle) {
  in_pod();
  world_.http.handler = [this](const HttpRequest& request) {
    if (request.url.find("metadata") == std::string::npos) return status(200);
    auto response = status(200);
    response.headers = {{"Metadata-Flavor", "Google"}};
    response.body = R"({"access_token": "ya29.x", "expires_in": 3599, "token_type": "Bearer"})";
    return response;
  };
  KubeAccessSettings settings;
  settings.gke = GoogleCredentialOptions{};
  get(*access(settings));
  EXPECT_EQ(bearers().back(), "Bearer ya29.x");
}

TEST_F(KubeAccessTo, NoSecretReachesTheLog) {
  in_pod();
  world_.files.content[std::string(kPod) + "/token"] = "s3cret";
  const auto one = access();
  world_.http.handler = [](const HttpRequest&) { return status(401); };
  get(*one);
  world_.files.content.clear();
  world_.clock.advance(seconds(120));
  EXPECT_THAT(failure([&] { get(*one); }), HasSubstr("in cluster: tokenFile: no such file"));
  EXPECT_THAT(world_.log.text(), HasSubstr("in cluster: getting a new credential failed"));
  EXPECT_THAT(world_.log.text(), Not(HasSubstr("s3cret")));
}

}  // namespace
}  // namespace burst::auth
