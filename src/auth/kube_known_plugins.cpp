// SPDX-License-Identifier: Apache-2.0
// The exec plugins of the clouds whose tokens we can make ourselves.
#include "auth/kube_known_plugins.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "auth/kube_gke_token.h"
#include "burst/text.h"

namespace burst::auth {
namespace {

/// An option's name -> where its value goes; null: it does not matter to the token.
using Options = std::map<std::string_view, std::string*>;

/// A command line taken apart: words that are no option are returned. Nothing for an option that is not in `options`
/// (with a value) or `flags` (without).
std::optional<std::vector<std::string>> parse_words(const std::vector<std::string>& words, const Options& options,
                                                    const std::vector<std::string_view>& flags) {
  std::vector<std::string> plain;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto& word = words[i];
    if (!word.starts_with('-')) {
      plain.push_back(word);
      continue;
    }
    const auto equals = std::min(word.find('='), word.size());
    const auto name = std::string_view(word).substr(0, equals);
    const auto option = options.find(name);
    if (option == options.end()) {
      if (std::ranges::find(flags, name) == flags.end()) return std::nullopt;
      continue;
    }
    std::string value;
    if (equals < word.size()) {
      value = word.substr(equals + 1);
    } else if (++i < words.size()) {
      value = words[i];
    } else {
      return std::nullopt;
    }
    if (option->second != nullptr) *option->second = std::move(value);
  }
  return plain;
}

bool parse_aws(const std::vector<std::string>& words, EksTokenSettings& eks) {
  std::string output;
  const auto plain = parse_words(words,
                                 {{"--cluster-name", &eks.cluster},
                                  {"--cluster-id", &eks.cluster},
                                  {"--region", &eks.region},
                                  {"--profile", &eks.profile},
                                  {"--role-arn", &eks.role_arn},
                                  {"--output", &output},
                                  {"--color", nullptr},
                                  {"--cli-connect-timeout", nullptr},
                                  {"--cli-read-timeout", nullptr}},
                                 {"--no-cli-pager", "--no-cli-auto-prompt", "--no-paginate", "--debug"});
  return plain && *plain == std::vector<std::string>{"eks", "get-token"} && (output.empty() || output == "json");
}

bool parse_authenticator(const std::vector<std::string>& words, EksTokenSettings& eks) {
  const auto plain = parse_words(words,
                                 {{"-i", &eks.cluster},
                                  {"--cluster-id", &eks.cluster},
                                  {"--region", &eks.region},
                                  {"-r", &eks.role_arn},
                                  {"--role", &eks.role_arn},
                                  {"--log-format", nullptr},
                                  {"-l", nullptr}},
                                 {"--cache"});
  return plain && *plain == std::vector<std::string>{"token"};
}

/// Variables that the plugin gets beside its options, which come first.
bool parse_environment(const KubeExec& exec, EksTokenSettings& eks) {
  // The regional endpoint is the only one that we ask.
  static constexpr std::array<std::string_view, 3> kHarmless{"AWS_STS_REGIONAL_ENDPOINTS", "AWS_PAGER",
                                                             "AWS_DEFAULT_OUTPUT"};
  std::string profile;
  std::string region;
  std::string default_region;
  const std::map<std::string_view, std::string*> known{
      {"AWS_PROFILE", &profile}, {"AWS_REGION", &region}, {"AWS_DEFAULT_REGION", &default_region}};
  for (const auto& [name, value] : exec.environment) {
    const auto found = known.find(name);
    if (found != known.end()) *found->second = value;
    // Keys or endpoints of its own: not for us to guess.
    else if (name.starts_with("AWS_") && std::ranges::find(kHarmless, name) == kHarmless.end())
      return false;
  }
  if (eks.profile.empty()) eks.profile = profile;
  if (eks.region.empty()) eks.region = region.empty() ? default_region : region;
  return true;
}

std::optional<KnownPlugin> eks_plugin(const KubeExec& exec,
                                      bool (*parse)(const std::vector<std::string>&, EksTokenSettings&)) {
  EksTokenSettings eks;
  if (!parse(exec.arguments, eks) || !parse_environment(exec, eks) || eks.cluster.empty()) return std::nullopt;
  auto shown = fmt::format("for EKS cluster \"{}\"", one_line(eks.cluster));
  return KnownPlugin{std::move(eks), {}, std::move(shown)};
}

std::optional<KnownPlugin> gke_plugin(const KubeExec& exec) {
  const auto plain = parse_words(exec.arguments, {}, {"--use_application_default_credentials"});
  if (!plain || !plain->empty()) return std::nullopt;
  KnownPlugin plugin{std::nullopt, {}, "for GKE"};
  for (const auto& [name, value] : exec.environment) {
    if (name == "GOOGLE_APPLICATION_CREDENTIALS") {
      plugin.gke.credentials_file = value;
    } else if (name.starts_with("GOOGLE_") || name.starts_with("CLOUDSDK_")) {
      return std::nullopt;  // another account or project of gcloud's
    }
  }
  return plugin;
}

}  // namespace

std::optional<KnownPlugin> recognise_plugin(const KubeExec& exec) {
  const auto slash = exec.command.rfind('/');
  const auto name = exec.command.substr(slash == std::string::npos ? 0 : slash + 1);
  if (name == "aws") return eks_plugin(exec, parse_aws);
  if (name == "aws-iam-authenticator") return eks_plugin(exec, parse_authenticator);
  if (name == "gke-gcloud-auth-plugin") return gke_plugin(exec);
  return std::nullopt;
}

std::shared_ptr<KubeCredentialSource> make_source_of(const KnownPlugin& plugin, const KubeConfig& config,
                                                     const Services& services) {
  if (plugin.eks) return make_eks_credential_source(*plugin.eks, config.cluster.server, services);
  return make_gke_credential_source(plugin.gke, services);
}

}  // namespace burst::auth
