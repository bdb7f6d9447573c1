# SPDX-License-Identifier: Apache-2.0
"""Each fault, as botocore meets it: what the client sees, and whether the call had its effect."""
import time

import botocore.exceptions
import botocore.parsers

from simulator import CloudsimTest, ids_of


class Faults(CloudsimTest):
    def setUp(self):
        super().setUp()
        self.one, = self.fleet_ids(1)

    def tag(self, value, ec2=None):
        (ec2 or self.ec2).create_tags(Resources=[self.one], Tags=[{"Key": "Name", "Value": value}])

    def name(self):
        return self.sim.instances()[0]["tags"].get("Name")

    def test_throttle_strikes_so_many_times(self):
        self.sim.fault("CreateTags", "throttle", count=2)
        for _ in range(2):
            status, _ = self.refused("RequestLimitExceeded", lambda: self.tag("x"))
            self.assertEqual(status, 503)
        self.assertIsNone(self.name())
        self.tag("x")
        self.assertEqual(self.name(), "x")
        self.assertEqual(self.sim.calls("CreateTags"),
                         {"attempts": 3, "ok": 1, "errors": {"RequestLimitExceeded": 2}, "peak_concurrency": 1})

    def test_error_has_the_code_that_was_asked_for(self):
        self.sim.fault("CreateTags", "error", code="UnauthorizedOperation", message="no <way>", status=403)
        self.assertEqual(self.refused("UnauthorizedOperation", lambda: self.tag("x")), (403, "no <way>"))
        self.sim.fault("*", "error", code="InternalError", status=500)
        self.assertEqual(self.refused("InternalError", self.ec2.describe_instances)[0], 500)

    def test_match_and_skip_choose_the_calls(self):
        self.sim.fault("CreateTags", "error", code="InternalError", status=500, match={"Tag.1.Value": "b"}, skip=1)
        self.tag("b")
        self.tag("a")
        self.refused("InternalError", lambda: self.tag("b"))
        self.tag("b")

    def test_probability(self):
        self.sim.control("POST", "/knobs", throttling=False)
        self.sim.fault("DescribeInstances", "throttle", count=-1, probability=0.5)
        for _ in range(100):
            try:
                self.ec2.describe_instances()
            except self.ec2.exceptions.ClientError:
                pass
        self.assertTrue(25 < self.sim.calls("DescribeInstances")["ok"] < 75)

    def test_drop_before_has_no_effect(self):
        self.sim.fault("CreateTags", "drop_before")
        with self.assertRaises(botocore.exceptions.ConnectionClosedError):
            self.tag("x")
        self.assertIsNone(self.name())

    def test_drop_after_has_an_effect(self):
        self.sim.fault("CreateTags", "drop_after")
        with self.assertRaises(botocore.exceptions.ConnectionClosedError):
            self.tag("x")
        self.assertEqual(self.name(), "x")
        self.assertEqual(self.sim.calls("CreateTags")["errors"], {"drop_after": 1})

    def test_a_retry_with_the_same_token_after_a_drop_launches_once(self):
        self.sim.fault("CreateFleet", "drop_after")
        reply = self.fleet(2, ec2=self.sim.client(attempts=3), ClientToken="again")
        self.assertEqual(len(ids_of(reply)), 2)
        self.assertEqual(len(self.sim.instances()), 1 + 2)
        self.assertEqual(self.sim.calls("CreateFleet")["attempts"], 1 + 2)

    def test_cut(self):
        self.sim.fault("CreateTags", "cut")
        with self.assertRaises((botocore.exceptions.HTTPClientError, botocore.parsers.ResponseParserError)):
            self.tag("x")
        self.assertEqual(self.name(), "x")

    def test_garbage_and_wrong_content_type(self):
        self.sim.fault("CreateTags", "garbage")
        with self.assertRaises(botocore.parsers.ResponseParserError):
            self.tag("x")
        self.assertEqual(self.name(), "x")
        self.sim.fault("DescribeInstances", "wrong_content_type")
        reply = self.ec2.describe_instances()
        self.assertEqual(reply["ResponseMetadata"]["HTTPHeaders"]["content-type"], "text/html")

    def test_slow_and_dribble(self):
        for kind in ("slow", "dribble"):
            self.sim.fault("DescribeInstances", kind, ms=1500)
            before = time.monotonic()
            self.ec2.describe_instances()
            self.assertGreater(time.monotonic() - before, 1.3)
            before = time.monotonic()
            self.ec2.describe_instances()
            self.assertLess(time.monotonic() - before, 1.2)

    def test_a_client_gives_up_on_a_slow_reply(self):
        self.sim.fault("CreateTags", "slow", ms=5000)
        with self.assertRaises(botocore.exceptions.ReadTimeoutError):
            self.tag("x", self.sim.client(read_timeout=0.2))
        self.assertEqual(self.name(), "x")

    def test_a_throttle_inside_a_fleet_of_200(self):
        self.sim.fault("CreateFleet", "fleet_error", code="RequestLimitExceeded", message="Request limit exceeded.",
                       delivered=1)
        reply = self.fleet(3)
        self.assertEqual(len(ids_of(reply)), 1)
        error, = reply["Errors"]
        self.assertEqual((error["ErrorCode"], error["Lifecycle"]), ("RequestLimitExceeded", "on-demand"))
        self.assertEqual(len(self.sim.instances()), 2)

    def test_missing_fields(self):
        for field, member in (("privateIpAddress", "PrivateIpAddress"), ("privateDnsName", "PrivateDnsName")):
            self.sim.fault("DescribeInstances", "missing_field", field=field)
            self.assertNotIn(member, self.described()[0])
            self.assertIn(member, self.described()[0])

    def test_a_spot_interruption(self):
        self.sim.control("POST", "/instances/" + self.one, action="interrupt")
        instance, = self.described()
        self.assertEqual(instance["StateReason"]["Code"], "Server.SpotInstanceTermination")
        self.assertIn(instance["State"]["Name"], ("shutting-down", "terminated"))

    def test_faults_can_be_taken_back(self):
        self.sim.fault("*", "throttle", count=-1)
        self.assertEqual(self.sim.control("GET", "/faults")[0]["kind"], "throttle")
        self.sim.control("DELETE", "/faults")
        self.tag("x")
