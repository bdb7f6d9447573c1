// SPDX-License-Identifier: Apache-2.0
#include "gce/schema.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "gce/api_description.h"

namespace cloudsim::gce {
namespace {

const std::string kZone = "/compute/v1/projects/p1/zones/us-central1-a";
const std::string kRegion = "/compute/v1/projects/p1/regions/us-central1";

HttpRequest request(const std::string& method, const std::string& target, const std::string& body = "") {
  const auto mark = target.find('?');
  return {method, target.substr(0, mark), mark == std::string::npos ? "" : target.substr(mark + 1), {}, body};
}

ApiError refused(const HttpRequest& request) {
  try {
    parse_call(request);
  } catch (const ApiError& error) {
    return error;
  }
  ADD_FAILURE() << "taken: " << request.method << ' ' << request.path << ' ' << request.body;
  return {};
}

std::string bulk_insert_complaint(const std::string& body) {
  const auto error = refused(request("POST", kZone + "/instances/bulkInsert", body));
  EXPECT_EQ(error.status, 400);
  EXPECT_EQ(error.status_text, "INVALID_ARGUMENT");
  return error.message;
}

nlohmann::json bulk_insert(const std::string& body) {
  return parse_call(request("POST", kZone + "/instances/bulkInsert", body)).body;
}

TEST(GceSchema, HasAllMethodsAndMessagesOfGooglesClient) {
  EXPECT_EQ(compute_v1().methods.size(), 164U);
  EXPECT_GE(compute_v1().messages.size(), 210U);
}

TEST(GceSchema, FindsEachMethodByItsOwnPath) {
  for (const auto& method : compute_v1().methods) {
    std::string path;
    std::string query;
    for (const auto& segment : method.segments) {
      path += segment.empty() ? "" : "/" + (segment.starts_with('{') ? "x" + segment.substr(1, 3) : segment);
    }
    for (const auto& name : method.required) {
      const auto kind = method.parameters.at(name).kind;
      query += (query.empty() ? "" : "&") + name + (kind == FieldType::Kind::boolean ? "=true" : "=3");
    }
    const auto call = parse_call({method.http_method, path, query, {}, method.body.empty() ? "" : "{}"});
    EXPECT_EQ(call.method, method.name) << path;
  }
}

TEST(GceSchema, TakesParametersOfPathAndQuery) {
  const auto call =
      parse_call(request("GET", kZone + "/instances?maxResults=5&filter=name%20eq%20a%2B&alt=json&%24.xgafv=2"));
  EXPECT_EQ(call.method, "Instances.list");
  const std::map<std::string, std::string> expected{{"project", "p1"},   {"zone", "us-central1-a"},
                                                    {"maxResults", "5"}, {"filter", "name eq a+"},
                                                    {"alt", "json"},     {"$.xgafv", "2"}};
  EXPECT_EQ(call.parameters, expected);
  EXPECT_TRUE(call.body.is_object());
}

TEST(GceSchema, RefusesPathsThatGoogleHasNotGot) {
  for (const auto& target : {kZone + "/machines", std::string("/compute/v1/projects/p1"), kZone + "/instances//start",
                             kZone + "/instances/", std::string("/compute/beta/projects/p1/zones")}) {
    EXPECT_EQ(refused(request("GET", target)).status, 404) << target;
  }
  EXPECT_EQ(refused(request("PUT", kZone + "/instances")).reason, "notFound");
}

TEST(GceSchema, RefusesUnknownAndIllTypedParameters) {
  const auto unknown = refused(request("GET", kZone + "/instances?maxresults=5"));
  EXPECT_EQ(unknown.status, 400);
  EXPECT_EQ(
      unknown.message,
      "Invalid JSON payload received. Unknown name \"maxresults\": Cannot bind query parameter. Field 'maxresults' "
      "could not be found in request message.");
  EXPECT_EQ(refused(request("GET", kZone + "/instances?maxResults=many")).message,
            "Invalid value at 'max_results' (TYPE_INT32), \"many\"");
  EXPECT_EQ(refused(request("GET", kZone + "/instances?returnPartialSuccess=1")).message,
            "Invalid value at 'return_partial_success' (TYPE_BOOL), \"1\"");
}

TEST(GceSchema, RefusesACallWithoutARequiredParameterOrBody) {
  const auto error = refused(request("POST", kRegion + "/instanceGroupManagers/m/resize"));
  EXPECT_EQ(error.status, 400);
  EXPECT_EQ(error.reason, "required");
  EXPECT_EQ(error.message, "Required field 'size' not specified");
  EXPECT_EQ(refused(request("POST", kZone + "/instances/bulkInsert")).reason, "required");
}

TEST(GceSchema, RefusesUnknownFieldsWithTheirPlace) {
  EXPECT_EQ(bulk_insert_complaint(R"({"counts": "3"})"),
            "Invalid JSON payload received. Unknown name \"counts\" at 'resource': Cannot find field.");
  EXPECT_EQ(
      bulk_insert_complaint(R"({"instanceProperties": {"disks": [{}, {"size": 1}]}})"),
      "Invalid JSON payload received. Unknown name \"size\" at 'resource.instance_properties.disks[1]': Cannot find "
      "field.");
  EXPECT_EQ(
      bulk_insert_complaint(R"({"perInstanceProperties": {"n-1": {"nam": "x"}}})"),
      "Invalid JSON payload received. Unknown name \"nam\" at 'resource.per_instance_properties[0].value': Cannot "
      "find field.");
  EXPECT_EQ(bulk_insert_complaint(R"({"instanceProperties": {"metadata": {"items": [{"kay": "x"}]}}})"),
            "Invalid JSON payload received. Unknown name \"kay\" at 'resource.instance_properties.metadata.items[0]': "
            "Cannot find field.");
}

TEST(GceSchema, ReportsEveryComplaintAtOnce) {
  EXPECT_EQ(bulk_insert_complaint(R"({"a": 1, "count": true})"),
            "Invalid JSON payload received. Unknown name \"a\" at 'resource': Cannot find field.\n"
            "Invalid value at 'resource.count' (TYPE_INT64), true");
}

TEST(GceSchema, RefusesValuesOfTheWrongType) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {R"({"count": "many"})", "Invalid value at 'resource.count' (TYPE_INT64), \"many\""},
      {R"({"count": 1.5})", "Invalid value at 'resource.count' (TYPE_INT64), 1.5"},
      {R"({"namePattern": 5})", "Invalid value at 'resource.name_pattern' (TYPE_STRING), 5"},
      {R"({"namePattern": ["n-#"]})",
       "Invalid JSON payload received. Unknown name \"name_pattern\" at 'resource': Proto field is not repeating, "
       "cannot "
       "start list."},
      {R"({"namePattern": {}})", "Invalid value at 'resource' (name_pattern), Starting an object on a scalar field"},
      {R"({"instanceProperties": {"canIpForward": "yes"}})",
       "Invalid value at 'resource.instance_properties.can_ip_forward' (TYPE_BOOL), \"yes\""},
      {R"({"instanceProperties": {"scheduling": {"minNodeCpus": 3000000000}}})",
       "Invalid value at 'resource.instance_properties.scheduling.min_node_cpus' (TYPE_INT32), 3000000000"},
      {R"({"instanceProperties": {"labels": {"a": 1}}})",
       "Invalid value at 'resource.instance_properties.labels[0].value' (TYPE_STRING), 1"},
      {R"({"instanceProperties": {"scheduling": {"maxRunDuration": "600s"}}})",
       "Invalid value at 'resource.instance_properties.scheduling.max_run_duration' "
       "(type.googleapis.com/google.cloud.compute.v1.Duration), \"600s\""},
      {R"({"instanceProperties": {"resourcePolicies": "p"}})",
       "Invalid value at 'resource.instance_properties.resource_policies' (TYPE_STRING), \"p\""},
  };
  for (const auto& [body, message] : cases) {
    EXPECT_EQ(bulk_insert_complaint(body), message) << body;
  }
}

TEST(GceSchema, RefusesWhatIsNoJsonObject) {
  EXPECT_EQ(refused(request("POST", kZone + "/instances/bulkInsert", "{")).reason, "parseError");
  EXPECT_EQ(refused(request("POST", kZone + "/instances/bulkInsert", "[]")).status, 400);
  EXPECT_EQ(refused(request("DELETE", kZone + "/instances/n-1", R"({"a": 1})")).status, 400);
}

TEST(GceSchema, TakesIntegersAsTextAndAsNumber) {
  EXPECT_EQ(bulk_insert(R"({"count": "3", "minCount": 2})"), (nlohmann::json{{"count", "3"}, {"minCount", "2"}}));
  EXPECT_EQ(bulk_insert(R"({"count": 3.0})"), (nlohmann::json{{"count", "3"}}));
  EXPECT_EQ(bulk_insert(R"({"instanceProperties": {"scheduling": {"minNodeCpus": "4"}}})")["instanceProperties"],
            (nlohmann::json{{"scheduling", {{"minNodeCpus", 4}}}}));
}

TEST(GceSchema, NormalisesSnakeCaseNamesButNotTheKeysOfMaps) {
  const auto call = parse_call(request("POST", kRegion + "/instanceGroupManagers/m/resizeRequests?request_id=x",
                                       R"({"name": "r", "requested_run_duration": {"seconds": 600}})"));
  EXPECT_EQ(call.method, "Regioninstancegroupmanagerresizerequests.insert");
  EXPECT_EQ(call.parameters.at("requestId"), "x");
  EXPECT_EQ(call.body, (nlohmann::json{{"name", "r"}, {"requestedRunDuration", {{"seconds", "600"}}}}));
  EXPECT_EQ(bulk_insert(R"({"instance_properties": {"labels": {"job_id": "1"}}})"),
            (nlohmann::json{{"instanceProperties", {{"labels", {{"job_id", "1"}}}}}}));
}

TEST(GceSchema, TakesNullAsAbsent) { EXPECT_TRUE(bulk_insert(R"({"count": null, "namePattern": null})").empty()); }

TEST(GceSchema, WritesErrorsAsGoogleDoes) {
  EXPECT_EQ(error_body({404, "notFound", "NOT_FOUND", "gone"}),
            nlohmann::json::parse(R"({"error": {"code": 404, "message": "gone", "status": "NOT_FOUND",
                                      "errors": [{"message": "gone", "domain": "global", "reason": "notFound"}]}})"));
  EXPECT_FALSE(error_body({409, "alreadyExists", "", "there"})["error"].contains("status"));
}

}  // namespace
}  // namespace cloudsim::gce
