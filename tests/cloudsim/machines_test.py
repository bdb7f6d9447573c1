# SPDX-License-Identifier: Apache-2.0
"""Machines that run a program: they boot, are told who they are, and end with everything that they started."""
import os
import signal
import stat
import subprocess
import sys
import tempfile
import unittest

from simulator import CloudsimTest, Simulator, http, wait_until

# Starts a daemon (own session, parent gone) and a child, writes down what it was told, and waits for its name.
PROGRAM = """#!/bin/sh
sleep "$MARK" &
setsid sh -c "trap '' TERM; (sleep $MARK; true) & wait" </dev/null >/dev/null 2>&1 &
env | sort
url=$AWS_EC2_METADATA_SERVICE_ENDPOINT/latest
until token=$(curl -sf -X PUT -H "X-aws-ec2-metadata-token-ttl-seconds: 60" $url/api/token) &&
      name=$(curl -sf -H "X-aws-ec2-metadata-token: $token" $url/meta-data/tags/instance/Name); do sleep 0.02; done
echo "name=$name"
ps -o pid= -p 1 >/dev/null && echo "first=$(cat /proc/1/comm)"
echo ready
%s
"""


def alive(mark, cloudsims=False):
    """The processes whose command line has the mark, seen from outside every namespace; those of cloudsim and the
    first ones of its machines, which have its command line, or the others."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/%s/cmdline" % pid, "rb") as file:
                command = file.read()
            with open("/proc/%s/stat" % pid) as file:
                state = file.read().rsplit(")", 1)[1].split()[0]
        except OSError:
            continue
        is_cloudsim = command.startswith(os.environ["CLOUDSIM"].encode())
        if mark.encode() in command and is_cloudsim == cloudsims and state != "Z":
            found.append((int(pid), state))
    return found


class Machines(CloudsimTest):
    ending = "exec sleep $MARK"
    more_options = ()

    @classmethod
    def setUpClass(cls):
        # A duration that no other process on this computer sleeps for.
        cls.mark = "86%d.%d" % (os.getpid(), len(cls.__name__))
        cls.scratch = tempfile.TemporaryDirectory(prefix="cloudsim-machines-")
        program = os.path.join(cls.scratch.name, "boot")
        with open(program, "w") as file:
            file.write(PROGRAM % cls.ending)
        os.chmod(program, stat.S_IRWXU)
        cls.sim = Simulator("--boot-command", program, "--boot-env", "MARK=" + cls.mark, "--boot-env", "EXTRA=a b",
                            "--log-dir", cls.scratch.name, "--kill-after-ms", "200", *cls.more_options)

    @classmethod
    def tearDownClass(cls):
        super().tearDownClass()
        for cloudsims in (False, True):
            left = alive(cls.mark, cloudsims)
            assert left == [], left
        cls.scratch.cleanup()

    def log(self, machine):
        try:
            with open(os.path.join(self.scratch.name, machine + ".log")) as file:
                return file.read()
        except FileNotFoundError:
            return ""

    def boot(self, count):
        ids = self.fleet_ids(count)
        for n, machine in enumerate(ids):
            self.ec2.create_tags(Resources=[machine], Tags=[{"Key": "Name", "Value": "node-%d" % n}])
        for machine in ids:
            wait_until(lambda: "ready\n" in self.log(machine))
        return ids

    def tearDown(self):
        self.sim.control("POST", "/reset")
        wait_until(lambda: not alive(self.mark))
        super().tearDown()

    def test_a_machine_knows_itself_and_only_what_it_is_told(self):
        one, = self.boot(1)
        lines = self.log(one).splitlines()
        self.assertIn("CLOUDSIM_INSTANCE_ID=" + one, lines)
        self.assertIn("CLOUDSIM_ADDRESS=127.10.0.1", lines)
        self.assertIn("AWS_EC2_METADATA_SERVICE_ENDPOINT=%s/imds/%s" % (self.sim.url, one), lines)
        self.assertIn("EXTRA=a b", lines)
        self.assertIn("name=node-0", lines)
        self.assertEqual("first=cloudsim-init" in lines, not self.more_options)
        names = {line.split("=")[0] for line in lines if "=" in line}
        self.assertLessEqual(names, {"CLOUDSIM_INSTANCE_ID", "CLOUDSIM_ADDRESS", "CLOUDSIM_REGION", "MARK", "EXTRA",
                                     "AWS_EC2_METADATA_SERVICE_ENDPOINT", "PATH", "PWD", "OLDPWD", "SHLVL", "_", "name",
                                     "first"})

    def test_termination_ends_everything_in_it_and_nothing_else(self):
        one, two = self.boot(2)
        both = len(alive(self.mark))
        self.assertGreaterEqual(both, 6)
        self.ec2.terminate_instances(InstanceIds=[one])
        wait_until(lambda: self.sim.control("GET", "/machines")["running"] == 1)
        self.assertEqual(len(alive(self.mark)), both // 2)
        self.ec2.terminate_instances(InstanceIds=[two])
        wait_until(lambda: not alive(self.mark))

    def test_a_spot_interruption_ends_it_too(self):
        one, = self.boot(1)
        self.sim.control("POST", "/instances/" + one, action="interrupt")
        wait_until(lambda: not alive(self.mark))

    def test_a_machine_can_hang_and_go_on(self):
        one, = self.boot(1)
        self.sim.control("POST", "/instances/" + one, action="hang")
        wait_until(lambda: {state for _, state in alive(self.mark)} == {"T"})
        self.sim.control("POST", "/instances/" + one, action="thaw")
        wait_until(lambda: "T" not in {state for _, state in alive(self.mark)})
        self.sim.control("POST", "/instances/" + one, action="hang")
        self.ec2.terminate_instances(InstanceIds=[one])
        wait_until(lambda: not alive(self.mark))

    def test_unbootable_machines_run_nothing(self):
        self.sim.control("POST", "/knobs", unbootable=1)
        ids = self.fleet_ids(2)
        self.ec2.create_tags(Resources=ids, Tags=[{"Key": "Name", "Value": "x"}])
        wait_until(lambda: "ready\n" in self.log(ids[1]))
        self.assertEqual(self.log(ids[0]), "")
        self.assertEqual([i["boots"] for i in self.sim.instances()], [False, True])
        self.assertEqual({i["state"] for i in self.sim.instances()}, {"running"})
        self.assertEqual(self.sim.control("GET", "/machines")["running"], 1)

    def test_terminated_while_pending_it_never_boots(self):
        self.sim.control("POST", "/knobs", boot_ms=1500)
        late, = self.fleet_ids(1)
        self.ec2.terminate_instances(InstanceIds=[late])
        later, = self.fleet_ids(1)
        wait_until(lambda: self.log(later))  # launched later, and it runs by now
        self.assertEqual(self.log(late), "")

    def test_foreign_instances_run_nothing(self):
        self.sim.control("POST", "/instances", tags={"Name": "x"})
        self.boot(1)
        self.assertEqual(self.sim.control("GET", "/machines")["running"], 1)


class ProgramThatEnds(Machines):
    """The program is over soon; what it has started keeps running, as on a real computer."""
    ending = "exit 0"


class WithoutNamespaces(Machines):
    """As where the kernel forbids them: a daemon must not escape all the same."""
    more_options = ("--no-namespaces",)


class TheEnd(unittest.TestCase):
    def machine(self, folder, mark):
        program = os.path.join(folder, "boot")
        with open(program, "w") as file:
            file.write("#!/bin/sh\nsetsid sleep %s </dev/null >/dev/null 2>&1 &\nexec sleep %s\n" % (mark, mark))
        os.chmod(program, stat.S_IRWXU)
        return program

    def run_until_booted(self, mark, *options):
        folder = tempfile.TemporaryDirectory(prefix="cloudsim-end-")
        self.addCleanup(folder.cleanup)
        sim = Simulator("--boot-command", self.machine(folder.name, mark), *options)
        self.addCleanup(sim.folder.cleanup)
        http("POST", sim.url + "/_control/instances", b'{"boot": true}')
        wait_until(lambda: len(alive(mark)) >= 2)
        self.assertEqual(len(alive(sim.path("port"), cloudsims=True)), 2)
        return sim

    def test_sigterm_and_sigint_leave_nothing(self):
        for number, sent in enumerate((signal.SIGTERM, signal.SIGINT)):
            mark = "87%d.%d" % (os.getpid(), number)
            sim = self.run_until_booted(mark)
            sim.process.send_signal(sent)
            self.assertEqual(sim.process.wait(20), 0)
            self.assertEqual(alive(mark), [])
            self.assertEqual(alive(sim.path("port"), cloudsims=True), [])

    def test_sigkill_leaves_nothing(self):
        for number, options in enumerate(((), ("--no-namespaces",))):
            mark = "88%d.%d" % (os.getpid(), number)
            sim = self.run_until_booted(mark, *options)
            sim.process.kill()
            sim.process.wait(20)
            wait_until(lambda: not alive(mark) and not alive(sim.path("port"), cloudsims=True))

    def test_it_ends_with_its_parent(self):
        with tempfile.TemporaryDirectory(prefix="cloudsim-parent-") as folder:
            port = os.path.join(folder, "port")
            script = "import os,subprocess,sys,time\np=subprocess.Popen(sys.argv[1:])\nprint(p.pid,flush=True)\n" \
                     "while not os.path.exists(%r): time.sleep(0.01)\n" % port
            done = subprocess.run([sys.executable, "-c", script, os.environ["CLOUDSIM"], "--port-file", port],
                                  stdout=subprocess.PIPE, text=True, check=True)
            pid = int(done.stdout.split()[0])

            def gone():
                try:
                    with open("/proc/%d/stat" % pid) as file:
                        return file.read().rsplit(")", 1)[1].split()[0] == "Z"
                except OSError:
                    return True
            wait_until(gone)
