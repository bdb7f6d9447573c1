// SPDX-License-Identifier: Apache-2.0
// Who we are to a Kubernetes API server: the cache, and the credentials that a kubeconfig's user has.
#include "auth/kube_credentials.h"

#include <mutex>
#include <utility>

#include <fmt/format.h>

#include "auth/kube_document.h"
#include "auth/kube_exec_plugin.h"
#include "auth/kube_known_plugins.h"
#include "auth/kube_pem.h"
#include "burst/error.h"
#include "burst/text.h"

namespace burst::auth {
namespace {

using std::chrono::seconds;
using std::chrono::sys_seconds;

constexpr seconds kTryAgain{10};  // between two tries while the old one still serves
constexpr seconds kHopeless{60};  // after a rejection's fetch a further rejection has no effect
constexpr seconds kFileAge{60};   // the kubelet replaces a token well before it ends

sys_seconds now_of(Clock& clock) { return std::chrono::floor<seconds>(clock.now()); }

class FixedKubeCredential : public KubeCredentialSource {
 public:
  explicit FixedKubeCredential(KubeCredential credential)
      : credential_(std::make_shared<const KubeCredential>(std::move(credential))) {}
  KubeCredentialPointer get() override { return credential_; }
  bool rejected(const KubeCredential&) override { return false; }

 private:
  KubeCredentialPointer credential_;
};

/// Fetches when there is something to gain, one thread at a time.
class CachedKubeCredential : public KubeCredentialSource {
 public:
  CachedKubeCredential(FetchKubeCredential fetch, std::string what, Clock& clock, Log& log)
      : fetch_(std::move(fetch)), what_(std::move(what)), clock_(clock), log_(log) {}

  KubeCredentialPointer get() override {
    const std::lock_guard lock(mutex_);
    const auto now = now_of(clock_);
    if (current_ && (!renew_ || now < *renew_ || now < next_try_)) return current_;
    const bool serves = current_ && (!expires_ || now < *expires_);
    try {
      fetch(now);
    } catch (const Error& error) {
      if (!serves) throw;
      next_try_ = expires_ ? std::min(now + kTryAgain, *expires_) : now + kTryAgain;
      log_.warning(fmt::format("{}: getting a new credential failed, the present one serves on: {}", what_,
                               one_line(error.what())));
    }
    return current_;
  }

  bool rejected(const KubeCredential& credential) override {
    const std::lock_guard lock(mutex_);
    if (!current_ || *current_ != credential) return true;
    if (now_of(clock_) < no_rejection_before_) return false;
    current_.reset();
    refused_ = true;
    return true;
  }

 private:
  void fetch(sys_seconds now) {
    auto fetched = fetch_(refused_);
    current_ = std::make_shared<const KubeCredential>(std::move(fetched.credential));
    renew_ = fetched.renew;
    expires_ = fetched.expires;
    next_try_ = {};
    if (std::exchange(refused_, false)) no_rejection_before_ = now + kHopeless;
  }

  FetchKubeCredential fetch_;
  std::string what_;
  Clock& clock_;
  Log& log_;
  std::mutex mutex_;
  KubeCredentialPointer current_;
  std::optional<sys_seconds> renew_, expires_;
  sys_seconds next_try_, no_rejection_before_;
  bool refused_ = false;  ///< the next fetch answers a rejection
};

/// Runs the plugin; once it turns out not to be there, the token is made here.
class PluginOrOurs : public KubeCredentialSource {
 public:
  PluginOrOurs(std::shared_ptr<KubeCredentialSource> plugin, KubeConfig config, const Services& services)
      : plugin_(std::move(plugin)), config_(std::move(config)), services_(services) {}

  KubeCredentialPointer get() override {
    const std::lock_guard lock(mutex_);
    if (ours_) return ours_->get();
    try {
      return plugin_->get();
    } catch (const Error& error) {
      if (error.code() != kPluginNotStarted) throw;
      const auto& exec = *config_.user.exec;
      const auto known = recognise_plugin(exec);
      if (!known) throw;
      services_.log.info(fmt::format("{}: \"{}\" can't be started, its token is made here: {}", config_.origin,
                                     one_line(exec.command), known->shown));
      ours_ = make_source_of(*known, config_, services_);
      return ours_->get();
    }
  }

  bool rejected(const KubeCredential& credential) override {
    const std::lock_guard lock(mutex_);
    return (ours_ ? ours_ : plugin_)->rejected(credential);
  }

 private:
  std::shared_ptr<KubeCredentialSource> plugin_, ours_;
  KubeConfig config_;
  Services services_;
  std::mutex mutex_;
};

/// The parts of a user that are no program.
KubeCredential read_user(const KubeConfig& config, const Files& files) {
  const auto& user = config.user;
  const auto read = [&](const char* key, const std::string& path) {
    return read_kube_file(path, fmt::format("{}: {}", config.origin, key), files);
  };
  KubeCredential credential{user.token, user.client_certificate, user.client_key};
  if (!user.token_file.empty()) credential.token = Secret(read("tokenFile", user.token_file));
  if (credential.client_certificate.empty() && !user.client_certificate_file.empty()) {
    credential.client_certificate = read("client-certificate", user.client_certificate_file) + "\n";
  }
  if (credential.client_key.empty() && !user.client_key_file.empty()) {
    credential.client_key = Secret(read("client-key", user.client_key_file) + "\n");
  }
  const auto check = [&](const std::string& wrong, const char* key, const std::string& path) {
    if (wrong.empty()) return;
    throw Error("NoCredentials", fmt::format("{}: {}: {} in \"{}\"", config.origin, key, wrong, one_line(path)));
  };
  if (credential.client_certificate.empty()) return credential;
  check(wrong_certificate(credential.client_certificate), "client-certificate", user.client_certificate_file);
  check(wrong_private_key(credential.client_key.reveal()), "client-key", user.client_key_file);
  return credential;
}

FetchedKubeCredential ask_plugin(const KubeConfig& config, const Services& services) {
  auto fetched = run_kube_exec(*config.user.exec, config.cluster, config.origin, services);
  auto base = read_user(config, services.files);
  auto& credential = fetched.credential;
  if (credential.client_certificate.empty()) {
    credential.client_certificate = std::move(base.client_certificate);
    credential.client_key = std::move(base.client_key);
  }
  return fetched;
}

}  // namespace

std::shared_ptr<KubeCredentialSource> cache_kube_credential(FetchKubeCredential fetch, std::string what, Clock& clock,
                                                            Log& log) {
  return std::make_shared<CachedKubeCredential>(std::move(fetch), std::move(what), clock, log);
}

std::shared_ptr<KubeCredentialSource> make_kube_credential_source(const KubeConfig& config, const Services& services) {
  const auto& user = config.user;
  if (user.exec && user.token.empty() && user.token_file.empty()) {
    auto plugin = cache_kube_credential([config, services](bool) { return ask_plugin(config, services); },
                                        config.origin, services.clock, services.log);
    return std::make_shared<PluginOrOurs>(std::move(plugin), config, services);
  }
  if (user.token_file.empty() && user.client_certificate_file.empty() && user.client_key_file.empty()) {
    return std::make_shared<FixedKubeCredential>(read_user(config, services.files));
  }
  const auto fetch = [config, services](bool) {
    return FetchedKubeCredential{read_user(config, services.files), now_of(services.clock) + kFileAge, std::nullopt};
  };
  return cache_kube_credential(fetch, config.origin, services.clock, services.log);
}

std::string read_kube_file(const std::string& path, const std::string& what, const Files& files) {
  static constexpr std::string_view kBlank = " \t\r\n";
  const auto fail = [&](const char* why) {
    throw Error("NoCredentials", fmt::format("{}: {}: \"{}\"", what, why, one_line(path)));
  };
  const auto text = files.read(path);
  if (!text) fail("no such file");
  if (text->size() > kLargestKubeDocument) fail("larger than 1 MiB");
  const auto first = text->find_first_not_of(kBlank);
  if (first == std::string::npos) fail("the file is empty");
  return text->substr(first, text->find_last_not_of(kBlank) - first + 1);
}

}  // namespace burst::auth
