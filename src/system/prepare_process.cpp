// SPDX-License-Identifier: Apache-2.0
// What slurmctld leaves undone for the programs that it starts.
#include "system/prepare_process.h"

#include <csignal>
#include <cstdlib>

#include <fcntl.h>
#include <unistd.h>

namespace burst {

void prepare_process() {
  for (int descriptor = 0; descriptor <= 2; ++descriptor) {
    // open() takes the lowest free number, which is this one.
    if (fcntl(descriptor, F_GETFD) < 0) (void)open("/dev/null", O_RDWR);  // NOLINT(cppcoreguidelines-pro-type-vararg)
  }
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  (void)std::signal(SIGPIPE, SIG_IGN);
  constexpr int keep = 0;
  setenv("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
         keep);  // NOLINT(concurrency-mt-unsafe)
}

}  // namespace burst
