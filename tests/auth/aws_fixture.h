// SPDX-License-Identifier: Apache-2.0
// What the tests of AWS credentials have in common: an empty world with a home folder and no instance metadata.
#pragma once

#include <functional>
#include <map>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "auth/aws_credentials.h"
#include "fakes/fake_services.h"

namespace burst::auth {

class AwsWorld : public ::testing::Test {
 protected:
  AwsWorld() {
    world_.environment.variables = {{"HOME", "/home/x"}};
    world_.http.handler = [this](const HttpRequest& request) {
      const auto found = answers_.find(request.url);
      if (found != answers_.end()) return found->second(request);
      HttpResponse silence;
      silence.transport_error = "connecting to nowhere: no answer in 1000 ms";
      return silence;
    };
  }

  static HttpResponse reply(int status, std::string body) {
    HttpResponse response;
    response.status = status;
    response.body = std::move(body);
    return response;
  }
  void answer(const std::string& url, int status, const std::string& body) {
    answers_[url] = [=](const HttpRequest&) { return reply(status, body); };
  }
  void config(const std::string& text) { world_.files.content["/home/x/.aws/config"] = text; }
  void credentials(const std::string& text) { world_.files.content["/home/x/.aws/credentials"] = text; }
  std::string& variable(const std::string& name) { return world_.environment.variables[name]; }

  std::unique_ptr<AwsCredentialSource> source(const std::string& profile = "") {
    return make_aws_credential_source({profile, "us-east-1"}, world_.services());
  }
  AwsCredentials get(const std::string& profile = "") { return source(profile)->get(); }
  /// `CODE: text` of the Error that looking for credentials ends in.
  std::string failure(const std::string& profile = "") {
    try {
      return "found " + get(profile).access_key_id;
    } catch (const Error& error) {
      return error.code() + ": " + error.what();
    }
  }

  static constexpr auto* kImds = "http://169.254.169.254/latest/meta-data/iam/security-credentials/";
  void instance_role(const std::string& id, const std::string& expires = "2026-05-29T00:00:00Z") {
    answer("http://169.254.169.254/latest/api/token", 200, "imds-token");
    answer(kImds, 200, "role-a");
    answer(std::string(kImds) + "role-a", 200, keys_json(id, expires));
  }
  static std::string keys_json(const std::string& id, const std::string& expires) {
    return R"({"Code":"Success","AccessKeyId":")" + id +
           R"(","SecretAccessKey":"s3cret","Token":"t0ken","Expiration":")" + expires + R"("})";
  }
  static std::string sts_reply(const std::string& action, const std::string& id) {
    return "<" + action + R"(Response xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><)" + action +
           "Result><AssumedRoleUser><Arn>arn</Arn></AssumedRoleUser><Credentials><AccessKeyId>" + id +
           "</AccessKeyId><SecretAccessKey>s3cret</SecretAccessKey><SessionToken>t0ken</SessionToken>"
           "<Expiration>2026-05-28T21:26:40Z</Expiration></Credentials></" +
           action + "Result><ResponseMetadata><RequestId>r</RequestId></ResponseMetadata></" + action + "Response>";
  }
  static std::string sts_error(const std::string& code) {
    return R"(<ErrorResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><Error><Type>Sender</Type><Code>)" +
           code + "</Code><Message>said no</Message></Error><RequestId>req-1</RequestId></ErrorResponse>";
  }
  /// STS as it answers one action after the other.
  void sts(std::vector<HttpResponse> responses) {
    auto queue = std::make_shared<std::deque<HttpResponse>>(responses.begin(), responses.end());
    answers_["https://sts.us-east-1.amazonaws.com/"] = [queue](const HttpRequest&) {
      auto next = queue->front();
      if (queue->size() > 1) queue->pop_front();
      return next;
    };
  }

  FakeServices world_;
  std::map<std::string, std::function<HttpResponse(const HttpRequest&)>> answers_;
};

}  // namespace burst::auth
