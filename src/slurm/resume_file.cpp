// SPDX-License-Identifier: Apache-2.0
// SLURM_RESUME_FILE: which jobs the nodes of this resume are for.
#include <cstdint>
#include <limits>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "burst/error.h"
#include "burst/hostlist.h"
#include "burst/slurm.h"
#include "burst/text.h"

namespace burst {
namespace {

using nlohmann::json;

[[noreturn]] void fail(const std::string& what) {
  throw Error("ResumeFileError", "reading SLURM_RESUME_FILE: " + one_line(what));
}

/// A member's text; empty when it is absent or null.
std::string text_of(const json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || found->is_null()) return {};
  if (!found->is_string()) fail(fmt::format("{}: expected a string, found {}", key, found->type_name()));
  return found->get<std::string>();
}

std::vector<NodeName> nodes_of(const json& object, const char* key, const char* old_key) {
  const std::string list = text_of(object, object.contains(key) ? key : old_key);
  try {
    return expand_hostlist(list);
  } catch (const Error& error) {
    fail(error.what());
  }
}

ResumeJob job_of(const json& object) {
  if (!object.is_object()) fail("jobs: expected objects");
  const auto id = object.find("job_id");
  if (id == object.end() || !id->is_number_integer() || id->get<std::int64_t>() <= 0 ||
      id->get<std::int64_t>() > std::numeric_limits<JobId>::max()) {
    fail("a job without job_id");
  }
  ResumeJob job;
  job.id = id->get<JobId>();
  job.nodes = nodes_of(object, "nodes_resume", "nodes");
  job.allocated = nodes_of(object, "nodes_alloc", "");
  job.oversubscribe = text_of(object, "oversubscribe");
  job.partition = text_of(object, "partition");
  if (const auto priority = object.find("priority"); priority != object.end() && priority->is_number_integer())
    job.priority = priority->get<std::int64_t>();
  return job;
}

}  // namespace

std::vector<ResumeJob> parse_resume_file(std::string_view text) {
  const json file = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (file.is_discarded()) fail("no JSON");
  if (!file.is_object()) fail(fmt::format("expected an object, found {}", file.type_name()));
  const auto jobs = file.find("jobs");
  if (jobs == file.end() || !jobs->is_array()) fail("no array \"jobs\"");
  std::vector<ResumeJob> all;
  all.reserve(jobs->size());
  for (const auto& job : *jobs) all.push_back(job_of(job));
  return all;
}

}  // namespace burst
