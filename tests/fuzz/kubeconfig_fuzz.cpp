// SPDX-License-Identifier: Apache-2.0
// kubeconfig: YAML and JSON.
#include <nlohmann/json.hpp>

#include "auth/kube_config.h"
#include "auth/kube_document.h"
#include "fuzz_input.h"

using namespace burst::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto text = text_of(data, size);
  only_errors([&] { static_cast<void>(burst::auth::parse_kube_document(text, "/kube/config").dump().size()); });
  for (const bool other_credentials : {false, true}) {
    only_errors([&] {
      const auto config = burst::auth::load_kube_config({{"/kube/config"}, true}, "", other_credentials, OneFile(text));
      require(config.cluster.server.starts_with("https://") || config.cluster.server.starts_with("http://"),
              "a server is a URL", config.cluster.server);
    });
  }
  return 0;
}
