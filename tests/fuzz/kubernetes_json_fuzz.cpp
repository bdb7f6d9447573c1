// SPDX-License-Identifier: Apache-2.0
// What an API server of Kubernetes answers.
#include "fuzz_input.h"
#include "providers/kubernetes/kubernetes_errors.h"
#include "providers/kubernetes/node_set_power_state.h"
#include "providers/kubernetes/pod_failure.h"
#include "providers/kubernetes/pod_status.h"

using namespace burst::fuzz;
namespace kube = burst::kubernetes;

namespace {

const kube::GroupIdentity kIdentity{"cluster", "kube", "cpu"};
constexpr std::chrono::sys_seconds kNow{std::chrono::seconds(1'780'000'000)};

void check(const kube::Pod& pod) {
  const kube::GroupSettings settings;
  const auto machine = kube::machine_of(pod, settings, kNow);
  require_one_line(machine.detail, "why a machine waits is one safe line");
  if (machine.failure) {
    require_one_line(machine.failure->message, "a failure's message is one safe line");
    require(machine.failure->code.find_first_of(" \n\"") == std::string::npos, "a failure's code is one word");
  }
  const auto id = kube::pod_id(machine.id);
  require(!id || id->name == pod.name, "an id gives its pod's name", machine.id);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto text = text_of(data, size);
  only_errors([&] {
    for (const auto& pod : kube::parse_pod_list(text, kIdentity).pods) check(pod);
  });
  only_errors([&] { check(kube::parse_pod_reply(text, kIdentity)); });
  for (const int status : {0, 200, 403, 409, 422, 429, 500}) {
    const auto error = kube::parse_error(status, text);
    require_one_line(error.message, "an error's message is one safe line");
    require(!error.code.empty() && error.code.find_first_of(" \n\"") == std::string::npos, "a code is one word");
    static_cast<void>(kube::outcome_of(error));
  }
  only_errors([&] { static_cast<void>(kube::parse_node_set(text)); });
  only_errors([&] {
    auto state = kube::PowerState::parse(text);
    state.add({7});
    require(kube::PowerState::parse(state.body()).active() == state.active(), "what is written is read again");
  });
  return 0;
}
