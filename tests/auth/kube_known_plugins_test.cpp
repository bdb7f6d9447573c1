// SPDX-License-Identifier: Apache-2.0
// Tests of the clouds' exec plugins: which we know, and that ours takes their place when they are not there.
#include "auth/kube_known_plugins.h"

#include "kube_fixture.h"

namespace burst::auth {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using Words = std::vector<std::string>;
using Variables = std::vector<std::pair<std::string, std::string>>;

/// `CLUSTER REGION PROFILE ROLE`, `GKE`, or `unknown`.
std::string known(const std::string& command, const Words& words, const Variables& variables = {}) {
  KubeExec exec;
  exec.command = command;
  exec.arguments = words;
  exec.environment = variables;
  const auto plugin = recognise_plugin(exec);
  if (!plugin) return "unknown";
  if (!plugin->eks) return "GKE" + plugin->gke.credentials_file;
  const auto& eks = *plugin->eks;
  return eks.cluster + " " + eks.region + " " + eks.profile + " " + eks.role_arn;
}

TEST(KubeKnownPlugins, AreAwsEksGetToken) {
  // As `aws eks update-kubeconfig` writes it.
  EXPECT_EQ(known("aws", {"--region", "eu-north-1", "eks", "get-token", "--cluster-name", "gpu", "--output", "json"}),
            "gpu eu-north-1  ");
  EXPECT_EQ(known("/usr/local/bin/aws",
                  {"eks", "get-token", "--cluster-name=gpu", "--role-arn", "arn:r", "--profile=p", "--no-cli-pager"}),
            "gpu  p arn:r");
  EXPECT_EQ(known("aws", {"eks", "get-token", "--cluster-id", "id"},
                  {{"AWS_PROFILE", "q"}, {"AWS_DEFAULT_REGION", "d"}, {"AWS_STS_REGIONAL_ENDPOINTS", "regional"}}),
            "id d q ");
  EXPECT_EQ(known("aws", {"eks", "get-token", "--cluster-name", "c", "--profile", "p", "--region", "r"},
                  {{"AWS_PROFILE", "q"}, {"AWS_REGION", "e"}, {"OTHER", "x"}}),
            "c r p ");
}

TEST(KubeKnownPlugins, AreTheIamAuthenticator) {
  EXPECT_EQ(known("aws-iam-authenticator", {"token", "-i", "gpu"}), "gpu   ");
  EXPECT_EQ(known("aws-iam-authenticator", {"token", "--cluster-id", "gpu", "-r", "arn:r", "--region=x", "--cache"}),
            "gpu x  arn:r");
}

TEST(KubeKnownPlugins, AreTheOneOfGke) {
  EXPECT_EQ(known("gke-gcloud-auth-plugin", {}), "GKE");
  EXPECT_EQ(known("/opt/sdk/bin/gke-gcloud-auth-plugin", {"--use_application_default_credentials"}), "GKE");
  EXPECT_EQ(known("gke-gcloud-auth-plugin", {}, {{"GOOGLE_APPLICATION_CREDENTIALS", "/key"}, {"X", "y"}}), "GKE/key");
}

TEST(KubeKnownPlugins, AreNoOthersAndNotWithOptionsThatWeCannotHonour) {
  EXPECT_EQ(known("my-aws", {"eks", "get-token", "--cluster-name", "gpu"}), "unknown");
  EXPECT_EQ(known("aws", {"eks", "get-token"}), "unknown");
  EXPECT_EQ(known("aws", {"eks", "get-token", "--cluster-name"}), "unknown");
  EXPECT_EQ(known("aws", {"eks", "describe-cluster", "--cluster-name", "gpu"}), "unknown");
  EXPECT_EQ(known("aws", {"eks", "get-token", "--cluster-name", "gpu", "--output", "text"}), "unknown");
  EXPECT_EQ(known("aws", {"eks", "get-token", "--cluster-name", "gpu", "--endpoint-url", "x"}), "unknown");
  EXPECT_EQ(known("aws", {"eks", "get-token", "--cluster-name", "gpu"}, {{"AWS_ACCESS_KEY_ID", "x"}}), "unknown");
  EXPECT_EQ(known("aws", {"eks", "get-token", "--cluster-name", "gpu"}, {{"AWS_CONFIG_FILE", "x"}}), "unknown");
  EXPECT_EQ(known("aws-iam-authenticator", {"token", "-i", "gpu", "--forward-session-name"}), "unknown");
  EXPECT_EQ(known("aws-iam-authenticator", {"verify", "-i", "gpu"}), "unknown");
  EXPECT_EQ(known("gke-gcloud-auth-plugin", {"--impersonate_service_account=x"}), "unknown");
  EXPECT_EQ(known("gke-gcloud-auth-plugin", {}, {{"CLOUDSDK_CORE_ACCOUNT", "x"}}), "unknown");
  EXPECT_EQ(known("", {}), "unknown");
}

class KubeWithoutPlugin : public KubeWorld {
 protected:
  KubeWithoutPlugin() {
    world_.processes.handler = [](const ProcessRequest& request) -> ProcessResult {
      throw Error("ProcessError", "running \"" + request.argv[0] + "\": No such file or directory");
    };
  }
  void plugin(const std::string& command) {
    config(config_with_user("{exec: {apiVersion: client.authentication.k8s.io/v1beta1, " + command + "}}",
                            "{server: 'https://ABC.gr7.eu-north-1.eks.amazonaws.com'}"));
  }
};

TEST_F(KubeWithoutPlugin, MakesTheTokenOfEksHere) {
  plugin("command: aws, args: [eks, get-token, --cluster-name, gpu]");
  world_.environment.variables["AWS_ACCESS_KEY_ID"] = "AKIAE";
  world_.environment.variables["AWS_SECRET_ACCESS_KEY"] = "s3cret";
  const auto one = access();
  get(*one);
  get(*one);
  EXPECT_THAT(bearers(), ::testing::Each(StartsWith("Bearer k8s-aws-v1.aHR0cHM6Ly9zdHMuZXUtbm9ydGgtMS5hbWF6b25hd3M")));
  EXPECT_EQ(world_.processes.requests.size(), 1U);  // not looked for again
  EXPECT_THAT(world_.log.text(),
              HasSubstr("\"aws\" can't be started, its token is made here: for EKS cluster \"gpu\""));
  EXPECT_EQ(world_.log.lines.at(0).first, LogLevel::info);
}

TEST_F(KubeWithoutPlugin, TakesTheTokenOfGkeFromGoogle) {
  plugin("command: gke-gcloud-auth-plugin");
  world_.http.handler = [](const HttpRequest& request) {
    HttpResponse response;
    response.status = 200;
    if (request.url.find("metadata") == std::string::npos) return response;
    response.headers = {{"Metadata-Flavor", "Google"}};
    response.body = R"({"access_token": "ya29.x", "expires_in": 3599, "token_type": "Bearer"})";
    return response;
  };
  const auto one = access();
  EXPECT_EQ(get(*one).status, 200);
  EXPECT_EQ(bearers().back(), "Bearer ya29.x");
}

TEST_F(KubeWithoutPlugin, IsAnErrorForAnyOther) {
  plugin("command: aws, args: [eks, get-token, --cluster-name, gpu, --debug-level, s3cret]");
  const auto one = access();
  EXPECT_THAT(failure([&] { get(*one); }),
              AllOf(StartsWith("ExecPluginNotStarted: context \"x\" of "), HasSubstr("exec plugin \"aws\": running ")));
}

TEST_F(KubeWithoutPlugin, IsNotMistakenForOneThatFails) {
  plugin("command: aws, args: [eks, get-token, --cluster-name, gpu]");
  world_.processes.handler = [](const ProcessRequest&) { return ProcessResult{255, false, "", "ExpiredToken"}; };
  const auto one = access();
  EXPECT_THAT(failure([&] { get(*one); }), HasSubstr("exec plugin \"aws\": exit status 255: ExpiredToken"));
}

}  // namespace
}  // namespace burst::auth
