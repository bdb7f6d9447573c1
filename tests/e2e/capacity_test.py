# SPDX-License-Identifier: Apache-2.0
"""What happens when the cloud has no machines: other groups take over, the empty one pauses and comes back."""

import unittest

import processes
from cluster import ec2_group, partition
from scenario import OFF, Scenario

CLOSED = frozenset({"DOWN", "CLOUD", "POWERED_DOWN"})


def group_of(name, instance_type, weight, nodes=4, **more):
    return ec2_group(name, nodes, SlurmSpecifications={"CPUs": 1, "Weight": weight},
                     LaunchTemplateOverrides=[{"InstanceType": instance_type}], **more)


class Capacity(Scenario):
    def assert_closed(self, cluster, hostlist, code):
        for node in cluster.nodes(hostlist).values():
            self.assertEqual(node.state, CLOSED, node)
            self.assertRegex(node.reason, f"^burst:{code} .+")

    def reopen(self, cluster, nodes):
        """Passes of change_state until the whole group is open again: first one node, then all of them."""
        opened = []

        def whole():
            states = [node.state for node in cluster.nodes(nodes).values()]
            self.assertEqual({state for state in states} - {OFF, CLOSED}, set())
            opened.append(states.count(OFF))
            return opened[-1] == len(states)
        self.pass_until(cluster, whole, lambda: f"not all nodes are open: {cluster.nodes(nodes)}")
        self.assertEqual(sorted(set(opened) - {0}), [1, len(cluster.expand(nodes))])
        self.assertEqual(opened, sorted(opened))
        self.assertEqual({node.reason for node in cluster.nodes(nodes).values()} - {""}, set())

    def test_without_capacity_the_job_goes_to_the_next_group_and_the_first_comes_back_by_a_probe(self):
        groups = partition("aws", group_of("c5", "c5.large", 1), group_of("m5", "m5.large", 2))
        with self.cluster([groups], config={"CoolDown": 20}, slurm={"SuspendTimeout": 2}) as cluster:
            cluster.cloud.capacity(0, type="c5.large")
            job = cluster.sbatch("srun hostname")
            cluster.wait_for_nodes("aws-c5-[1-3]", lambda node: "DOWN" in node.state, "closed by resume itself")
            self.assert_closed(cluster, "aws-c5-[1-3]", "InsufficientInstanceCapacity")
            cluster.wait_for_job(job, "PENDING")
            # The refused node follows when it has powered down.
            cluster.wait_for_nodes("aws-c5-0", lambda node: node.state == OFF, "powered down")
            cluster.change_state()
            self.assert_closed(cluster, "aws-c5-[0-3]", "InsufficientInstanceCapacity")
            cluster.start_requeued_now(job)
            cluster.wait_for_job(job)
            self.assert_machines(cluster, "aws-m5-0")
            self.assertEqual({node.state for node in cluster.nodes("aws-m5-[1-3]").values()}, {OFF})
            # A second job wants nodes of both groups: it does not make Slurm ask for those of the closed one.
            cluster.srun("true", nodes=2)
            self.assert_machines(cluster, "aws-m5-[0-1]")
            self.assertEqual([sorted(i["tags"]["Name"] for i in self.all_instances(cluster))],
                             [["aws-m5-0", "aws-m5-1"]])
            refused = [call for call in cluster.cloud.requests("CreateFleet") if "c5.large" in call["parameters"].values()]
            self.assertEqual(len(refused), 1)

            cluster.cloud.capacity(100, type="c5.large")
            self.reopen(cluster, "aws-c5-[0-3]")
            cluster.srun("true", nodes=4, options=["--nodelist=aws-c5-[0-3]"])
            self.assert_machines(cluster, "aws-c5-[0-3],aws-m5-[0-1]")
            self.power_down(cluster, "aws-c5-[0-3],aws-m5-[0-1]")

    def test_an_all_or_nothing_launch_that_comes_short_gives_everything_back(self):
        # Of two pools, for which EC2 knows no minimum of its own: between them they have three.
        group = ec2_group("c5", 4, LaunchStrategy="all-or-nothing",
                          LaunchTemplateOverrides=[{"InstanceType": "c5.large"}, {"InstanceType": "c5.xlarge"}])
        with self.cluster([partition("aws", group)], config={"CoolDown": 10}, slurm={"SuspendTimeout": 2}) as cluster:
            cluster.cloud.capacity(2, type="c5.large")
            cluster.cloud.capacity(1, type="c5.xlarge")
            job = cluster.sbatch("srun hostname", 4)
            cluster.wait_for_nodes("aws-c5-[0-3]",
                                   lambda node: node.reason.startswith("burst:InsufficientInstanceCapacity "), "refused")
            cluster.wait_for_job(job, "PENDING")
            cluster.scontrol("hold", job)  # Slurm's next try is not to come before the test's
            processes.wait_until(lambda: [i["state"] for i in self.all_instances(cluster)] == ["terminated"] * 3,
                                 lambda: f"not given back: {self.all_instances(cluster)}")
            self.assertEqual({i["tags"].get("Name") for i in self.all_instances(cluster)}, {None})
            cluster.wait_for_nodes("aws-c5-[0-3]", lambda node: node.state == OFF, "powered down")
            self.assertEqual(cluster.job_state(job), "PENDING")

            cluster.cloud.capacity(100, type="c5.large")
            self.reopen(cluster, "aws-c5-[0-3]")
            cluster.scontrol("release", job)
            cluster.start_requeued_now(job)
            cluster.wait_for_job(job)
            machines = self.assert_machines(cluster, "aws-c5-[0-3]")
            self.assertEqual(len({machine["fleet"] for machine in machines.values()}), 1)
            self.assertEqual(len(self.all_instances(cluster)), 7)
            self.power_down(cluster, "aws-c5-[0-3]")


if __name__ == "__main__":
    unittest.main()
