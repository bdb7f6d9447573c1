# SPDX-License-Identifier: Apache-2.0
"""generate_conf --from-cluster-config as an admin runs it, and what generate_conf then makes of the result."""
import json
import pathlib
import unittest

from blackbox import BlackboxTest, messages

DATA = pathlib.Path(__file__).resolve().parents[1] / "data/cluster-config"


class ClusterConfig(BlackboxTest):
    def setUp(self):
        super().setUp()
        self.out = self.folder / "out"
        self.out.mkdir()

    def convert(self, file, *arguments, **how):
        return self.run_program("generate_conf", "--from-cluster-config", str(file), *arguments, **how)

    def test_needs_no_configuration_and_writes_partitions_json(self):
        for name in ("config.json", "partitions.json"):
            (self.folder / "bin" / name).unlink()
        result = self.convert(DATA / "cluster_config.json", "-o", str(self.out))
        self.assertEqual((result.status, result.out), (0, ""), result.err)
        self.assertEqual((self.out / "partitions.json").read_text(), (DATA / "partitions.json").read_text())
        self.assertEqual([path.name for path in self.out.iterdir()], ["partitions.json"])
        hints = result.err.splitlines()
        self.assertEqual(len(hints), 2, result.err)
        self.assertTrue(hints[0].startswith("hint: node pool a3u: create the instance template flexvm-a3u: "))
        self.assertFalse(self.log_file.exists())
        self.assertEqual(self.scontrol_runs(), [])

    def test_standard_output_gets_the_same_and_no_file_is_written(self):
        before = set(self.folder.rglob("*"))
        result = self.convert(DATA / "cluster_config.json", "--stdout")
        self.assertEqual((result.status, result.out), (0, (DATA / "partitions.json").read_text()))
        self.assertEqual(set(self.folder.rglob("*")), before)

    def test_an_existing_file_is_not_replaced(self):
        (self.out / "partitions.json").write_text("mine\n")
        result = self.convert(DATA / "cluster_config.json", "-o", str(self.out))
        self.assertEqual((result.status, result.out), (1, ""))
        self.assertRegex(result.err, r'\Agenerate_conf: writing ".*/partitions.json": it is there already;[^\n]*\n\Z')
        self.assertEqual((self.out / "partitions.json").read_text(), "mine\n")

    def test_placeholders_are_reported_all_at_once_and_nothing_is_written(self):
        result = self.convert(DATA / "placeholders.json", "-o", str(self.out))
        self.assertEqual((result.status, result.out), (2, ""))
        lines = result.err.splitlines()
        self.assertEqual(len(lines), 2, result.err)
        self.assertRegex(lines[0], r"^error: reading \".*/placeholders.json\": /name: .* in place of <project-id>")
        self.assertRegex(lines[1], r": /node_pools/1/zone: .* in place of <zone>")
        self.assertEqual(list(self.out.iterdir()), [])

    def test_what_is_no_json_or_not_there(self):
        for content, status, pattern in (("{", 2, "line 1, column 2: not JSON"), ("[]", 2, "expected an object"),
                                         (None, 1, "no such file")):
            path = self.folder / "cluster.json"
            path.unlink(missing_ok=True)
            if content is not None:
                path.write_text(content)
            result = self.convert(path, "--stdout")
            self.assertEqual((result.status, result.out), (status, ""), content)
            self.assertEqual(len(result.err.splitlines()), 1, result.err)
            self.assertRegex(result.err, pattern)

    def test_a_full_disk_under_standard_output_is_no_success(self):
        with open("/dev/full", "w") as full:
            result = self.convert(DATA / "cluster_config.json", "--stdout", stdout=full)
        self.assertEqual(result.status, 1, result.err)

    def test_check_and_conversion_exclude_each_other(self):
        self.assertEqual(self.convert(DATA / "cluster_config.json", "--check").status, 1)

    def run_conf(self, *arguments):
        result = self.run_program("generate_conf", "--stdout", *arguments)
        self.assertEqual(result.status, 0, result.err)
        return result

    def test_the_result_gives_a_partition_that_waits(self):
        self.write("partitions.json", self.convert(DATA / "cluster_config.json", "--stdout").out)
        result = self.run_conf("--slurm-version", "25.11")
        self.assertEqual(messages(result.err), [])
        self.assertRegex(result.out, r"(?m)^NodeName=a3u-a3u-\[0-1\] State=CLOUD CPUs=224 RealMemory=\d+ Gres=gpu:h200:8$")
        self.assertRegex(result.out, r"(?m)^PartitionName=a3u Nodes=a3u-a3u-\[0-1\] MaxTime=INFINITE State=UP ResumeTimeout=65533$")
        self.assertRegex(result.out, r"(?m)^NodeName=a3u-a3u-\[0-1\] Name=gpu Type=h200 File=/dev/nvidia\[0-7\]$")
        self.assertNotIn("cloud_reg_addrs", result.out)
        self.assertNotIn("SuspendExcNodes", result.out)

    def test_static_nodes_are_excluded_and_old_slurm_learns_addresses(self):
        cluster = json.loads((DATA / "cluster_config.json").read_text())
        cluster["node_pools"][1]["scaling_spec"]["min_node_count"] = 1
        path = self.folder / "cluster.json"
        path.write_text(json.dumps(cluster))
        self.write("partitions.json", self.convert(path, "--stdout").out)
        (self.folder / "slurm/version").write_text("22.05.8\n")
        result = self.run_conf()
        self.assertRegex(result.out, r"(?m)^SuspendExcNodes=a3u-a3u-0$")
        self.assertRegex(result.out, r"(?m)^SlurmctldParameters=cloud_reg_addrs$")
        (self.folder / "slurm/version").write_text("23.11.4\n")
        self.assertNotIn("cloud_reg_addrs", self.run_conf().out)

    def test_a_partition_of_aws_asks_no_slurm_and_gets_nothing_new(self):
        result = self.run_conf()
        self.assertNotIn("SlurmctldParameters", result.out)
        self.assertEqual(self.scontrol_runs(), [])

    def test_names_that_machines_cannot_have_are_refused(self):
        partitions = json.loads((DATA / "partitions.json").read_text())
        partitions["Partitions"][0]["NodeGroups"][0]["NodeGroupName"] = "A3u"
        self.write("partitions.json", json.dumps(partitions))
        result = self.run_program("generate_conf", "--stdout")
        self.one_complaint(result, "/Partitions/0/NodeGroups/0/NodeGroupName: machines of gce are called as their nodes", 2)


if __name__ == "__main__":
    unittest.main()
