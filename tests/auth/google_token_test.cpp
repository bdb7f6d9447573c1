// SPDX-License-Identifier: Apache-2.0
// Tests of the places that Google credentials come from, of impersonation and of the cache before them.
#include "auth/google_token.h"

#include <atomic>
#include <latch>
#include <thread>
#include <vector>

#include "google_fixture.h"

namespace burst::auth {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::Not;

class GoogleToken : public GoogleWorld {
 protected:
  std::shared_ptr<GoogleTokenSource> source(const GoogleCredentialOptions& options = {}) {
    return make_google_token_source(options, world_.services());
  }
  std::string get(const GoogleCredentialOptions& options = {}) {
    try {
      return source(options)->token().reveal();
    } catch (const Error& error) {
      return error.code() + ": " + error.what();
    }
  }
  /// The token endpoint gives t1, t2, ... each for as long as `lifetime_` says.
  void count_tokens() {
    file("/home/x/.config/gcloud/application_default_credentials.json") = authorized_user().dump();
    answers_[kTokenUri] = [this](const HttpRequest&) {
      return reply(200, token_json("t" + std::to_string(++fetches_), lifetime_));
    };
  }
  std::atomic<int> fetches_ = 0;
  int lifetime_ = 3600;
};

TEST_F(GoogleToken, ComesFromEachPlaceWhenThoseBeforeItAreEmpty) {
  const auto user = [](const std::string& id) {
    auto content = authorized_user();
    content["client_id"] = id;
    return content.dump();
  };
  answers_[kTokenUri] = [](const HttpRequest& request) {
    const auto begin = request.body.find("client_id=") + 10;
    return reply(200, token_json(request.body.substr(begin, request.body.find('&', begin) - begin)));
  };
  file("/option.json") = user("option");
  file("/variable.json") = user("variable");
  file("/sdk/application_default_credentials.json") = user("sdk");
  file("/home/x/.config/gcloud/application_default_credentials.json") = user("home");
  variable("GOOGLE_APPLICATION_CREDENTIALS") = "/variable.json";
  variable("CLOUDSDK_CONFIG") = "/sdk";
  metadata("vm");
  EXPECT_EQ(get({"/option.json", ""}), "option");
  EXPECT_EQ(get(), "variable");
  variable("GOOGLE_APPLICATION_CREDENTIALS") = "";
  EXPECT_EQ(get(), "sdk");
  variable("CLOUDSDK_CONFIG") = "";
  EXPECT_EQ(get(), "home");
  world_.files.content.clear();
  EXPECT_EQ(get(), "vm");
  variable("HOME") = "";
  EXPECT_EQ(get(), "vm");
}

TEST_F(GoogleToken, NamesEveryPlaceInOneLine) {
  EXPECT_EQ(
      get(),
      "NoCredentials: no Google credentials found: environment: GOOGLE_APPLICATION_CREDENTIALS is not set; "
      "gcloud: no file '/home/x/.config/gcloud/application_default_credentials.json'; metadata server: connecting "
      "to nowhere: no answer in 1000 ms, connecting to nowhere: no answer in 1000 ms");
  world_.environment.variables.clear();
  EXPECT_THAT(get(), HasSubstr("; gcloud: neither CLOUDSDK_CONFIG nor HOME is set; "));
}

TEST_F(GoogleToken, ComesFromNoOtherPlaceWhenANamedFileIsMissingOrWrong) {
  metadata("vm");
  EXPECT_EQ(get({"/option.json", ""}), "NoCredentials: CredentialsFile: no such file: \"/option.json\"");
  variable("GOOGLE_APPLICATION_CREDENTIALS") = "/variable.json";
  EXPECT_EQ(get(), "NoCredentials: GOOGLE_APPLICATION_CREDENTIALS: no such file: \"/variable.json\"");
  file("/variable.json") = "{}";
  EXPECT_THAT(get(), HasSubstr("credentials file \"/variable.json\": type: expected"));
  variable("GOOGLE_APPLICATION_CREDENTIALS") = "";
  world_.files.unreadable = {"/home/x/.config/gcloud/application_default_credentials.json"};
  EXPECT_THAT(get(), HasSubstr("permission denied"));
  EXPECT_TRUE(world_.http.requests.empty());
}

TEST_F(GoogleToken, IsAnotherAccountsWhenAskedFor) {
  metadata("base");
  answer(kImpersonationUri, 200, impersonated_json("ya29.imp"));
  EXPECT_EQ(get({"", "s@p.iam.gserviceaccount.com"}), "ya29.imp");
  ASSERT_EQ(world_.http.requests.size(), 2U);
  EXPECT_EQ(sent(1).headers.back().second, "Bearer base");
  EXPECT_EQ(json::parse(sent(1).body),
            (json{{"scope", {"https://www.googleapis.com/auth/cloud-platform"}}, {"lifetime", "3600s"}}));
  answer(kImpersonationUri, 403, R"({"error":{"code":403,"message":"no base","status":"PERMISSION_DENIED"}})");
  EXPECT_EQ(get({"", "s@p.iam.gserviceaccount.com"}),
            "PERMISSION_DENIED: impersonating 's@p.iam.gserviceaccount.com': token from iamcredentials.googleapis.com: "
            "PERMISSION_DENIED: no ***");
  for (const auto* email : {"s", "@p", "s@", "s/../x@p", "s@p:generateIdToken", "a@b@c", "s @p", "a@p,b@p"}) {
    EXPECT_THAT(get({"", email}), HasSubstr("ImpersonateServiceAccount: expected an e-mail address, found \""))
        << email;
  }
}

TEST_F(GoogleToken, OfAnotherAccountIsAskedForWhereTheEnvironmentSays) {
  metadata("base");
  const std::string path = "v1/projects/-/serviceAccounts/s@p:generateAccessToken";
  for (const std::string url : {"http://127.0.0.1:1", "http://127.0.0.1:1/", "https://example.com/iam/"}) {
    variable("CLOUDSDK_API_ENDPOINT_OVERRIDES_IAMCREDENTIALS") = url;
    answer(url + (url.ends_with('/') ? "" : "/") + path, 200, impersonated_json("t"));
    EXPECT_EQ(get({"", "s@p"}), "t") << url;
  }
  variable("CLOUDSDK_API_ENDPOINT_OVERRIDES_IAMCREDENTIALS") = "example.com";
  EXPECT_EQ(get({"", "s@p"}),
            "InvalidEndpoint: CLOUDSDK_API_ENDPOINT_OVERRIDES_IAMCREDENTIALS: expected an http or https URL, found "
            "\"example.com\"");
}

TEST_F(GoogleToken, IsKeptUntilShortlyBeforeItExpires) {
  count_tokens();
  const auto tokens = source();
  EXPECT_EQ(fetches_, 0);
  EXPECT_EQ(tokens->token().reveal(), "t1");
  world_.clock.advance(seconds(3600 - 226));
  EXPECT_EQ(tokens->token().reveal(), "t1");
  EXPECT_EQ(fetches_, 1);
  world_.clock.advance(seconds(1));
  EXPECT_EQ(tokens->token().reveal(), "t2");
  EXPECT_EQ(tokens->token().reveal(), "t2");
  EXPECT_EQ(fetches_, 2);
}

TEST_F(GoogleToken, ServesOnWhileNoNewOneIsToBeHad) {
  count_tokens();
  const auto tokens = source();
  tokens->token();
  const auto good = answers_[kTokenUri];
  answer(kTokenUri, 400, R"({"error":"invalid_grant"})");
  world_.clock.advance(seconds(3600 - 225));
  EXPECT_EQ(tokens->token().reveal(), "t1");
  EXPECT_THAT(world_.log.text(), HasSubstr("fetching a new Google token failed, the present one serves on: "));
  EXPECT_THAT(world_.log.text(), Not(HasSubstr("t1")));
  const auto requests = world_.http.requests.size();
  world_.clock.advance(seconds(29));
  EXPECT_EQ(tokens->token().reveal(), "t1");
  EXPECT_EQ(world_.http.requests.size(), requests);  // half a minute has not passed yet
  world_.clock.advance(seconds(1));
  EXPECT_EQ(tokens->token().reveal(), "t1");
  EXPECT_EQ(world_.http.requests.size(), requests + 1);
  world_.clock.advance(seconds(225 - 30 - 60));
  EXPECT_THROW(tokens->token(), Error);  // a minute before its end
  answers_[kTokenUri] = good;
  EXPECT_EQ(tokens->token().reveal(), "t2");
}

TEST_F(GoogleToken, IsFetchedAtEachCallWhenTheCloudGivesItLessThanAMinute) {
  count_tokens();
  lifetime_ = 59;
  const auto tokens = source();
  EXPECT_EQ(tokens->token().reveal(), "t1");
  EXPECT_EQ(tokens->token().reveal(), "t2");
}

TEST_F(GoogleToken, IsFetchedOnceAfterARejection) {
  count_tokens();
  const auto tokens = source();
  const auto first = tokens->token();
  tokens->rejected(first);
  tokens->rejected(first);
  EXPECT_EQ(fetches_, 1);  // the next token() does it
  const auto second = tokens->token();
  EXPECT_EQ(second.reveal(), "t2");
  tokens->rejected(first);  // of a call that was under way
  EXPECT_EQ(tokens->token().reveal(), "t2");
  tokens->rejected(second);  // a third one would not help
  EXPECT_EQ(tokens->token().reveal(), "t2");
  tokens->rejected(Secret("unknown"));
  EXPECT_EQ(tokens->token().reveal(), "t2");
  EXPECT_EQ(fetches_, 2);
  world_.clock.advance(seconds(60));
  tokens->rejected(second);
  EXPECT_EQ(tokens->token().reveal(), "t3");
}

TEST_F(GoogleToken, IsFetchedByOneOfManyThreads) {
  count_tokens();
  constexpr int kThreads = 16;
  std::latch inside(1);
  std::latch release(1);
  answers_[kTokenUri] = [&](const HttpRequest&) {
    inside.count_down();
    release.wait();
    return reply(200, token_json("t" + std::to_string(++fetches_)));
  };
  const auto tokens = source();
  std::vector<std::string> got(kThreads);
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] { got[static_cast<std::size_t>(i)] = tokens->token().reveal(); });
  }
  inside.wait();
  release.count_down();
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(fetches_, 1);
  EXPECT_EQ(got, std::vector<std::string>(kThreads, "t1"));
}

TEST_F(GoogleToken, KeepsNoThreadWaitingWhileTheOldOneServes) {
  count_tokens();
  const auto tokens = source();
  tokens->token();
  world_.clock.advance(seconds(3600 - 200));
  std::latch inside(1);
  std::latch release(1);
  answers_[kTokenUri] = [&](const HttpRequest&) {
    inside.count_down();
    release.wait();
    return reply(200, token_json("t2"));
  };
  std::string fetched;
  std::thread fetcher([&] { fetched = tokens->token().reveal(); });
  inside.wait();
  EXPECT_EQ(tokens->token().reveal(), "t1");
  release.count_down();
  fetcher.join();
  EXPECT_EQ(fetched, "t2");
  EXPECT_EQ(tokens->token().reveal(), "t2");
}

/// Tells how often it was asked: token() asks it with the cache locked.
class CountingClock : public FakeClock {
 public:
  mutable std::atomic<int> calls = 0;
  std::chrono::sys_time<std::chrono::milliseconds> now() const override {
    ++calls;
    calls.notify_all();
    return FakeClock::now();
  }
  void wait_for(int count) const {
    for (int seen = calls; seen < count; seen = calls) calls.wait(seen);
  }
};

TEST_F(GoogleToken, SharesAFailureAmongTheThreadsThatWaited) {
  count_tokens();
  std::latch inside(1);
  std::latch release(1);
  answers_[kTokenUri] = [&](const HttpRequest&) {
    if (++fetches_ == 1) inside.count_down();
    release.wait();
    return reply(400, R"({"error":"invalid_grant"})");
  };
  CountingClock clock;
  const auto services = world_.services();
  const Services counted{clock,        services.environment, services.files, services.http,
                         services.log, services.processes,   services.random};
  const auto tokens = make_google_token_source({}, counted);
  std::atomic<int> failed = 0;
  const auto ask = [&] {
    try {
      tokens->token();
    } catch (const Error& error) {
      if (error.code() == "invalid_grant") ++failed;
    }
  };
  std::vector<std::thread> threads;
  threads.emplace_back(ask);
  inside.wait();
  const int before = clock.calls;
  for (int i = 0; i < 7; ++i) threads.emplace_back(ask);
  clock.wait_for(before + 7);
  release.count_down();
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(failed, 8);
  EXPECT_EQ(fetches_, 1);
  EXPECT_THROW(tokens->token(), Error);  // who comes later asks anew
  EXPECT_EQ(fetches_, 2);
}

}  // namespace
}  // namespace burst::auth
