// SPDX-License-Identifier: Apache-2.0
// AWS's shared files: ~/.aws/config and ~/.aws/credentials.
#include "auth/aws_profile_file.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "auth/home_folder.h"
#include "auth/shell_words.h"
#include "burst/error.h"
#include "burst/text.h"

namespace burst::auth {
namespace {

constexpr std::string_view kBlank = " \t\r\n\v\f";

std::string_view trim(std::string_view text) {
  const auto first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

std::string lower(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return result;
}

/// Line by line through one file; the state is what a continuation line needs to know.
class IniParser {
 public:
  explicit IniParser(std::string_view path) : path_(path) {}

  void take(std::string_view line) {
    ++number_;
    const auto text = trim(line);
    if (text.starts_with('#') || text.starts_with(';')) return;
    if (text.empty()) {
      if (value_ != nullptr) *value_ += '\n';
      return;
    }
    const auto indent = line.find_first_not_of(kBlank);
    if (value_ != nullptr && indent > indent_) {
      value_->append(1, '\n').append(text);
      return;
    }
    indent_ = indent;
    if (text.starts_with('[') && text.rfind(']') != std::string_view::npos && text.rfind(']') > 1) {
      open_section(text.substr(1, text.rfind(']') - 1));
    } else {
      take_option(text);
    }
  }

  AwsProfileMap finish() {
    const auto defaults = sections_.extract("DEFAULT");
    for (auto& [name, section] : sections_) {
      if (defaults) section.insert(defaults.mapped().begin(), defaults.mapped().end());
      for (auto& [key, value] : section) {
        value.resize(value.find_last_not_of(kBlank) + 1);
        check_nested(name, key, value);
      }
    }
    return std::move(sections_);
  }

 private:
  /// A value that begins on the line below its key is a block of settings of its own.
  void check_nested(std::string_view section, std::string_view key, std::string_view value) const {
    if (!value.starts_with('\n')) return;
    while (!value.empty()) {
      const auto end = std::min(value.find('\n'), value.size());
      const auto line = value.substr(0, end);
      if (!trim(line).empty() && line.find('=') == std::string_view::npos) {
        throw Error("InvalidConfig", fmt::format("reading \"{}\": section [{}]: {}: expected KEY = VALUE on its lines",
                                                 path_, one_line(section), one_line(key)));
      }
      value.remove_prefix(std::min(end + 1, value.size()));
    }
  }

  [[noreturn]] void fail(std::string_view what) const {
    throw Error("InvalidConfig", fmt::format("reading \"{}\": line {}: {}", path_, number_, what));
  }

  void open_section(std::string_view name) {
    const auto [entry, is_new] = sections_.try_emplace(std::string(name));
    if (!is_new && name != "DEFAULT") fail(fmt::format("section [{}] stands twice", one_line(name)));
    section_ = &entry->second;
    value_ = nullptr;
  }

  void take_option(std::string_view text) {
    if (section_ == nullptr) fail("expected a section like [default]");
    const auto at = text.find_first_of("=:");
    // The line itself may be a part of a secret: it is not shown.
    if (at == std::string_view::npos) fail("expected KEY = VALUE");
    const auto key = lower(trim(text.substr(0, at)));
    if (key.empty()) fail("expected KEY = VALUE");
    const auto [entry, is_new] = section_->try_emplace(key, trim(text.substr(at + 1)));
    if (!is_new) fail(fmt::format("{} stands twice", one_line(key)));
    value_ = &entry->second;
  }

  std::string_view path_;
  AwsProfileMap sections_;
  AwsProfile* section_ = nullptr;
  std::string* value_ = nullptr;
  std::size_t indent_ = 0;
  int number_ = 0;
};

std::string file_path(const Environment& environment, std::string_view variable, std::string_view usual) {
  auto path = environment.get(variable).value_or(std::string(usual));
  if (path.starts_with("~/")) path.replace(0, 1, home_folder(environment));
  return path;
}

AwsProfileMap read_sections(const Files& files, const std::string& path, std::vector<std::string>& notes) {
  std::optional<std::string> text;
  try {
    text = files.read(path);
  } catch (const Error& error) {
    notes.emplace_back(error.what());
  }
  return text ? parse_aws_ini(*text, path) : AwsProfileMap{};
}

/// `[default]` and `[profile NAME]`; other sections hold no profile.
AwsProfileMap profiles_of_config(AwsProfileMap&& sections) {
  AwsProfileMap profiles;
  for (auto& [section, values] : sections) {
    if (section == "default") {
      profiles.insert_or_assign(section, std::move(values));
    } else if (section.starts_with("profile")) {
      const auto words = split_shell_words(section);
      if (words && words->size() == 2) profiles.insert_or_assign(words->back(), std::move(values));
    }
  }
  return profiles;
}

}  // namespace

AwsProfileMap parse_aws_ini(std::string_view text, std::string_view path) {
  IniParser parser(path);
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    parser.take(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parser.finish();
}

AwsProfiles load_aws_profiles(const Environment& environment, const Files& files) {
  AwsProfiles profiles;
  profiles.config_path = file_path(environment, "AWS_CONFIG_FILE", "~/.aws/config");
  profiles.credentials_path = file_path(environment, "AWS_SHARED_CREDENTIALS_FILE", "~/.aws/credentials");
  profiles.config = profiles_of_config(read_sections(files, profiles.config_path, profiles.notes));
  profiles.credentials = read_sections(files, profiles.credentials_path, profiles.notes);
  profiles.merged = profiles.config;
  for (const auto& [name, values] : profiles.credentials) {
    for (const auto& [key, value] : values) profiles.merged[name].insert_or_assign(key, value);
    profiles.merged.try_emplace(name);
  }
  return profiles;
}

std::string aws_profile_name(const std::string& profile, const Environment& environment) {
  if (!profile.empty()) return profile;
  for (const auto* variable : {"AWS_DEFAULT_PROFILE", "AWS_PROFILE"}) {
    if (auto name = environment.get(variable); name && !name->empty()) return *std::move(name);
  }
  return "default";
}

std::string aws_profile_region(const std::string& profile, const Services& services) {
  const auto profiles = load_aws_profiles(services.environment, services.files);
  const auto found = profiles.merged.find(aws_profile_name(profile, services.environment));
  if (found == profiles.merged.end()) return {};
  const auto region = found->second.find("region");
  return region == found->second.end() ? std::string() : region->second;
}

}  // namespace burst::auth
