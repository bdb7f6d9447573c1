// SPDX-License-Identifier: Apache-2.0
// cloudsim: one server that speaks the wire protocols of the clouds.
#include <csignal>
#include <exception>
#include <iostream>

#include <malloc.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "options.h"
#include "simulation.h"

int main(int argc, char** argv) {
  int exit_status = 0;
  const pid_t parent = getppid();
  const auto options = cloudsim::parse_options(argc, argv, exit_status);
  if (!options) {
    return exit_status;
  }
  if (!options->keep_running) {
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) {
      return 1;  // it died before the line above
    }
  }
  signal(SIGPIPE, SIG_IGN);
  // What a reset frees is put together at once: glibc would else do that, for a fifth of a second, in the next request.
  mallopt(M_MXFAST, 0);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  try {
    cloudsim::Simulation(*options).run();
  } catch (const std::exception& error) {
    std::cerr << "cloudsim: " << error.what() << '\n';
    return 1;
  }
  return 0;
}
