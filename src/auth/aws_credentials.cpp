// SPDX-License-Identifier: Apache-2.0
// AWS credentials: the chain of places, and the cache before it.
#include "auth/aws_credentials.h"

#include <mutex>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "auth/aws_container_credentials.h"
#include "auth/aws_imds.h"
#include "auth/aws_profile_credentials.h"
#include "auth/aws_profile_file.h"
#include "burst/error.h"
#include "burst/text.h"

namespace burst::auth {
namespace {

using std::chrono::sys_seconds;

constexpr std::chrono::seconds kAdvisory{600};  // from here on before expiry a refresh is tried
constexpr std::chrono::seconds kMandatory{60};  // from here on it has to succeed
constexpr std::chrono::seconds kTryAgain{60};   // between two tries while the old ones still serve

/// One walk along the chain.
class AwsCredentialChain {
 public:
  AwsCredentialChain(AwsCredentialSettings settings, const Services& services)
      : settings_(std::move(settings)), services_(services) {}

  AwsCredentials find() const {
    std::vector<std::string> notes;
    const bool named = !settings_.profile.empty();
    if (!named) {
      if (auto found = environment_credentials(services_.environment)) return *std::move(found);
      notes.emplace_back("environment: AWS_ACCESS_KEY_ID is not set");
    }
    if (auto found = from_profiles(notes)) return *std::move(found);
    if (auto found = fetch_container_credentials(services_)) return *std::move(found);
    notes.emplace_back("container: AWS_CONTAINER_CREDENTIALS_RELATIVE_URI and _FULL_URI are not set");
    std::string note;
    if (auto found = fetch_imds_credentials(services_, note)) return *std::move(found);
    notes.push_back(std::move(note));
    throw Error("NoCredentials", one_line(fmt::format("no AWS credentials found: {}", fmt::join(notes, "; ")), 2000));
  }

 private:
  std::optional<AwsCredentials> from_profiles(std::vector<std::string>& notes) const {
    const auto profiles = load_aws_profiles(services_.environment, services_.files);
    const auto name = aws_profile_name(settings_.profile, services_.environment);
    const auto found = profiles.merged.find(name);
    const bool exists = found != profiles.merged.end();
    const auto files = fmt::format(R"("{}" and "{}")", profiles.credentials_path, profiles.config_path);
    for (const auto& note : profiles.notes) notes.push_back(note);
    if (!exists && (!settings_.profile.empty() || name != "default")) {
      std::string why = fmt::format("no profile \"{}\" in {}", name, files);
      if (!profiles.notes.empty()) why += fmt::format(" ({})", fmt::join(profiles.notes, "; "));
      throw Error("NoCredentials", one_line(why, 1000));
    }
    auto region = settings_.region;
    if (region.empty() && exists) {
      if (const auto own = found->second.find("region"); own != found->second.end()) region = own->second;
    }
    AwsProfileSearch search(profiles, region, services_);
    auto credentials = search.find(name, settings_.profile.empty());
    if (!credentials) {
      notes.push_back(fmt::format("profile \"{}\": {} {}", name, exists ? "no keys in" : "not in", files));
    }
    return credentials;
  }

  AwsCredentialSettings settings_;
  Services services_;
};

/// Fetches when there is something to gain, one thread at a time.
class CachedAwsCredentials : public AwsCredentialSource {
 public:
  CachedAwsCredentials(const AwsCredentialSettings& settings, const Services& services)
      : chain_(settings, services), clock_(services.clock), log_(services.log) {}

  AwsCredentials get() override {
    const std::lock_guard lock(mutex_);
    const auto now = std::chrono::floor<std::chrono::seconds>(clock_.now());
    if (!current_ || !current_->expires || now < *current_->expires - kAdvisory) {
      if (!current_) fetch(now);
      return *current_;
    }
    const bool must = now >= *current_->expires - kMandatory;
    if (!must && now < last_fetch_ + kTryAgain) return *current_;
    try {
      fetch(now);
    } catch (const Error& error) {
      if (must) throw;
      last_fetch_ = now;
      log_.warning(fmt::format("refreshing AWS credentials failed, the present ones serve on: {}", error.what()));
    }
    return *current_;
  }

  void expire() override {
    const std::lock_guard lock(mutex_);
    current_.reset();
  }

 private:
  void fetch(sys_seconds now) {
    auto fetched = chain_.find();
    if (fetched.expires && *fetched.expires <= now) {
      throw Error("ExpiredToken",
                  fmt::format("the AWS credentials {} that were found have expired", one_line(fetched.access_key_id)));
    }
    current_ = std::move(fetched);
    last_fetch_ = now;
  }

  AwsCredentialChain chain_;
  Clock& clock_;
  Log& log_;
  std::mutex mutex_;
  std::optional<AwsCredentials> current_;
  sys_seconds last_fetch_;
};

}  // namespace

std::unique_ptr<AwsCredentialSource> make_aws_credential_source(const AwsCredentialSettings& settings,
                                                                const Services& services) {
  return std::make_unique<CachedAwsCredentials>(settings, services);
}

}  // namespace burst::auth
