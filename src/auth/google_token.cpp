// SPDX-License-Identifier: Apache-2.0
// Google access tokens: the places to look at, and the cache before them.
#include "auth/google_token.h"

#include <algorithm>
#include <exception>
#include <future>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "auth/google_credentials.h"
#include "auth/google_metadata_server.h"
#include "auth/google_token_endpoint.h"
#include "auth/percent_encoding.h"
#include "auth/url_parts.h"
#include "burst/error.h"
#include "burst/text.h"

namespace burst::auth {
namespace {

using std::chrono::sys_seconds;

// The metadata server has a new token when the old one has less than four or five minutes left: asked earlier it would
// give the old one again.
constexpr std::chrono::seconds kAdvisory{225};  // from here on before expiry a new one is fetched
constexpr std::chrono::seconds kMandatory{60};  // from here on the old one is not given out any more
constexpr std::chrono::seconds kTryAgain{30};   // between two tries while the old one still serves
constexpr std::chrono::seconds kHopeless{60};   // after a rejection's fetch a further rejection has no effect

/// Part of a URL's path, so nothing that would change it.
bool is_email(const std::string& text) {
  const auto at = text.find('@');
  return at != std::string::npos && at > 0 && at + 1 < text.size() && text.find('@', at + 1) == std::string::npos &&
         std::ranges::all_of(text, [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '@' || c == '.' ||
                  c == '-' || c == '_' || c == '+';
         });
}

/// One walk along the places.
class GoogleCredentialChain {
 public:
  GoogleCredentialChain(GoogleCredentialOptions options, const Services& services)
      : options_(std::move(options)), services_(services) {}

  GoogleAccessToken fetch() const {
    const auto base = find();
    if (options_.impersonate.empty()) return base;
    GoogleImpersonation impersonation;
    impersonation.what = fmt::format("impersonating \"{}\"", options_.impersonate);
    impersonation.url = fmt::format("{}v1/projects/-/serviceAccounts/{}:generateAccessToken", iam_endpoint(),
                                    percent_encode(options_.impersonate, "@"));
    return impersonate_service_account(impersonation, base, services_);
  }

 private:
  GoogleAccessToken find() const {
    std::vector<std::string> notes;
    static constexpr auto* kVariable = "GOOGLE_APPLICATION_CREDENTIALS";
    if (!options_.credentials_file.empty()) return from_named_file(options_.credentials_file, "CredentialsFile");
    if (const auto path = services_.environment.get(kVariable).value_or(""); !path.empty()) {
      return from_named_file(path, kVariable);
    }
    notes.emplace_back("environment: GOOGLE_APPLICATION_CREDENTIALS is not set");
    if (const auto path = gcloud_file(); path.empty()) {
      notes.emplace_back("gcloud: neither CLOUDSDK_CONFIG nor HOME is set");
    } else if (const auto content = services_.files.read(path)) {
      return fetch_google_token(*content, path, services_);
    } else {
      notes.push_back(fmt::format("gcloud: no file \"{}\"", path));
    }
    std::string note;
    if (auto found = fetch_google_metadata_token(services_, note)) return *std::move(found);
    notes.push_back(std::move(note));
    throw Error("NoCredentials",
                one_line(fmt::format("no Google credentials found: {}", fmt::join(notes, "; ")), 2000));
  }

  GoogleAccessToken from_named_file(const std::string& path, const std::string& named_by) const {
    const auto content = services_.files.read(path);
    if (!content) throw Error("NoCredentials", fmt::format("{}: no such file: \"{}\"", named_by, one_line(path)));
    return fetch_google_token(*content, path, services_);
  }

  std::string gcloud_file() const {
    static constexpr auto* kName = "application_default_credentials.json";
    if (const auto folder = services_.environment.get("CLOUDSDK_CONFIG").value_or(""); !folder.empty()) {
      return fmt::format("{}/{}", folder, kName);
    }
    const auto home = services_.environment.get("HOME").value_or("");
    return home.empty() ? std::string() : fmt::format("{}/.config/gcloud/{}", home, kName);
  }

  std::string iam_endpoint() const {
    static constexpr auto* kVariable = "CLOUDSDK_API_ENDPOINT_OVERRIDES_IAMCREDENTIALS";
    auto url = services_.environment.get(kVariable).value_or("");
    if (url.empty()) return "https://iamcredentials.googleapis.com/";
    if (!split_url(url)) {
      throw Error("InvalidEndpoint",
                  fmt::format("{}: expected an http or https URL, found \"{}\"", kVariable, one_line(url)));
    }
    if (!url.ends_with('/')) url += '/';
    return url;
  }

  GoogleCredentialOptions options_;
  Services services_;
};

/// Fetches when there is something to gain, one thread at a time; those that need its result wait for it.
class CachedGoogleToken : public GoogleTokenSource {
 public:
  CachedGoogleToken(GoogleCredentialOptions options, const Services& services)
      : chain_(std::move(options), services), clock_(services.clock), log_(services.log) {}

  Secret token() override {
    std::unique_lock lock(mutex_);
    const auto now = this->now();
    const bool serves = current_ && now < current_->expires - kMandatory;
    const bool fresh = serves && (now < current_->expires - kAdvisory || now < last_try_ + kTryAgain);
    if (fresh || (serves && running_.valid())) return current_->token;
    if (running_.valid()) {
      const auto other = running_;
      lock.unlock();
      return other.get().token;
    }
    std::promise<GoogleAccessToken> promise;
    running_ = promise.get_future().share();
    last_try_ = now;
    const bool again = std::exchange(refused_, false);
    lock.unlock();
    return fetch(promise, again);
  }

  void rejected(const Secret& token) override {
    const std::lock_guard lock(mutex_);
    if (!current_ || current_->token != token || now() < no_rejection_before_) return;
    current_.reset();
    refused_ = true;
  }

 private:
  sys_seconds now() const { return std::chrono::floor<std::chrono::seconds>(clock_.now()); }

  Secret fetch(std::promise<GoogleAccessToken>& promise, bool after_rejection) {
    try {
      auto fetched = chain_.fetch();
      const auto token = fetched.token;
      const std::lock_guard lock(mutex_);
      current_ = std::move(fetched);
      if (after_rejection) no_rejection_before_ = now() + kHopeless;
      running_ = {};
      promise.set_value(*current_);
      return token;
    } catch (const std::exception& error) {
      const std::lock_guard lock(mutex_);
      running_ = {};
      promise.set_exception(std::current_exception());
      if (!current_ || now() >= current_->expires - kMandatory) throw;
      log_.warning(fmt::format("fetching a new Google token failed, the present one serves on: {}", error.what()));
      return current_->token;
    }
  }

  GoogleCredentialChain chain_;
  Clock& clock_;
  Log& log_;
  std::mutex mutex_;
  std::optional<GoogleAccessToken> current_;
  std::shared_future<GoogleAccessToken> running_;  ///< of the thread that fetches; invalid: none does
  sys_seconds last_try_;
  sys_seconds no_rejection_before_;
  bool refused_ = false;  ///< the next fetch answers a rejection
};

}  // namespace

std::shared_ptr<GoogleTokenSource> make_google_token_source(const GoogleCredentialOptions& options,
                                                            const Services& services) {
  if (!options.impersonate.empty() && !is_email(options.impersonate)) {
    throw Error("NoCredentials", fmt::format("ImpersonateServiceAccount: expected an e-mail address, found \"{}\"",
                                             one_line(options.impersonate)));
  }
  return std::make_shared<CachedGoogleToken>(options, services);
}

}  // namespace burst::auth
