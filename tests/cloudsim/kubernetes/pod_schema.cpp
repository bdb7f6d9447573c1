// SPDX-License-Identifier: Apache-2.0
// The fields of a Pod, source: the API reference of Kubernetes 1.31 (core/v1).
#include "kubernetes/pod_schema.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "kubernetes/api_status.h"
#include "kubernetes/quantity.h"

namespace cloudsim::kubernetes {

namespace {

// s string, i integer, b boolean, q quantity, x number or string, * anything; "@name": a part below; {"*": T}: a map.
constexpr const char* kSchema = R"json({
"pod": {"apiVersion": "s", "kind": "s", "metadata": "@meta", "spec": "@spec", "status": "*"},
"meta": {"name": "s", "generateName": "s", "namespace": "s", "selfLink": "s", "uid": "s", "resourceVersion": "s",
  "generation": "i", "creationTimestamp": "s", "deletionTimestamp": "s", "deletionGracePeriodSeconds": "i",
  "labels": {"*": "s"}, "annotations": {"*": "s"}, "finalizers": ["s"], "managedFields": "*",
  "ownerReferences": [{"apiVersion": "s", "kind": "s", "name": "s", "uid": "s", "controller": "b", "blockOwnerDeletion": "b"}]},
"spec": {"volumes": ["@volume"], "initContainers": ["@container"], "containers": ["@container"], "ephemeralContainers": "*",
  "restartPolicy": "s", "terminationGracePeriodSeconds": "i", "activeDeadlineSeconds": "i", "dnsPolicy": "s",
  "nodeSelector": {"*": "s"}, "serviceAccountName": "s", "serviceAccount": "s", "automountServiceAccountToken": "b",
  "nodeName": "s", "hostNetwork": "b", "hostPID": "b", "hostIPC": "b", "hostUsers": "b", "shareProcessNamespace": "b",
  "securityContext": {"seLinuxOptions": "*", "windowsOptions": "*", "runAsUser": "i", "runAsGroup": "i", "runAsNonRoot": "b",
    "supplementalGroups": ["i"], "supplementalGroupsPolicy": "s", "fsGroup": "i", "sysctls": [{"name": "s", "value": "s"}],
    "fsGroupChangePolicy": "s", "seccompProfile": "@profile", "appArmorProfile": "@profile"},
  "imagePullSecrets": [{"name": "s"}], "hostname": "s", "subdomain": "s", "setHostnameAsFQDN": "b",
  "affinity": {"nodeAffinity": "*", "podAffinity": "@affinity", "podAntiAffinity": "@affinity"}, "schedulerName": "s",
  "tolerations": [{"key": "s", "operator": "s", "value": "s", "effect": "s", "tolerationSeconds": "i"}],
  "hostAliases": [{"ip": "s", "hostnames": ["s"]}], "priorityClassName": "s", "priority": "i", "preemptionPolicy": "s",
  "dnsConfig": {"nameservers": ["s"], "searches": ["s"], "options": [{"name": "s", "value": "s"}]},
  "readinessGates": [{"conditionType": "s"}], "runtimeClassName": "s", "enableServiceLinks": "b", "overhead": {"*": "q"},
  "topologySpreadConstraints": [{"maxSkew": "i", "topologyKey": "s", "whenUnsatisfiable": "s", "labelSelector": "*",
    "minDomains": "i", "nodeAffinityPolicy": "s", "nodeTaintsPolicy": "s", "matchLabelKeys": ["s"]}],
  "os": {"name": "s"}, "schedulingGates": [{"name": "s"}], "resources": "@resources",
  "resourceClaims": [{"name": "s", "resourceClaimName": "s", "resourceClaimTemplateName": "s"}]},
"profile": {"type": "s", "localhostProfile": "s"},
"affinity": {"requiredDuringSchedulingIgnoredDuringExecution": ["@term"],
  "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": "i", "podAffinityTerm": "@term"}]},
"term": {"labelSelector": "*", "namespaces": ["s"], "topologyKey": "s", "namespaceSelector": "*", "matchLabelKeys": ["s"],
  "mismatchLabelKeys": ["s"]},
"resources": {"limits": {"*": "q"}, "requests": {"*": "q"}, "claims": [{"name": "s", "request": "s"}]},
"key": {"name": "s", "key": "s", "optional": "b"},
"container": {"name": "s", "image": "s", "command": ["s"], "args": ["s"], "workingDir": "s",
  "ports": [{"name": "s", "hostPort": "i", "containerPort": "i", "protocol": "s", "hostIP": "s"}],
  "envFrom": [{"prefix": "s", "configMapRef": "@key", "secretRef": "@key"}],
  "env": [{"name": "s", "value": "s", "valueFrom": {"fieldRef": {"apiVersion": "s", "fieldPath": "s"},
    "resourceFieldRef": {"containerName": "s", "resource": "s", "divisor": "q"}, "configMapKeyRef": "@key",
    "secretKeyRef": "@key"}}],
  "resources": "@resources", "resizePolicy": "*", "restartPolicy": "s",
  "volumeMounts": [{"name": "s", "readOnly": "b", "recursiveReadOnly": "s", "mountPath": "s", "subPath": "s",
    "mountPropagation": "s", "subPathExpr": "s"}],
  "volumeDevices": [{"name": "s", "devicePath": "s"}], "livenessProbe": "@probe", "readinessProbe": "@probe",
  "startupProbe": "@probe", "lifecycle": {"postStart": "@handler", "preStop": "@handler"}, "terminationMessagePath": "s",
  "terminationMessagePolicy": "s", "imagePullPolicy": "s", "stdin": "b", "stdinOnce": "b", "tty": "b",
  "securityContext": {"capabilities": {"add": ["s"], "drop": ["s"]}, "privileged": "b", "seLinuxOptions": "*",
    "windowsOptions": "*", "runAsUser": "i", "runAsGroup": "i", "runAsNonRoot": "b", "readOnlyRootFilesystem": "b",
    "allowPrivilegeEscalation": "b", "procMount": "s", "seccompProfile": "@profile", "appArmorProfile": "@profile"}},
"handler": {"exec": {"command": ["s"]}, "httpGet": "*", "tcpSocket": {"port": "x", "host": "s"}, "sleep": {"seconds": "i"}},
"probe": {"exec": {"command": ["s"]}, "httpGet": "*", "tcpSocket": {"port": "x", "host": "s"}, "grpc": {"port": "i", "service": "s"},
  "initialDelaySeconds": "i", "timeoutSeconds": "i", "periodSeconds": "i", "successThreshold": "i", "failureThreshold": "i",
  "terminationGracePeriodSeconds": "i"},
"items": [{"key": "s", "path": "s", "mode": "i"}],
"volume": {"name": "s", "hostPath": {"path": "s", "type": "s"}, "emptyDir": {"medium": "s", "sizeLimit": "q"},
  "secret": {"secretName": "s", "items": "@items", "defaultMode": "i", "optional": "b"},
  "configMap": {"name": "s", "items": "@items", "defaultMode": "i", "optional": "b"},
  "persistentVolumeClaim": {"claimName": "s", "readOnly": "b"}, "nfs": {"server": "s", "path": "s", "readOnly": "b"},
  "projected": {"sources": "*", "defaultMode": "i"}, "downwardAPI": "*", "csi": "*", "ephemeral": "*", "iscsi": "*",
  "fc": "*", "cephfs": "*", "rbd": "*", "flexVolume": "*", "glusterfs": "*", "azureFile": "*", "azureDisk": "*",
  "gcePersistentDisk": "*", "awsElasticBlockStore": "*", "gitRepo": "*", "image": "*"}
})json";

const nlohmann::json& schema() {
  static const auto kParsed = nlohmann::json::parse(kSchema);
  return kParsed;
}

[[noreturn]] void refuse(const std::string& why) {
  throw bad_request("Pod in version \"v1\" cannot be handled as a Pod: " + why);
}

class Pruner {
 public:
  std::vector<std::string> unknown;

  void visit(nlohmann::json& value, const nlohmann::json& type, const std::string& path) {
    if (value.is_null()) {
      return;
    }
    if (type.is_string()) {
      const auto& name = type.get_ref<const std::string&>();
      if (name.front() == '@') {
        visit(value, schema().at(name.substr(1)), path);
      } else {
        scalar(value, name.front(), path);
      }
    } else if (type.is_array()) {
      list(value, type.front(), path);
    } else {
      object(value, type, path);
    }
  }

 private:
  static std::string go_path(const std::string& path) {
    std::string out;
    bool inside = false;
    for (const char c : path) {
      inside = c == '[' || (inside && c != ']');
      if (!inside && c != ']') {
        out += c;
      }
    }
    return out;
  }

  static void mismatch(const nlohmann::json& value, const std::string& path, const std::string& type) {
    const auto* const found = value.is_string()    ? "string"
                              : value.is_number()  ? "number"
                              : value.is_boolean() ? "bool"
                              : value.is_array()   ? "array"
                                                   : "object";
    refuse(fmt::format("json: cannot unmarshal {} into Go struct field Pod.{} of type {}", found, go_path(path), type));
  }

  static void scalar(const nlohmann::json& value, char type, const std::string& path) {
    if (type == 's' && !value.is_string()) {
      mismatch(value, path, "string");
    } else if (type == 'i' && !value.is_number_integer()) {
      mismatch(value, path, "int64");
    } else if (type == 'b' && !value.is_boolean()) {
      mismatch(value, path, "bool");
    } else if (type == 'q') {
      const bool good = value.is_number() || (value.is_string() && parse_quantity(value.get<std::string>()));
      if (!good) {
        refuse("quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'");
      }
    }
  }

  void list(nlohmann::json& value, const nlohmann::json& type, const std::string& path) {
    if (!value.is_array()) {
      mismatch(value, path, "[]v1." + path.substr(path.rfind('.') + 1));
    }
    for (std::size_t i = 0; i < value.size(); ++i) {
      visit(value[i], type, fmt::format("{}[{}]", path, i));
    }
  }

  void object(nlohmann::json& value, const nlohmann::json& type, const std::string& path) {
    if (!value.is_object()) {
      mismatch(value, path, "v1." + path.substr(path.rfind('.') + 1));
    }
    const auto any = type.find("*");
    std::vector<std::string> gone;
    for (auto& [key, child] : value.items()) {
      const auto at = path.empty() ? key : path + "." + key;
      const auto known = type.find(key);
      if (any != type.end() || known != type.end()) {
        visit(child, any != type.end() ? *any : *known, at);
      } else {
        unknown.push_back(at);
        gone.push_back(key);
      }
    }
    for (const auto& key : gone) {
      value.erase(key);
    }
  }
};

}  // namespace

std::vector<std::string> prune_unknown_pod_fields(nlohmann::json& pod) {
  Pruner pruner;
  pruner.visit(pod, schema().at("pod"), "");
  return pruner.unknown;
}

}  // namespace cloudsim::kubernetes
