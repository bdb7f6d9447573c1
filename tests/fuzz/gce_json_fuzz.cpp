// SPDX-License-Identifier: Apache-2.0
// Compute Engine's JSON replies.
#include "fuzz_input.h"
#include "providers/gce/gce_errors.h"
#include "providers/gce/gce_replies.h"

using namespace burst::fuzz;
namespace gce = burst::gce;

namespace {

void require_safe_error(const gce::ApiError& error) {
  require_one_line(error.message, "an error's message is one safe line");
  require_one_line(error.code, "an error's code is one safe line");
  static_cast<void>(gce::error_kind(error.code));
  static_cast<void>(gce::outcome_of(error.code));
}

void check(const gce::Operation& operation) {
  for (const auto& error : operation.errors) require_safe_error(error);
  require_safe_error(gce::main_error(operation.errors, {"otherwise", "none"}));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto text = text_of(data, size);
  static_cast<void>(gce::is_whole(text));
  if (const auto error = gce::parse_error(text)) require_safe_error(*error);
  only_errors([&] { static_cast<void>(gce::parse_instances(text, "europe-west4")); });
  only_errors([&] {
    for (const auto& operation : gce::parse_operations(text).items) check(operation);
  });
  only_errors([&] { static_cast<void>(gce::parse_instance_groups(text)); });
  only_errors([&] {
    for (const auto& request : gce::parse_resize_requests(text).items) {
      if (request.error) require_safe_error(*request.error);
      if (request.last_word) require_safe_error(*request.last_word);
    }
  });
  only_errors([&] { static_cast<void>(gce::parse_managed_instances(text)); });
  only_errors([&] { static_cast<void>(gce::parse_instance_group(text)); });
  only_errors([&] { check(gce::parse_operation(text)); });
  return 0;
}
