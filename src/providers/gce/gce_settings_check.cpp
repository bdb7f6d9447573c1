// SPDX-License-Identifier: Apache-2.0
// The check of a `gce` node group's keys, and what check and reader both need.
#include "providers/gce/gce_settings_check.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "burst/text.h"
#include "providers/gce/gce_names.h"
#include "providers/shown_value.h"

namespace burst::gce {
namespace {

using Json = nlohmann::ordered_json;

constexpr auto kModels = std::to_array<std::pair<std::string_view, ProvisioningModel>>(
    {{"STANDARD", ProvisioningModel::standard},
     {"SPOT", ProvisioningModel::spot},
     {"RESERVATION_BOUND", ProvisioningModel::reservation_bound},
     {"FLEX_START", ProvisioningModel::flex_start}});
constexpr auto kOwnLabels =
    std::to_array<std::string_view>({"burst-cluster", "burst-partition", "burst-group", "burst-launch", "burst-job"});

constexpr const char* kLabelKeyRule = "a label's key: a letter, then up to 62 of a-z, 0-9, '_' and '-'";
constexpr const char* kLabelValueRule = "a label's value: up to 63 of a-z, 0-9, '_' and '-'";

/// One group under examination: finds its members and notes what is wrong.
class Examination {
 public:
  explicit Examination(const Json& group) : group_(group), model_(provisioning_model(group)) {}

  std::vector<ConfigProblem> all() {
    check_places();
    check_template();
    check_model();
    check_flex();
    check_capacity();
    check_labels();
    check_properties();
    check_credentials();
    return std::move(problems_);
  }

 private:
  void fatal(const std::string& pointer, const std::string& text) {
    problems_.push_back({true, fmt::format("{}: {}", pointer, text)});
  }
  void warn(const std::string& pointer, const std::string& text) {
    problems_.push_back({false, fmt::format("{}: {}", pointer, text)});
  }
  bool expect(bool holds, const std::string& pointer, std::string_view expected, const Json& value) {
    if (!holds) fatal(pointer, fmt::format("expected {}, found {}", expected, shown(value)));
    return holds;
  }
  const Json* member(const char* key) const {
    const auto found = group_.find(key);
    return found == group_.end() ? nullptr : &*found;
  }
  const Json* required(const char* key) {
    const Json* value = member(key);
    if (value == nullptr) fatal(fmt::format("/{}", key), "missing, it is required for a gce node group");
    return value;
  }
  /// The member's text when it is a string; empty otherwise.
  std::string text(const char* key) const {
    const Json* value = member(key);
    return value != nullptr && value->is_string() ? value->get<std::string>() : std::string();
  }
  bool is_flex() const { return model_ == ProvisioningModel::flex_start; }

  void check_places();
  void check_template();
  void check_model();
  void check_flex();
  void check_capacity();
  void check_labels();
  void check_label(const std::string& pointer, const std::string& key, const Json& value);
  void check_properties();
  void check_flex_properties(const Json& properties);
  void check_metadata(const Json& metadata);
  void check_credentials();

  const Json& group_;
  std::optional<ProvisioningModel> model_;
  std::vector<ConfigProblem> problems_;
};

void Examination::check_places() {
  if (const Json* project = required("Project"))
    expect(is_project(text("Project")), "/Project", R"(a project's id such as "my-project")", *project);
  const std::string region = text("Region");
  if (const Json* value = required("Region"))
    expect(is_region(region), "/Region", R"(the name of a region such as "us-central1")", *value);
  const Json* zones = member("Zones");
  if (zones == nullptr || !expect(zones->is_array(), "/Zones", "an array of strings", *zones)) return;
  std::set<std::string> seen;
  for (std::size_t i = 0; i < zones->size(); ++i) {
    const Json& zone = (*zones)[i];
    const std::string pointer = fmt::format("/Zones/{}", i);
    if (!expect(zone.is_string(), pointer, "a string", zone) || !is_region(region)) continue;
    const auto& name = zone.get_ref<const std::string&>();
    expect(is_zone_of(name, region), pointer, fmt::format(R"(a zone of the region such as "{}-a")", region), zone);
    if (!seen.insert(name).second) fatal(pointer, fmt::format("{} stands there twice", shown(zone)));
  }
}

void Examination::check_template() {
  const Json* value = required("InstanceTemplate");
  if (value == nullptr) return;
  const auto found = parse_resource(text("InstanceTemplate"), "instanceTemplates", "");
  const bool known = found && !found->location.starts_with("zones/");
  const auto forms =
      R"(an instance template: its name, "regions/REGION/instanceTemplates/NAME", a longer path or its URL)";
  if (!expect(known, "/InstanceTemplate", forms, *value)) return;
  const auto region = "regions/" + text("Region");
  if (found->location.starts_with("regions/") && found->location != region)
    fatal("/InstanceTemplate", fmt::format("a regional template serves its own region only, expected one of {}, found "
                                           "{}",
                                           region, shown(*value)));
}

void Examination::check_model() {
  const Json* value = member("ProvisioningModel");
  std::string words;
  for (const auto& [word, model] : kModels) words += fmt::format("{}\"{}\"", words.empty() ? "" : ", ", word);
  if (value != nullptr) expect(model_.has_value(), "/ProvisioningModel", "one of " + words, *value);
  if (member("Tags") != nullptr) warn("/Tags", "not used for gce, whose machines have Labels");
}

void Examination::check_flex() {
  if (!is_flex() && model_) {
    for (const char* key : {"FlexStartMaxDuration", "FlexStartUseJobDuration", "BootTimeout"}) {
      if (member(key) != nullptr) warn(fmt::format("/{}", key), "without effect: ProvisioningModel is not FLEX_START");
    }
  }
  if (const Json* value = member("FlexStartMaxDuration")) {
    const auto seconds = flex_duration(*value).value_or(0);
    const bool fits = seconds >= kShortestDuration && seconds <= kLongestRequest;
    if (expect(fits, "/FlexStartMaxDuration", R"(seconds from 30 to 604800 such as "604800s")", *value) && is_flex() &&
        seconds < kShortestRequest) {
      warn("/FlexStartMaxDuration",
           fmt::format("Compute Engine takes no resize request for less than {} s: the machines may run up to {} s",
                       kShortestRequest, kShortestRequest));
    }
  }
  if (const Json* value = member("FlexStartUseJobDuration"))
    expect(value->is_boolean(), "/FlexStartUseJobDuration", "true or false", *value);
  if (const Json* value = member("BootTimeout")) {
    constexpr long long shortest = 60, longest = 86'400;
    const auto seconds = value->is_number() ? flex_duration(*value).value_or(0) : 0;
    const bool fits = seconds >= shortest && seconds <= longest;
    expect(fits, "/BootTimeout", "an integer from 60 to 86400", *value);
  }
}

void Examination::check_capacity() {
  if (const Json* value = member("Reservation")) {
    expect(parse_resource(text("Reservation"), "reservations", "").has_value(), "/Reservation",
           R"(a reservation: its name, or "projects/PROJECT/reservations/NAME")", *value);
    if (is_flex()) fatal("/Reservation", "FLEX_START machines can't come from a reservation");
    if (model_ == ProvisioningModel::spot) fatal("/Reservation", "SPOT machines can't come from a reservation");
  } else if (model_ == ProvisioningModel::reservation_bound) {
    fatal("/Reservation", "missing, it is required with ProvisioningModel RESERVATION_BOUND");
  }
  if (const Json* value = member("Placement")) {
    const auto found = parse_resource(text("Placement"), "resourcePolicies", "");
    const auto region = "regions/" + text("Region");
    const bool fits = found && (found->location.empty() || found->location == region);
    expect(fits, "/Placement",
           fmt::format(R"(a resource policy that is there: its name, or "{}/resourcePolicies/NAME")", region), *value);
  }
}

void Examination::check_label(const std::string& pointer, const std::string& key, const Json& value) {
  if (!is_label_key(key)) fatal(pointer, fmt::format("expected {}, found {}", kLabelKeyRule, shown(Json(key))));
  if (is_own_label(key)) fatal(pointer, fmt::format("slurm-burst sets the label {} itself", key));
  expect(value.is_string() && is_label_value(value.get_ref<const std::string&>()), pointer, kLabelValueRule, value);
}

void Examination::check_labels() {
  constexpr std::size_t most = 59;  // a machine has 64, five of them ours
  const Json* labels = member("Labels");
  if (labels == nullptr || !expect(labels->is_object(), "/Labels", "an object of strings", *labels)) return;
  if (labels->size() > most) fatal("/Labels", fmt::format("expected up to {} labels, found {}", most, labels->size()));
  for (const auto& [key, value] : labels->items()) check_label("/Labels/" + one_line(key), key, value);
}

/// A managed instance group takes all else from the template (InstanceGroupManagerAllInstancesConfig).
void Examination::check_flex_properties(const Json& properties) {
  for (const auto& [key, value] : properties.items()) {
    if (key == "labels" || key == "metadata") continue;
    fatal("/InstanceProperties/" + one_line(key),
          "FLEX_START machines come from a managed instance group, which takes this from the template alone; only "
          "labels and metadata can be given here");
  }
  const auto metadata = properties.find("metadata");
  if (metadata == properties.end() || !metadata->is_object()) return;  // check_metadata() says the rest
  for (const auto& [key, value] : metadata->items()) {
    if (key != "items")
      fatal("/InstanceProperties/metadata/" + one_line(key),
            "FLEX_START machines come from a managed instance group, to which only items can be given");
  }
}

void Examination::check_metadata(const Json& metadata) {
  const auto items = metadata.is_object() ? metadata.find("items") : metadata.end();
  const bool list = metadata.is_object() && items != metadata.end() && items->is_array();
  const auto is_item = [](const Json& item) {
    return item.is_object() && item.contains("key") && item["key"].is_string() && item.contains("value") &&
           item["value"].is_string();
  };
  expect(list && std::all_of(items->begin(), items->end(), is_item), "/InstanceProperties/metadata",
         R"({"items": [{"key": "...", "value": "..."}]})", metadata);
}

void Examination::check_properties() {
  const Json* properties = member("InstanceProperties");
  if (properties == nullptr || !expect(properties->is_object(), "/InstanceProperties", "an object", *properties))
    return;
  if (is_flex()) check_flex_properties(*properties);
  if (const auto labels = properties->find("labels"); labels != properties->end()) {
    if (expect(labels->is_object(), "/InstanceProperties/labels", "an object of strings", *labels)) {
      for (const auto& [key, value] : labels->items())
        check_label("/InstanceProperties/labels/" + one_line(key), key, value);
    }
  }
  if (const auto metadata = properties->find("metadata"); metadata != properties->end()) check_metadata(*metadata);
  if (is_flex()) return;
  const auto scheduling = properties->find("scheduling");
  if (scheduling != properties->end() && scheduling->is_object() && scheduling->contains("provisioningModel"))
    fatal("/InstanceProperties/scheduling/provisioningModel", "the group's ProvisioningModel says that");
  if (properties->contains("reservationAffinity") && member("Reservation") != nullptr)
    fatal("/InstanceProperties/reservationAffinity", "the group's Reservation says that");
}

void Examination::check_credentials() {
  if (const Json* value = member("CredentialsFile")) {
    const auto path = text("CredentialsFile");
    expect(path.starts_with('/') && path.find('\0') == std::string::npos, "/CredentialsFile", "an absolute path",
           *value);
  }
  if (const Json* value = member("ImpersonateServiceAccount")) {
    const auto email = text("ImpersonateServiceAccount");
    const auto fits = [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '@';
    };
    const auto at = email.find('@');
    expect(at != std::string::npos && at > 0 && at + 1 < email.size() && email.find('@', at + 1) == std::string::npos &&
               std::all_of(email.begin(), email.end(), fits),
           "/ImpersonateServiceAccount", "the e-mail address of a service account", *value);
  }
}

}  // namespace

std::vector<ConfigProblem> check_settings(const Json& group) { return Examination(group).all(); }

std::optional<ProvisioningModel> provisioning_model(const Json& group) {
  const auto value = group.find("ProvisioningModel");
  if (value == group.end()) return ProvisioningModel::standard;
  for (const auto& [word, model] : kModels) {
    if (*value == word) return model;
  }
  return std::nullopt;
}

std::optional<long long> flex_duration(const Json& value) {
  constexpr double most = 1e9;
  if (value.is_number()) {
    const auto number = value.get<double>();
    if (number < 0 || number > most || std::floor(number) != number) return std::nullopt;
    return static_cast<long long>(number);
  }
  if (!value.is_string()) return std::nullopt;
  const auto& text = value.get_ref<const std::string&>();
  long long seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (error != std::errc() || end + 1 != text.data() + text.size() || *end != 's' || text[0] == '-')
    return std::nullopt;
  return seconds;
}

bool is_own_label(std::string_view key) {
  return std::find(kOwnLabels.begin(), kOwnLabels.end(), key) != kOwnLabels.end();
}

}  // namespace burst::gce
