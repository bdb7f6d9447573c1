# SPDX-License-Identifier: Apache-2.0
"""Daemons, ports and waiting: what a throw-away cluster needs of the operating system, and gives back in full."""

import ctypes
import os
import pathlib
import random
import signal
import socket
import subprocess
import time

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_libc = ctypes.CDLL(None, use_errno=True)


class Timeout(AssertionError):
    """A condition did not become true in time."""


def wait_until(condition, what, timeout=30.0, interval=0.05):
    """Polls `condition` until it returns something true, and returns that. `what` may be a function: it is then asked
    at the end, for what was seen last. This is the only way in which anything here waits."""
    deadline = time.monotonic() + timeout
    while True:
        result = condition()
        if result:
            return result
        if time.monotonic() >= deadline:
            raise Timeout(f"after {timeout:g} s: {what() if callable(what) else what}")
        time.sleep(interval)


def adopt_orphans():
    """Makes this process the parent of what its descendants leave behind: nothing of a cluster gets lost."""
    if _libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_CHILD_SUBREAPER)")


class Daemon:
    """A program in the foreground, in a session of its own. It gets SIGTERM when this process dies in whatever way."""

    def __init__(self, name, command, output, env=None, cwd=None):
        self.name, self.output = name, pathlib.Path(output)
        parent = os.getpid()

        def tie_to_parent():
            _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
            if os.getppid() != parent:
                os._exit(1)
            os.umask(0o022)

        with open(self.output, "ab") as log:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
                                            env=env, cwd=cwd, start_new_session=True, preexec_fn=tie_to_parent)

    @property
    def pid(self):
        return self.process.pid

    def running(self):
        return self.process.poll() is None

    def require_running(self):
        if not self.running():
            raise AssertionError(f"{self.name} ended with status {self.process.returncode}: "
                                 f"{self.output.read_text(errors='replace')[-2000:]}")

    def stop(self, timeout=15.0):
        """SIGTERM, and SIGKILL where that does not help."""
        if self.running():
            self.process.terminate()
            try:
                self.process.wait(timeout)
            except subprocess.TimeoutExpired:
                self.kill()
                raise AssertionError(f"{self.name} did not end within {timeout:g} s of SIGTERM") from None

    def kill(self):
        """As a machine whose power fails."""
        if self.running():
            self.process.kill()
        self.process.wait()


def _stat(pid):
    """State and parent of a process, or nothing when it is gone."""
    try:
        text = pathlib.Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    state, parent = text[text.rindex(")") + 2:].split()[:2]
    return state, int(parent)


def _mentions(pid, marker):
    for part in ("environ", "cmdline"):
        try:
            if marker in pathlib.Path(f"/proc/{pid}/{part}").read_bytes():
                return True
        except OSError:
            pass
    return False


def descendants(marker=None):
    """{pid: command line} of this process's living descendants; with `marker`, of those whose command line or
    environment mentions it, and of their descendants."""
    parents = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            stat = _stat(entry)
            if stat and stat[0] != "Z":
                parents[int(entry)] = stat[1]
    ours = {os.getpid()}
    while True:
        more = {pid for pid, parent in parents.items() if parent in ours} - ours
        if not more:
            break
        ours |= more
    ours.discard(os.getpid())
    if marker:
        needle = os.fsencode(str(marker))
        marked = {pid for pid in ours if _mentions(pid, needle)}
        while True:
            more = {pid for pid in ours - marked if parents[pid] in marked}
            if not more:
                break
            marked |= more
        ours = marked
    found = {}
    for pid in ours:
        try:
            found[pid] = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            pass
    return found


def kill_descendants(marker, timeout=10.0):
    """Ends every descendant that mentions `marker`, and returns the command lines of those that had to be ended."""
    found = {}

    def none_left():
        living = descendants(marker)
        found.update(living)
        for pid in living:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        return not living

    wait_until(none_left, lambda: f"these do not die: {descendants(marker)}", timeout)
    return sorted(set(found.values()))


class Ports:
    """A block of free TCP ports that no other cluster on this machine takes while this object lives: a lock in the
    abstract socket namespace, which leaves nothing behind, and lies below the range that outgoing connections use."""

    SIZE = 256
    FIRST, LAST = 10240, 32512

    def __init__(self):
        blocks = list(range(self.FIRST, self.LAST - self.SIZE, self.SIZE))
        random.shuffle(blocks)
        for base in blocks:
            lock = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
            try:
                lock.bind(f"\0slurm-burst-e2e-{base}")
            except OSError:
                lock.close()
                continue
            if all(port_is_free(port) for port in range(base, base + self.SIZE)):
                self.base, self._next, self._lock = base, base, lock
                return
            lock.close()
        raise AssertionError("no block of free ports")

    def take(self, count=1):
        first = self._next
        self._next += count
        if self._next > self.base + self.SIZE:
            raise AssertionError(f"a cluster has {self.SIZE} ports, no more")
        return first

    def busy(self):
        return [port for port in range(self.base, self._next) if not port_is_free(port)]

    def release(self):
        self._lock.close()


def port_is_free(port):
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("", port))
        except OSError:
            return False
    return True
