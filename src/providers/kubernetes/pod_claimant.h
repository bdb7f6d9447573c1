// SPDX-License-Identifier: Apache-2.0
// A node that is to get a pod: what has become of it so far.
#pragma once

#include <optional>
#include <string>

#include "burst/machine.h"
#include "providers/kubernetes/pod_inventory.h"

namespace burst::kubernetes {

struct Claimant {
  enum class State {
    to_create,       ///< its POST is to be sent
    name_taken,      ///< by whom is to be asked
    to_replace,      ///< by a pod of ours, `uid`, that is of no use
    waits_for_name,  ///< until pod `uid` is gone
    has_pod,         ///< `uid`; without an address yet
    has_address,
    told,  ///< and the caller knows it
    refused
  };

  std::size_t launch = 0;  ///< index of its Launch
  State state = State::to_create;
  std::string uid;
  NodeOutcome outcome;
  std::optional<ApiError> doubt;  ///< in has_pod: no reply says that there is one, this does that there may be
  int posts = 0;

  /// Whether it may still come to have an address.
  bool is_open() const { return state != State::refused; }

  /// Takes the result of its POST.
  void posted(const CallResult& result, const GroupContext& context);
  /// Takes the result of a GET of the pod that has its name.
  void found(const CallResult& result, const GroupContext& context, const std::string& launch_id,
             const std::string& template_hash);
  /// Takes what a list says of its name: the pod of ours, or null. True: its pod is to be ended.
  bool seen(const Pod* pod, const GroupContext& context);

  void refuse(const MachineFailure& why);
  void refuse(const ApiError& error);
  /// What has no address by now gets it later, or was never there.
  void leave_pending();

 private:
  void take(const Pod& pod, const GroupContext& context);
};

}  // namespace burst::kubernetes
