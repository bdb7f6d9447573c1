// SPDX-License-Identifier: Apache-2.0
// Stands for scontrol and squeue: hands its arguments to the model of Slurm that listens at FOLDER/socket, FOLDER being
// its own, and prints the answer. `STATUS\n` and then what is printed, to stderr unless the status is 0.
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static int put(int file, const char* data, size_t size) {
  while (size > 0) {
    const ssize_t done = write(file, data, size);
    if (done <= 0) return 0;
    data += done;
    size -= (size_t)done;
  }
  return 1;
}

int main(int argc, char** argv) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  static char answer[1 << 16];
  char* name = strrchr(argv[0], '/');
  if (name == NULL) return 125;
  const int folder = (int)(name++ - argv[0]);
  if (snprintf(address.sun_path, sizeof address.sun_path, "%.*s/socket", folder, argv[0]) >=
      (int)sizeof address.sun_path)
    return 125;
  const int server = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (server < 0 || connect(server, (struct sockaddr*)&address, sizeof address) != 0) {
    fputs("slurm_update error: Unable to contact slurm controller (connect failure)\n", stderr);
    return 1;
  }
  if (!put(server, name, strlen(name) + 1)) return 125;
  for (int i = 1; i < argc; ++i)
    if (!put(server, argv[i], strlen(argv[i]) + 1)) return 125;
  shutdown(server, SHUT_WR);

  int status = -1;
  for (ssize_t got; (got = read(server, answer, sizeof answer)) > 0;) {
    char* text = answer;
    if (status < 0) {  // the model sends the first line in one piece
      text = memchr(answer, '\n', (size_t)got);
      if (text == NULL) return 125;
      status = atoi(answer);
      ++text;
    }
    if (!put(status == 0 ? 1 : 2, text, (size_t)(answer + got - text))) return 125;
  }
  return status < 0 ? 125 : status;
}
