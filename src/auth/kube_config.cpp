// SPDX-License-Identifier: Apache-2.0
// kubeconfig: which cluster to talk to, and who we are there.
#include "auth/kube_config.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "auth/home_folder.h"
#include "auth/kube_document.h"
#include "auth/kube_fields.h"
#include "auth/kube_pem.h"
#include "auth/url_parts.h"
#include "burst/error.h"
#include "burst/text.h"

namespace burst::auth {
namespace {

using nlohmann::json;

struct Document {
  std::string path;
  json content;
};

std::string reading(const std::string& path) { return fmt::format("reading \"{}\"", one_line(path)); }

/// A path of a file is relative to that file.
std::string beside(const std::string& file, const std::string& path) {
  if (path.empty() || path.starts_with('/')) return path;
  const auto slash = file.rfind('/');
  return slash == std::string::npos ? path : file.substr(0, slash + 1) + path;
}

std::vector<Document> read_documents(const KubeConfigPlace& place, const Files& files) {
  std::vector<Document> documents;
  for (const auto& path : place.files) {
    const auto text = files.read(path);
    if (!text && place.must_exist) throw Error("InvalidConfig", reading(path) + ": no such file");
    if (!text) continue;
    auto content = parse_kube_document(*text, path);
    if (content.is_null()) content = json::object();
    documents.push_back({path, std::move(content)});
  }
  if (documents.empty()) {
    throw Error("InvalidConfig", one_line(fmt::format("no kubeconfig: no file {}", fmt::join(place.files, ", ")), 500));
  }
  return documents;
}

/// One entry of `clusters`, `users` or `contexts`: the object behind its name, and the file that it stands in.
struct Entry {
  KubeFields fields;
  std::string path;
};

/// The merged files: the first one that has a name (or a current-context) wins, and with all that it says.
class MergedConfig {
 public:
  explicit MergedConfig(const std::vector<Document>& documents) : documents_(documents) {}

  /// `kind`: "cluster", "user" or "context". `asked` says where the name was asked for.
  Entry find(const std::string& kind, const std::string& name, const std::string& asked) const {
    std::optional<Entry> found;
    std::vector<std::string> names;
    for (const auto& document : documents_) {
      const KubeFields root(document.content, reading(document.path));
      root.for_each(kind + "s", [&](const KubeFields& item) {
        const auto its_name = item.text("name");
        names.push_back('"' + one_line(its_name) + '"');
        if (its_name != name) return;
        if (found && found->path == document.path) item.fail("name", "expected each name once, found one twice");
        if (!found) found = Entry{item.object(kind), document.path};
      });
    }
    if (found) return *std::move(found);
    const auto there = names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "));
    throw Error("InvalidConfig",
                one_line(fmt::format("{}: no {} \"{}\"; there are: {}", asked, kind, one_line(name), there), 1000));
  }

  /// Name and place of the current-context.
  std::pair<std::string, std::string> current_context() const {
    for (const auto& document : documents_) {
      const KubeFields root(document.content, reading(document.path));
      if (auto name = root.text("current-context"); !name.empty()) {
        return {std::move(name), reading(document.path) + ": /current-context"};
      }
    }
    const auto& path = documents_.front().path;
    KubeFields(documents_.front().content, reading(path))
        .fail("current-context", "expected the name of a context, found nothing; a Context would name one too");
  }

 private:
  const std::vector<Document>& documents_;
};

bool is_this_machine(const std::string& host) {
  return host == "localhost" || host == "::1" || host.starts_with("127.");
}

std::string server_of(const KubeFields& fields) {
  auto server = fields.needed_text("server");
  const auto parts = split_url(server);
  if (!parts || !parts->query.empty()) fields.fail("server", "expected https://HOST:PORT");
  if (parts->scheme != "https" && !is_this_machine(parts->host)) {
    fields.fail("server", "expected https; http would show the credentials to everyone on the way");
  }
  while (server.ends_with('/')) server.pop_back();
  return server;
}

/// The PEM text of KEY-data, or nothing.
std::string pem_of(const KubeFields& fields, const std::string& key, std::string (*wrong)(std::string_view)) {
  const auto name = key + "-data";
  const auto text = fields.text(name);
  if (text.empty()) return {};
  auto pem = decode_base64(text);
  if (!pem) fields.fail(name, "expected base64");
  if (const auto why = wrong(*pem); !why.empty()) fields.fail(name, why);
  return *std::move(pem);
}

KubeCluster cluster_of(const Entry& entry) {
  const auto& fields = entry.fields;
  if (fields.flag("insecure-skip-tls-verify")) {
    fields.fail("insecure-skip-tls-verify",
                "not supported, TLS is always verified: certificate-authority names whom to trust, tls-server-name "
                "another name of the server");
  }
  KubeCluster cluster;
  cluster.server = server_of(fields);
  cluster.ca_certificates = pem_of(fields, "certificate-authority", wrong_certificate);
  cluster.ca_file = beside(entry.path, fields.text("certificate-authority"));
  cluster.tls_server_name = fields.text("tls-server-name");
  cluster.proxy_url = fields.text("proxy-url");
  static constexpr std::string_view kSocks = "socks5://";
  // As in kubectl the proxy resolves the host's name.
  if (cluster.proxy_url.starts_with(kSocks)) cluster.proxy_url.replace(0, kSocks.size(), "socks5h://");
  fields.for_each("extensions", [&](const KubeFields& item) {
    if (item.text("name") == "client.authentication.k8s.io/exec" && item.has("extension")) {
      cluster.exec_config = item.value().at("extension").dump(-1, ' ', false, json::error_handler_t::replace);
    }
  });
  return cluster;
}

KubeExec exec_of(const KubeFields& fields, const std::string& path) {
  KubeExec exec;
  exec.api_version = fields.text("apiVersion");
  if (exec.api_version != "client.authentication.k8s.io/v1" &&
      exec.api_version != "client.authentication.k8s.io/v1beta1") {
    fields.fail("apiVersion", fmt::format("expected client.authentication.k8s.io/v1 or .../v1beta1, found \"{}\"",
                                          one_line(exec.api_version)));
  }
  const auto mode = fields.text("interactiveMode");
  if (mode == "Always") fields.fail("interactiveMode", "Always is not supported: nobody is there to answer");
  if (!mode.empty() && mode != "Never" && mode != "IfAvailable") {
    fields.fail("interactiveMode", fmt::format("expected Never, IfAvailable or Always, found \"{}\"", one_line(mode)));
  }
  exec.command = fields.needed_text("command");
  if (exec.command.find('/') != std::string::npos) exec.command = beside(path, exec.command);
  fields.for_each_text("args", [&](std::string word) { exec.arguments.push_back(std::move(word)); });
  fields.for_each("env", [&](const KubeFields& item) {
    auto name = item.needed_text("name");
    if (name.find('=') != std::string::npos) item.fail("name", "expected the name of a variable");
    exec.environment.emplace_back(std::move(name), item.text("value"));
  });
  exec.install_hint = fields.text("installHint");
  exec.provide_cluster_info = fields.flag("provideClusterInfo");
  return exec;
}

void refuse_what_is_not_supported(const KubeFields& fields) {
  if (fields.has("auth-provider")) {
    fields.fail("auth-provider",
                "not supported: kubectl took it out in 1.26, and its tokens lie in the file itself; use exec, a token, "
                "a tokenFile, EksCluster or Gke");
  }
  if (fields.has("username") || fields.has("password")) {
    fields.fail("username",
                "not supported: Kubernetes took out user names with passwords in 1.19; use a token or a client "
                "certificate");
  }
  for (const auto* key : {"as", "as-uid", "as-groups", "as-user-extra"}) {
    if (fields.has(key)) fields.fail(key, "impersonation is not supported: name the user itself");
  }
}

KubeUser user_of(const Entry& entry) {
  const auto& fields = entry.fields;
  refuse_what_is_not_supported(fields);
  KubeUser user;
  user.token = Secret(fields.text("token"));
  user.token_file = beside(entry.path, fields.text("tokenFile"));
  user.client_certificate = pem_of(fields, "client-certificate", wrong_certificate);
  user.client_certificate_file = beside(entry.path, fields.text("client-certificate"));
  user.client_key = Secret(pem_of(fields, "client-key", wrong_private_key));
  user.client_key_file = beside(entry.path, fields.text("client-key"));
  const bool has_certificate = !user.client_certificate.empty() || !user.client_certificate_file.empty();
  const bool has_key = !user.client_key.empty() || !user.client_key_file.empty();
  if (has_certificate && !has_key) fields.fail("client-key", "expected the key of client-certificate, found nothing");
  if (has_key && !has_certificate) fields.fail("client-certificate", "expected one beside client-key, found nothing");
  if (fields.has("exec")) user.exec = exec_of(fields.object("exec"), entry.path);
  return user;
}

}  // namespace

KubeConfigPlace find_kube_config(const std::string& file, const Environment& environment) {
  if (!file.empty()) return {{file}, true};
  KubeConfigPlace place;
  const auto list = environment.get("KUBECONFIG").value_or("");
  for (std::size_t first = 0; first < list.size();) {
    const auto end = std::min(list.find(':', first), list.size());
    if (end > first) place.files.push_back(list.substr(first, end - first));
    first = end + 1;
  }
  if (place.files.empty()) place.files.push_back(home_folder(environment) + "/.kube/config");
  return place;
}

KubeConfig load_kube_config(const KubeConfigPlace& place, const std::string& context, bool other_credentials,
                            const Files& files) {
  const auto documents = read_documents(place, files);
  const MergedConfig merged(documents);
  std::vector<std::string> paths;
  for (const auto& document : documents) paths.push_back('"' + one_line(document.path) + '"');
  const auto all_paths = fmt::format("{}", fmt::join(paths, ", "));
  const auto [name, asked] =
      context.empty() ? merged.current_context() : std::pair(context, fmt::format("reading {}", all_paths));

  const auto chosen = merged.find("context", name, asked);
  const auto place_of = [&](const char* key) {
    return fmt::format("{}: {}/{}", reading(chosen.path), one_line(chosen.fields.pointer()), key);
  };
  KubeConfig config;
  config.origin = fmt::format("context \"{}\" of {}", one_line(name), all_paths);
  config.default_namespace = chosen.fields.text("namespace");
  config.cluster = cluster_of(merged.find("cluster", chosen.fields.needed_text("cluster"), place_of("cluster")));
  if (const auto user = chosen.fields.text("user"); !other_credentials && !user.empty()) {
    config.user = user_of(merged.find("user", user, place_of("user")));
  }
  return config;
}

}  // namespace burst::auth
