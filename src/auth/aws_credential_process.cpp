// SPDX-License-Identifier: Apache-2.0
// Credentials from a program that a profile names (`credential_process`).
#include "auth/aws_credential_process.h"

#include <fmt/format.h>

#include "auth/aws_json_credentials.h"
#include "auth/shell_words.h"
#include "burst/error.h"
#include "burst/text.h"

namespace burst::auth {

AwsCredentials run_credential_process(const std::string& command, const std::string& profile, Processes& processes) {
  const auto from = fmt::format("credential_process of profile \"{}\"", one_line(profile));
  auto words = split_shell_words(command);
  if (!words || words->empty()) throw Error("NoCredentials", from + ": expected a command, quotes closed");
  ProcessRequest request;
  request.argv = *std::move(words);
  request.timeout = std::chrono::seconds(60);  // it may ask an identity provider over the network
  const auto result = processes.run(request);
  if (result.timed_out) {
    throw Error("NoCredentials", fmt::format("{}: no answer in {} s", from, request.timeout.count() / 1000));
  }
  if (result.status != 0) {
    throw Error("NoCredentials", fmt::format("{}: exit status {}: {}", from, result.status, one_line(result.errors)));
  }
  return parse_aws_json_credentials(result.output, {"SessionToken", true, false}, from);
}

}  // namespace burst::auth
