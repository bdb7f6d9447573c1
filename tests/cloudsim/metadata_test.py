# SPDX-License-Identifier: Apache-2.0
"""The metadata service, asked as botocore asks it and by hand."""
import datetime
import json

import botocore.utils

from simulator import CloudsimTest, http

TOKEN = "X-aws-ec2-metadata-token"
TTL = "X-aws-ec2-metadata-token-ttl-seconds"


class Metadata(CloudsimTest):
    def setUp(self):
        super().setUp()
        self.one, = self.fleet_ids(1, TagSpecifications=[{"ResourceType": "instance",
                                                          "Tags": [{"Key": "cluster", "Value": "c1"}]}])

    def token(self, machine, ttl="60"):
        status, token = http("PUT", "%s/imds/%s/latest/api/token" % (self.sim.url, machine), b"", {TTL: ttl})
        self.assertEqual(status, 200)
        return token

    def get(self, machine, item, token=None):
        return http("GET", "%s/imds/%s/latest/%s" % (self.sim.url, machine, item),
                    headers={TOKEN: token or self.token(machine)})

    def item(self, machine, item):
        status, text = self.get(machine, "meta-data/" + item)
        return text if status == 200 else status

    def test_items(self):
        self.assertEqual(self.item(self.one, "instance-id"), self.one)
        self.assertEqual(self.item(self.one, "placement/region"), "us-east-1")
        self.assertEqual(self.item(self.one, "placement/availability-zone"), "us-east-1a")
        self.assertEqual(self.item(self.one, "local-ipv4"), "127.10.0.1")
        self.assertEqual(self.item(self.one, "local-hostname"), "ip-127-10-0-1.ec2.internal")
        self.assertEqual(self.item(self.one, "nothing"), 404)
        self.assertEqual(self.item("head", "placement/region"), "us-east-1")
        status, document = self.get(self.one, "dynamic/instance-identity/document")
        self.assertEqual(json.loads(document)["instanceId"], self.one)

    def test_tags_follow_what_is_set(self):
        self.assertEqual(self.item(self.one, "tags/instance/Name"), 404)
        self.ec2.create_tags(Resources=[self.one], Tags=[{"Key": "Name", "Value": "node-1"}])
        self.assertEqual(self.item(self.one, "tags/instance/Name"), "node-1")
        self.assertEqual(self.item(self.one, "tags/instance").split(), ["Name", "cluster"])
        self.assertEqual(self.item("head", "tags/instance"), 404)

    def test_tags_can_be_off(self):
        self.sim.control("POST", "/knobs", ec2={"instance_metadata_tags": False})
        other, = self.fleet_ids(1)
        self.ec2.create_tags(Resources=[other], Tags=[{"Key": "Name", "Value": "node-2"}])
        self.assertEqual(self.item(other, "tags/instance/Name"), 404)
        self.assertEqual(self.item(other, "tags/instance"), 404)

    def test_a_token_is_asked_for_and_is_good_for_one_machine(self):
        url = "%s/imds/%s/latest/meta-data/instance-id" % (self.sim.url, self.one)
        self.assertEqual(http("GET", url)[0], 401)
        self.assertEqual(http("GET", url, headers={TOKEN: "guess"})[0], 401)
        self.assertEqual(http("GET", url, headers={TOKEN: self.token("head")})[0], 401)
        self.assertEqual(http("GET", url, headers={TOKEN: self.token(self.one)})[0], 200)
        for ttl in ({}, {TTL: "0"}, {TTL: "21601"}, {TTL: "x"}):
            self.assertEqual(http("PUT", self.sim.url + "/imds/head/latest/api/token", b"", ttl)[0], 400)

    def test_a_machine_that_is_gone_has_none(self):
        token = self.token(self.one)
        self.sim.control("POST", "/knobs", terminate_ms=0)
        self.ec2.terminate_instances(InstanceIds=[self.one])
        self.sim.control("GET", "/instances")
        self.assertEqual(self.get(self.one, "meta-data/instance-id", token)[0], 404)
        self.assertEqual(http("PUT", self.sim.url + "/imds/i-12345678/latest/api/token", b"", {TTL: "60"})[0], 404)

    def fetched(self):
        fetcher = botocore.utils.InstanceMetadataFetcher(
            timeout=5, num_attempts=1, base_url=self.sim.url + "/imds/head/", env={}, user_agent="test")
        got = fetcher.retrieve_iam_role_credentials()
        self.assertEqual(got["role_name"], "cloudsim-role")
        return {"aws_access_key_id": got["access_key"], "aws_secret_access_key": got["secret_key"],
                "aws_session_token": got["token"]}, got["expiry_time"]

    def test_botocore_finds_credentials_that_work_until_they_expire(self):
        key, expiry = self.fetched()
        expires = datetime.datetime.strptime(expiry, "%Y-%m-%dT%H:%M:%SZ")
        self.assertTrue(3590 < (expires - datetime.datetime.utcnow()).total_seconds() <= 3600)
        self.assertEqual(len(self.sim.client(key=key).describe_instances()["Reservations"]), 1)
        self.assertIn("assumed-role/cloudsim-role/", self.sim.client("sts", key=key).get_caller_identity()["Arn"])
        self.sim.control("POST", "/credentials/expire")
        self.refused("RequestExpired", self.sim.client(key=key).describe_instances)
        self.assertEqual(len(self.sim.client(key=self.fetched()[0]).describe_instances()["Reservations"]), 1)

    def test_container_credentials(self):
        fetcher = botocore.utils.ContainerMetadataFetcher()
        got = fetcher.retrieve_full_uri(self.sim.url + "/container-credentials")
        key = {"aws_access_key_id": got["AccessKeyId"], "aws_secret_access_key": got["SecretAccessKey"],
               "aws_session_token": got["Token"]}
        self.assertEqual(len(self.sim.client(key=key).describe_instances()["Reservations"]), 1)
        self.sim.control("POST", "/knobs", ec2={"container_authorization": "let-me-in"})
        url = self.sim.url + "/container-credentials"
        self.assertEqual(http("GET", url)[0], 401)
        self.assertEqual(http("GET", url, headers={"Authorization": "let-me-in"})[0], 200)

    def test_faults_and_counts(self):
        self.sim.fault("Metadata", "error", status=500)
        status, _ = http("PUT", self.sim.url + "/imds/head/latest/api/token", b"", {TTL: "60"})
        self.assertEqual(status, 500)
        self.item("head", "instance-id")
        self.assertEqual((self.sim.calls("Metadata")["attempts"], self.sim.calls("Metadata")["ok"]), (3, 2))
