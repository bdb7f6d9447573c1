# SPDX-License-Identifier: Apache-2.0
"""resume and suspend of standard machines on Compute Engine: what is asked for, and what is made of every reply."""
import unittest

from blackbox import names
from gce_blackbox import GceBlackboxTest, gce_group

BULK = "Instances.bulkInsert"
NODES = names("gce-n2-[0-3]")


class Standard(GceBlackboxTest):
    def test_one_bulk_insert_one_update_and_the_labels_in_the_request(self):
        self.gce(gce_group(Labels={"owner": "hpc"}), MachineTags={"project": "blackbox"})
        self.resumed("gce-n2-[0-3]")
        self.assertEqual(self.names_alive(), NODES)
        self.assertEqual(len(self.calls_of(BULK)), 1)
        for machine in self.cloud.machines():
            self.assertEqual({key: value for key, value in machine["labels"].items() if key != "burst-launch"},
                             {"burst-cluster": "blackbox", "burst-partition": "gce", "burst-group": "n2", "owner": "hpc",
                              "project": "blackbox"})
            self.assertEqual(self.addresses()[machine["name"]], (machine["address"], machine["name"]))
        self.assertEqual(len(self.updates()), 1)
        self.suspended("gce-n2-[0-3]")
        self.assertEqual(self.names_alive(), [])

    def test_a_thousand_and_one_nodes_need_no_more_launches_than_one_and_all_end(self):
        hostlist = "gce-n2-[0-1000]"
        self.gce(gce_group(nodes=1001))
        self.resumed(hostlist)
        self.assertEqual(self.names_alive(), sorted(names(hostlist)))
        self.assertEqual(len(self.calls_of(BULK)), 1)
        self.assertEqual(sorted(self.addresses()), sorted(names(hostlist)))
        self.resumed(hostlist)  # more than a page is found again: nothing is started twice
        self.assertEqual(len(self.calls_of(BULK)), 1)
        self.assertEqual(len(self.cloud.machines()), 1001)
        self.suspended(hostlist)
        self.assertEqual(self.names_alive(), [])

    def test_a_node_is_not_taken_for_one_whose_name_begins_alike(self):
        self.gce(gce_group(nodes=20))
        self.resumed("gce-n2-[1,10-11]")
        self.suspended("gce-n2-1")
        self.assertEqual(self.names_alive(), ["gce-n2-10", "gce-n2-11"])

    def test_several_zones_are_one_regional_call(self):
        self.gce(gce_group(Zones=["us-central1-a", "us-central1-b"]))
        self.resumed("gce-n2-[0-3]")
        self.assertEqual(self.names_alive(), NODES)
        self.assertEqual(len(self.calls_of("Regioninstances.bulkInsert")), 1)
        self.assertEqual(self.calls_of(BULK), [])

    def test_what_comes_short_is_told_node_by_node_with_googles_code(self):
        self.cloud.capacity(2)
        result = self.resume("gce-n2-[0-3]")
        self.assertEqual(result.status, 1)
        self.assertEqual(len(self.names_alive()), 2)
        refused = self.refusals()
        self.assertEqual(sorted([*refused, *self.names_alive()]), NODES)
        for reason in refused.values():
            self.assertRegex(reason, "^burst:ZONE_RESOURCE_POOL_EXHAUSTED ")
        self.assertEqual(sorted(self.addresses()), self.names_alive())

    def test_all_or_nothing_keeps_nothing_of_a_launch_that_comes_short(self):
        self.gce(gce_group(LaunchStrategy="all-or-nothing"))
        self.cloud.capacity(3)
        self.assertEqual(self.resume("gce-n2-[0-3]").status, 1)
        self.assertEqual(self.names_alive(), [])
        self.assertEqual(sorted(self.refusals()), NODES)

    def test_a_quota_is_told_with_its_code(self):
        self.cloud.set(gce={"quota": {"vms": 0}})
        self.assertEqual(self.resume("gce-n2-[0-1]").status, 1)
        for reason in self.refusals().values():
            self.assertRegex(reason, "^burst:QUOTA_EXCEEDED ")
        self.assertEqual(sorted(self.refusals()), NODES[:2])

    def test_a_reply_lost_after_its_effect_starts_no_second_machine(self):
        for kind in ("drop_after", "cut", "garbage"):
            with self.subTest(kind):
                self.cloud.control("reset", {})
                self.cloud.fault(BULK, kind)
                self.resumed("gce-n2-[0-3]")
                self.assertEqual(self.names_alive(), NODES)
                self.assertEqual(len(self.cloud.machines()), 4)

    def test_a_name_that_somebody_else_has_taken_is_refused_and_left_alone(self):
        self.cloud.control("gce/instances", {"name": "gce-n2-1", "zone": "us-central1-a", "labels": {"burst-cluster": "x"}})
        self.assertEqual(self.resume("gce-n2-[0-3]").status, 1)
        self.assertEqual(sorted(self.refusals()), ["gce-n2-1"])
        self.assertEqual(self.names_alive(), NODES)
        self.assertNotIn("gce-n2-1", self.addresses())
        self.suspended("gce-n2-[0-3]")
        self.assertEqual(self.names_alive(), ["gce-n2-1"])

    def test_a_token_that_is_refused_is_renewed_once(self):
        self.cloud.fault("Instances.aggregatedList", "error", code="authError", status=401)
        self.resumed("gce-n2-0")
        self.assertEqual(self.names_alive(), ["gce-n2-0"])

    def test_wrong_credentials_are_one_line_and_start_nothing(self):
        self.variables(GCE_METADATA_HOST=None, GOOGLE_APPLICATION_CREDENTIALS="/nowhere/key.json")
        result = self.resume("gce-n2-[0-3]")
        self.assertEqual(result.status, 1)
        self.assertIn("/nowhere/key.json", result.err)
        self.nothing_started()
        self.assertEqual(sorted(self.refusals()), NODES)


if __name__ == "__main__":
    unittest.main()
