// SPDX-License-Identifier: Apache-2.0
// EC2's XML replies.
#include "fuzz_input.h"
#include "providers/ec2/ec2_errors.h"
#include "providers/ec2/ec2_replies.h"

using namespace burst::fuzz;
namespace ec2 = burst::ec2;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto text = text_of(data, size);
  only_errors([&] {
    for (const auto& instance : ec2::parse_describe_instances(text).instances) {
      static_cast<void>(instance.tag("Name"));
      require_one_line(instance.state_reason, "a state's reason is one safe line");
    }
  });
  only_errors([&] {
    for (const auto& error : ec2::parse_create_fleet(text).errors) {
      static_cast<void>(ec2::error_kind(error.code));
      require_one_line(error.message, "a fleet error's message is one safe line");
    }
  });
  only_errors([&] {
    const auto error = ec2::parse_error(text);
    if (!error) return;
    require_one_line(error->message, "an error's message is one safe line");
    require_one_line(error->code, "an error's code is one safe line");
    require_one_line(error->request_id, "a request id is one safe line");
  });
  for (const char* action : {"CreateFleet", "DescribeInstances", "TerminateInstances", "CreateTags"}) {
    static_cast<void>(ec2::is_whole(text, action));
  }
  return 0;
}
