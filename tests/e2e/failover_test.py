# SPDX-License-Identifier: Apache-2.0
"""A stream of jobs for a partition of three node groups of which two have nothing to give."""

import collections
import re
import statistics
import time
import unittest

import processes
from cloudsim import Cloudsim
from cluster import ec2_group, partition
from scenario import OFF, Scenario

JOBS = 100
COOL_DOWN = 5
# A launch that slurmctld asked for before it knew that the group is closed may still come.
CLOSING = 3


def group_of(name, instance_type, nodes=10, **more):
    return ec2_group(name, nodes, LaunchTemplateOverrides=[{"InstanceType": instance_type}], **more)


class Failover(Scenario):
    def attempts(self, cluster, instance_type):
        """Each CreateFleet for this type as (time, machines asked for)."""
        return [(call["time"], int(call["parameters"]["TargetCapacitySpecification.TotalTargetCapacity"]))
                for call in cluster.cloud.requests("CreateFleet")
                if call["parameters"].get("LaunchTemplateConfigs.1.Overrides.1.InstanceType") == instance_type]

    def jobs_done(self, cluster, jobs):
        """{job: (seconds from submission to start, requeues, node)}, once all have ended."""
        def show():
            found = {}
            for line in cluster.scontrol("-o", "show", "jobs").splitlines():
                fields = dict(re.findall(r"(?:^| )(JobId|JobState|Restarts|SubmitTime|StartTime|NodeList)=(\S*)", line))
                found[int(fields["JobId"])] = fields
            return found

        def all_ended():
            states = collections.Counter(fields["JobState"] for job, fields in show().items() if job in jobs)
            return states == {"COMPLETED": len(jobs)}
        processes.wait_until(all_ended, lambda: f"not all have ended: {cluster.run('squeue').stdout}", 150, interval=0.5)
        return {job: fields for job, fields in show().items() if job in jobs}

    def assert_probed_by_one(self, attempts, code):
        """After the group was closed every further launch was one for one machine, once a cool-down at most."""
        first = attempts[0][0]
        probes = [(at, size) for at, size in attempts if at > first + CLOSING]
        self.assertEqual({size for _, size in probes} - {1}, set(), (code, attempts))
        # The pauses double: 5, 10, 20 s ...
        times = [first] + [at for at, _ in probes]
        for number, (before, after) in enumerate(zip(times, times[1:])):
            self.assertGreater(after - before, COOL_DOWN * 2 ** number - CLOSING, (code, attempts))
        return len(probes)

    def test_a_hundred_jobs_end_though_two_of_three_groups_have_nothing_to_give(self):
        groups = partition("aws", group_of("c5", "c5.large"), group_of("m5", "m5.large", PurchasingOption="spot"),
                           group_of("r5", "r5.large"))
        cloud = Cloudsim(ec2={"quota": {"spot_instances": 0}, "capacity": [{"type": "c5.large", "available": 0}]})
        config = {"CoolDown": COOL_DOWN, "MaxCoolDown": 40, "ProbeTime": 10}
        with self.cluster([groups], cloud=cloud, config=config, slurm={"SuspendTimeout": 2}) as cluster:
            cluster.start_change_state(1.0)
            begin = time.time()
            jobs = []
            for _ in range(JOBS):
                jobs.append(cluster.sbatch("true"))
            done = self.jobs_done(cluster, jobs)
            length = time.time() - begin

            self.assertEqual({re.sub("-[0-9]+$", "", fields["NodeList"]) for fields in done.values()}, {"aws-r5"})
            machines = self.all_instances(cluster)
            self.assertEqual({machine["type"] for machine in machines}, {"r5.large"})
            self.assertLessEqual(len(machines), 10)
            attempts = {name: self.attempts(cluster, f"{name}.large") for name in ("c5", "m5", "r5")}
            probes = {name: self.assert_probed_by_one(attempts[name], name) for name in ("c5", "m5")}
            starts = [time.mktime(time.strptime(fields["StartTime"], "%Y-%m-%dT%H:%M:%S")) - begin
                      for fields in done.values()]
            restarts = [int(fields["Restarts"]) for fields in done.values()]
            # No job was sent to a closed group again and again.
            self.assertLessEqual(max(restarts), 4)
            print(f"\n{JOBS} jobs: the first started after {min(starts):.0f} s, half of them after "
                  f"{statistics.median(starts):.0f} s, the last ended after {length:.0f} s; "
                  f"{sum(map(bool, restarts))} were requeued, none more than {max(restarts)} times")
            for name, why in (("c5", "no capacity"), ("m5", "over quota"), ("r5", "has machines")):
                sizes = [size for _, size in attempts[name]]
                print(f"{name} ({why}): {len(sizes)} launches for {sizes} machines"
                      + (f", {probes[name]} of them probes" if name in probes else ""), flush=True)

            # What was closed comes back by itself.
            cluster.cloud.capacity(100, type="c5.large")
            cluster.cloud.set(ec2={"quota": {"spot_instances": None}})
            last = [cluster.sbatch("true", 1, f"--nodelist=aws-{name}-9") for name in ("c5", "m5")]
            cluster.wait_for_nodes("aws-c5-[0-8],aws-m5-[0-8]", lambda node: node.state == OFF, "open again", 90)
            for job in last:
                cluster.wait_for_job(job)
            self.assertEqual(set(cluster.stop_change_state()), {0})
            self.power_down(cluster, "aws-c5-9,aws-m5-9,aws-r5-[0-9]")


if __name__ == "__main__":
    unittest.main()
