// SPDX-License-Identifier: Apache-2.0
// The file of a pod template: read, and checked as far as we touch it.
#include "providers/kubernetes/pod_template_file.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "auth/kube_document.h"
#include "auth/kube_fields.h"
#include "burst/error.h"
#include "burst/text.h"
#include "providers/kubernetes/kubernetes_names.h"

namespace burst::kubernetes {
namespace {

using auth::KubeFields;
using nlohmann::json;

constexpr const char* kCode = "InvalidPodTemplate";

/// Of metadata what the API server or we decide on.
constexpr auto kOfOneObject = std::to_array<const char*>({"name", "generateName", "namespace", "uid", "resourceVersion",
                                                          "generation", "creationTimestamp", "deletionTimestamp",
                                                          "deletionGracePeriodSeconds", "managedFields", "selfLink"});

json parse(const Files& files, const std::string& path) {
  const auto text = files.read(path);
  if (!text) throw Error(kCode, fmt::format("reading \"{}\": there is no such file", one_line(path)));
  try {
    return auth::parse_kube_document(*text, path);
  } catch (const Error& error) {
    throw Error(kCode, error.what());
  }
}

void check_keys(const KubeFields& fields, std::initializer_list<std::string_view> known) {
  for (const auto& [key, value] : fields.value().items()) {
    if (std::find(known.begin(), known.end(), key) == known.end())
      fields.fail(one_line(key), fmt::format("unknown field, expected one of {}", fmt::join(known, ", ")));
  }
}

/// The object that holds metadata and spec.
KubeFields template_of(const KubeFields& root) {
  const auto kind = root.text("kind"), version = root.text("apiVersion");
  if (!version.empty() && version != "v1") root.fail("apiVersion", fmt::format("expected v1, found {}", version));
  if (kind.empty() || kind == "Pod") {
    check_keys(root, {"apiVersion", "kind", "metadata", "spec", "status"});
    return root;
  }
  if (kind != "PodTemplate")
    root.fail("kind", fmt::format("expected Pod or PodTemplate, found {}: slurm-burst makes each node's pod itself",
                                  one_line(kind)));
  check_keys(root, {"apiVersion", "kind", "metadata", "template"});
  auto inner = root.object("template");
  check_keys(inner, {"metadata", "spec"});
  return inner;
}

void check_texts(const KubeFields& metadata, const char* key, bool are_labels) {
  const auto texts = metadata.object(key);
  for (const auto& [name, value] : texts.value().items()) {
    const auto text = texts.text(name);
    if (!is_label_key(name)) texts.fail(one_line(name), "no key that Kubernetes takes");
    if (are_labels && !is_label_value(text)) texts.fail(name, "no value that Kubernetes takes for a label");
  }
}

void check_container(const KubeFields& container, std::set<std::string>& names) {
  const auto name = container.needed_text("name");
  if (!is_dns_label(name)) container.fail("name", fmt::format("expected a DNS label, found {}", one_line(name)));
  if (!names.insert(name).second) container.fail("name", fmt::format("two containers are called {}", name));
  container.needed_text("image");
  for (const char* key : {"command", "args"}) container.for_each_text(key, [](const auto&) {});
  container.for_each("env", [](const KubeFields& variable) {
    variable.needed_text("name");
    variable.text("value");
  });
}

void check_spec(const KubeFields& spec) {
  std::set<std::string> names;
  const auto check = [&](const KubeFields& container) { check_container(container, names); };
  spec.for_each("initContainers", check);
  const auto before = names.size();
  spec.for_each("containers", check);
  if (names.size() == before) spec.fail("containers", "expected a list of containers, found none");
}

}  // namespace

json read_pod_template(const Files& files, const std::string& path, const std::string& name_space) {
  const auto document = parse(files, path);
  const KubeFields root(document, fmt::format("reading \"{}\"", one_line(path)), "", kCode);
  const auto found = template_of(root);
  const auto metadata = found.object("metadata"), spec = found.object("spec");
  check_texts(metadata, "labels", true);
  check_texts(metadata, "annotations", false);
  const auto its_namespace = metadata.text("namespace");
  if (!its_namespace.empty() && its_namespace != name_space)
    metadata.fail("namespace", fmt::format("the group's Namespace is {}, found {}",
                                           name_space.empty() ? "not set" : name_space, one_line(its_namespace)));
  check_spec(spec);
  json made{{"metadata", metadata.value()}, {"spec", spec.value()}};
  for (const char* key : kOfOneObject) made["metadata"].erase(key);
  return made;
}

}  // namespace burst::kubernetes
