// SPDX-License-Identifier: Apache-2.0
#include "gce/metadata_service.h"

#include <gtest/gtest.h>

namespace cloudsim::gce {
namespace {

class GceMetadata : public testing::Test {
 protected:
  static std::optional<MachineMetadata> machine(const std::string& name) {
    if (name != "head" && name != "n-1") {
      return std::nullopt;
    }
    MachineMetadata out{name,
                        "42",
                        name + ".us-central1-a.c.p.internal",
                        "us-central1-a",
                        "n2-standard-2",
                        "127.0.0.9",
                        "p",
                        "123",
                        "sa@p.iam.gserviceaccount.com",
                        {}};
    if (name == "n-1") {
      out.attributes = {{"created-by", "projects/123/regions/r/instanceGroupManagers/m"}, {"slurm_job_id", "7"}};
    }
    return out;
  }
  HttpReply get(const std::string& target, const HttpHeaders& headers = {{"metadata-flavor", "Google"}}) {
    const auto mark = target.find('?');
    const HttpRequest request{"GET", target.substr(0, mark), mark == std::string::npos ? "" : target.substr(mark + 1),
                              headers, ""};
    EXPECT_TRUE(MetadataService::is_asked(request));
    return service_.answer(request);
  }
  std::string text(const std::string& item, const std::string& prefix = "") {
    const auto reply = get(prefix + "/computeMetadata/v1/" + item);
    return reply.status == 200 ? reply.body : std::to_string(reply.status);
  }

  GoogleAuth auth_{7};
  MetadataService service_{auth_, machine};
};

TEST_F(GceMetadata, KnowsTheMachineThatAsks) {
  EXPECT_EQ(text("instance/name"), "head");
  EXPECT_EQ(text("instance/name", "/gce-metadata/n-1"), "n-1");
  EXPECT_EQ(text("instance/id", "/gce-metadata/n-1"), "42");
  EXPECT_EQ(text("instance/zone"), "projects/123/zones/us-central1-a");
  EXPECT_EQ(text("instance/hostname"), "head.us-central1-a.c.p.internal");
  EXPECT_EQ(text("project/project-id"), "p");
  EXPECT_EQ(text("project/numeric-project-id"), "123");
  EXPECT_EQ(text("instance/attributes/slurm_job_id", "/gce-metadata/n-1"), "7");
  EXPECT_EQ(text("instance/attributes/slurm_job_id"), "404");
  EXPECT_EQ(text("instance/name", "/gce-metadata/n-2"), "404");
  EXPECT_EQ(text("instance/nothing"), "404");
}

TEST_F(GceMetadata, AsksForItsHeaderAndSendsIt) {
  const auto reply = get("/computeMetadata/v1/instance/name");
  EXPECT_EQ(reply.headers.at(0), (std::pair<std::string, std::string>{"Metadata-Flavor", "Google"}));
  EXPECT_EQ(get("/computeMetadata/v1/instance/name", {}).status, 403);
  EXPECT_EQ(get("/computeMetadata/v1/instance/name", {{"metadata-flavor", "Amazon"}}).status, 403);
  EXPECT_EQ(
      get("/computeMetadata/v1/instance/name", {{"metadata-flavor", "Google"}, {"x-forwarded-for", "1.2.3.4"}}).status,
      403);
}

TEST_F(GceMetadata, ListsDirectories) {
  EXPECT_EQ(text(""), "instance/\nproject/\n");
  EXPECT_EQ(text("instance/attributes/"), "");
  EXPECT_EQ(text("instance/attributes/", "/gce-metadata/n-1"), "created-by\nslurm_job_id\n");
  EXPECT_EQ(text("instance/service-accounts/"), "default/\nsa@p.iam.gserviceaccount.com/\n");
  EXPECT_EQ(get("/computeMetadata/v1/instance").status, 301);
  const auto tree = nlohmann::json::parse(text("instance/?recursive=true", "/gce-metadata/n-1"));
  EXPECT_EQ(tree["machineType"], "projects/123/machineTypes/n2-standard-2");
  EXPECT_EQ(tree["attributes"]["slurm_job_id"], "7");
  EXPECT_EQ(tree["serviceAccounts"]["default"]["email"], "sa@p.iam.gserviceaccount.com");
  EXPECT_FALSE(tree["serviceAccounts"]["default"].contains("token"));
}

TEST_F(GceMetadata, GivesATokenThatTheApiTakes) {
  const auto token = nlohmann::json::parse(text("instance/service-accounts/default/token"));
  EXPECT_EQ(token["token_type"], "Bearer");
  const std::string bearer = "Bearer " + token["access_token"].get<std::string>();
  EXPECT_TRUE(auth_.authorized({"GET", "/compute/v1/projects/p/zones", "", {{"authorization", bearer}}, ""}));
  EXPECT_EQ(text("instance/service-accounts/default/email"), "sa@p.iam.gserviceaccount.com");
  EXPECT_EQ(text("instance/service-accounts/default/scopes"), "https://www.googleapis.com/auth/cloud-platform\n");
  EXPECT_EQ(text("instance/service-accounts/other/token"), "404");
}

}  // namespace
}  // namespace cloudsim::gce
