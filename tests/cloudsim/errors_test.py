# SPDX-License-Identifier: Apache-2.0
"""What is refused: bad signatures, unknown names, too many requests."""
import datetime
import unittest.mock

import botocore.auth
import botocore.awsrequest
import botocore.credentials

from simulator import KEY, CloudsimTest, http


class Authentication(CloudsimTest):
    def test_a_wrong_secret(self):
        key = dict(KEY, aws_secret_access_key="wrong")
        status, message = self.refused("SignatureDoesNotMatch", self.sim.client(key=key).describe_instances)
        self.assertEqual(status, 403)
        self.assertIn("content-type;host;x-amz-date", message)
        self.assertNotIn(KEY["aws_secret_access_key"], message)

    def test_an_unknown_key(self):
        key = dict(KEY, aws_access_key_id="AKIAUNKNOWN")
        self.assertEqual(self.refused("AuthFailure", self.sim.client(key=key).describe_instances)[0], 401)
        self.refused("InvalidClientTokenId", self.sim.client("sts", key=key).get_caller_identity)

    def test_no_signature(self):
        status, text = http("POST", self.sim.url + "/", b"Action=DescribeInstances&Version=2016-11-15")
        self.assertEqual(status, 403)
        self.assertIn("<Code>MissingAuthenticationToken</Code>", text)
        self.assertRegex(text, r"<RequestID>[0-9a-f-]{36}</RequestID>")

    def signed(self, body, minutes=0, service="ec2"):
        request = botocore.awsrequest.AWSRequest("POST", self.sim.url + "/", data=body, headers={
            "Content-Type": "application/x-www-form-urlencoded"})
        now = datetime.datetime.utcnow() + datetime.timedelta(minutes=minutes)
        with unittest.mock.patch("botocore.auth.datetime") as clock:
            clock.datetime.utcnow.return_value = now
            credentials = botocore.credentials.Credentials(*KEY.values())
            botocore.auth.SigV4Auth(credentials, service, "us-east-1").add_auth(request)
        return request

    def post(self, request, body=None):
        return http("POST", self.sim.url + "/", (body or request.data).encode(), dict(request.headers.items()))

    def test_a_body_that_was_changed(self):
        request = self.signed("Action=DescribeInstances&Version=2016-11-15")
        self.assertEqual(self.post(request)[0], 200)
        status, text = self.post(request, "Action=DescribeSubnets&Version=2016-11-15")
        self.assertEqual(status, 403)
        self.assertIn("SignatureDoesNotMatch", text)

    def test_a_clock_that_is_off(self):
        body = "Action=DescribeInstances&Version=2016-11-15"
        self.assertEqual(self.post(self.signed(body, minutes=4))[0], 200)
        self.assertEqual(self.post(self.signed(body, minutes=-4))[0], 200)
        for minutes in (-6, 6):
            status, text = self.post(self.signed(body, minutes=minutes))
            self.assertEqual(status, 400)
            self.assertIn("RequestExpired", text)

    def test_a_signature_for_another_service(self):
        body = "Action=DescribeInstances&Version=2016-11-15"
        self.assertIn("SignatureDoesNotMatch", self.post(self.signed(body, service="s3"))[1])
        self.assertIn("InvalidAction", self.post(self.signed(body, service="sts"))[1])

    def test_names_that_nobody_knows(self):
        status, text = self.post(self.signed("Action=DescribeInstance&Version=2016-11-15"))
        self.assertEqual(status, 400)
        self.assertIn("<Code>InvalidAction</Code>", text)
        for name in ("InstanceIds.1=i-1", "InstanceId=i-1", "Filter.1.Values.1=x", "Filters.1.Name=x"):
            status, text = self.post(self.signed("Action=DescribeInstances&Version=2016-11-15&" + name))
            self.assertEqual(status, 400)
            self.assertIn("<Code>UnknownParameter</Code>", text)
            self.assertIn(name.split("=")[0], text)
        self.assertIn("UnknownParameter", self.post(self.signed(
            "Action=CreateFleet&Version=2016-11-15&LaunchTemplateConfigs.1.Override.1.SubnetId=x"))[1])


class Limits(CloudsimTest):
    def attempts(self, call, count):
        """How many of so many calls were let through."""
        passed = 0
        for _ in range(count):
            try:
                call()
                passed += 1
            except self.ec2.exceptions.ClientError as error:
                self.assertEqual(error.response["Error"]["Code"], "RequestLimitExceeded")
                self.assertEqual(error.response["ResponseMetadata"]["HTTPStatusCode"], 503)
        return passed

    def test_a_bucket_that_is_empty_refuses(self):
        self.sim.control("POST", "/knobs", buckets={"CreateTags": {"capacity": 3, "refill": 0.001}})
        one, = self.fleet_ids(1)
        passed = self.attempts(lambda: self.ec2.create_tags(Resources=[one], Tags=[{"Key": "a", "Value": "b"}]), 6)
        self.assertEqual(passed, 3)
        self.assertEqual(self.sim.calls("CreateTags")["errors"], {"RequestLimitExceeded": 3})
        self.ec2.describe_instances()  # another bucket
        self.sim.control("POST", "/reset")

    def test_a_client_that_retries_gets_through(self):
        self.sim.control("POST", "/knobs", buckets={"CreateTags": {"capacity": 1, "refill": 20}})
        one, = self.fleet_ids(1)
        patient = self.sim.client(attempts=6)
        for n in range(4):
            patient.create_tags(Resources=[one], Tags=[{"Key": "a", "Value": str(n)}])
        self.assertEqual(self.sim.instances()[0]["tags"]["a"], "3")

    def test_terminations_draw_on_a_bucket_of_instances(self):
        self.sim.control("POST", "/knobs", buckets={"TerminateInstances/instances": {"capacity": 5, "refill": 0.001}})
        ids = self.fleet_ids(6)
        self.refused("RequestLimitExceeded", self.ec2.terminate_instances, InstanceIds=ids)
        self.ec2.terminate_instances(InstanceIds=ids[:5])

    def test_unfiltered_describes_have_a_smaller_bucket(self):
        self.sim.control("POST", "/knobs", buckets={"DescribeInstances/unfiltered": {"capacity": 1, "refill": 0.001}})
        self.ec2.describe_instances()
        self.refused("RequestLimitExceeded", self.ec2.describe_instances)
        self.ec2.describe_instances(MaxResults=5)

    def test_they_can_be_switched_off(self):
        self.sim.control("POST", "/knobs", throttling=False)
        self.assertEqual(self.attempts(self.ec2.describe_instances, 120), 120)


class Control(CloudsimTest):
    def test_refuses_what_it_does_not_know(self):
        for path, body in (("/knobs", b'{"latency": 1}'), ("/knobs", b'{"ec2": {"bootms": 1}}'),
                           ("/faults", b'{"action": "CreateTags", "kind": "explode"}'),
                           ("/faults", b'{"acton": "CreateTags"}'), ("/knobs", b'{'), ("/knobs", b'{"boot_ms": "x"}')):
            self.assertEqual(http("POST", self.sim.url + "/_control" + path, body)[0], 400, body)
        self.assertEqual(http("GET", self.sim.url + "/_control/nothing")[0], 404)
        self.assertEqual(http("GET", self.sim.url + "/nothing")[0], 404)

    def test_foreign_instances(self):
        self.sim.control("POST", "/instances", tags={"Name": "node-1"}, age_seconds=600)
        self.sim.control("POST", "/instances")
        first, second = self.described()
        self.assertEqual(first["Tags"], [{"Key": "Name", "Value": "node-1"}])
        self.assertTrue(not second.get("Tags"))
        self.assertGreater((second["LaunchTime"] - first["LaunchTime"]).total_seconds(), 590)

    def test_logs_calls_in_order(self):
        one, = self.fleet_ids(1)
        self.ec2.create_tags(Resources=[one], Tags=[{"Key": "Name", "Value": "n"}])
        self.refused("InvalidInstanceID.NotFound", self.ec2.terminate_instances, InstanceIds=["i-12345678"])
        log = self.sim.control("GET", "/calls/log")
        self.assertEqual([(c["action"], c["code"]) for c in log], [
            ("CreateFleet", ""), ("CreateTags", ""), ("TerminateInstances", "InvalidInstanceID.NotFound")])
        self.assertEqual(log[1]["parameters"]["ResourceId.1"], one)
        self.assertLessEqual(log[0]["time"], log[1]["time"])
        self.assertEqual(self.sim.calls("CreateTags")["ok"], 1)
        self.sim.control("DELETE", "/calls")
        self.assertEqual(self.sim.control("GET", "/calls/log"), [])

    def test_reset_empties_everything(self):
        self.fleet(2)
        self.sim.fault("*", "throttle", count=-1)
        self.sim.control("POST", "/knobs", boot_ms=5000)
        self.sim.control("POST", "/reset")
        self.assertEqual(self.sim.instances(), [])
        self.assertEqual(self.sim.control("GET", "/faults"), [])
        self.assertEqual(self.described(), [])
        self.assertEqual(len(self.fleet_ids(1)), 1)
