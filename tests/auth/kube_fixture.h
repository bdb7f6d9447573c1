// SPDX-License-Identifier: Apache-2.0
// What the tests of access to Kubernetes have in common: an empty world, and texts that look like PEM.
#pragma once

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "auth/google_base64.h"
#include "auth/kube_access.h"
#include "fakes/fake_services.h"

namespace burst::auth {

inline const std::string kCertificatePem =  // NOLINT: tests
    "-----BEGIN CERTIFICATE-----\nQUJD\n-----END CERTIFICATE-----\n";
inline const std::string kKeyPem =  // NOLINT: tests
    "-----BEGIN EC PRIVATE KEY-----\ns3cretKEY\n-----END EC PRIVATE KEY-----\n";

class KubeWorld : public ::testing::Test {
 protected:
  KubeWorld() {
    world_.environment.variables = {{"HOME", "/home/x"}};
    world_.http.handler = [](const HttpRequest&) {
      HttpResponse response;
      response.status = 200;
      return response;
    };
  }

  static constexpr auto* kConfigPath = "/home/x/.kube/config";
  static constexpr auto* kPod = "/var/run/secrets/kubernetes.io/serviceaccount";

  /// A kubeconfig with one cluster, whose user is the YAML flow mapping `user`.
  static std::string config_with_user(const std::string& user,
                                      const std::string& cluster = "{server: 'https://10.0.0.1:6443'}") {
    return "apiVersion: v1\nkind: Config\ncurrent-context: x\ncontexts:\n- name: x\n  context: {cluster: c, user: u}\n"
           "clusters:\n- name: c\n  cluster: " +
           cluster + "\nusers:\n- name: u\n  user: " + user + "\n";
  }
  void config(const std::string& text) { world_.files.content[kConfigPath] = text; }
  void in_pod() {
    world_.files.content[std::string(kPod) + "/token"] = "pod-token\n";
    world_.files.content[std::string(kPod) + "/ca.crt"] = kCertificatePem;
    world_.files.content[std::string(kPod) + "/namespace"] = "jobs";
  }

  /// The bearer tokens that the requests so far bore; empty: none.
  std::vector<std::string> bearers() const {
    std::vector<std::string> all;
    for (const auto& request : world_.http.requests) {
      HttpResponse lookup;
      lookup.headers = request.headers;
      all.emplace_back(lookup.header("Authorization").value_or(""));
    }
    return all;
  }
  std::shared_ptr<KubeAccess> access(const KubeAccessSettings& settings = {}) {
    return make_kube_access(settings, world_.services());
  }
  HttpResponse get(const KubeAccess& access, const std::string& path = "/version") {
    HttpCall call;
    call.request.url = path;
    access.prepare(call);
    return world_.http.send_one(std::move(call));
  }
  /// `CODE: text` of the Error that `action` ends in; no secret in it.
  template <typename Action>
  static std::string failure(Action&& action) {
    try {
      action();
      return "no error";
    } catch (const Error& error) {
      const auto text = error.code() + ": " + error.what();
      EXPECT_EQ(text.find("s3cret"), std::string::npos) << text;
      EXPECT_EQ(text.find('\n'), std::string::npos) << text;
      return text;
    }
  }

  FakeServices world_;
};

}  // namespace burst::auth
