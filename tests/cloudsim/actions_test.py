# SPDX-License-Identifier: Apache-2.0
"""Every action, as botocore and the aws command see it."""
import datetime
import json
import os
import subprocess
import unittest

from simulator import KEY, CloudsimTest, ids_of, tags_of, wait_until

TWO_ZONES = [{"InstanceType": "c5.large", "SubnetId": "subnet-11111111"},
             {"InstanceType": "c5.large", "SubnetId": "subnet-22222222"}]


class CreateFleet(CloudsimTest):
    def test_delivers_instances_with_their_tags(self):
        reply = self.fleet(3, TagSpecifications=[{"ResourceType": "instance",
                                                  "Tags": [{"Key": "cluster", "Value": "a<&\"b"}]}])
        self.assertTrue(reply["FleetId"].startswith("fleet-"))
        self.assertEqual(reply["Errors"], [])
        item, = reply["Instances"]
        self.assertEqual(item["InstanceType"], "c5.large")
        self.assertEqual(item["Lifecycle"], "on-demand")
        self.assertEqual(item["LaunchTemplateAndOverrides"], {
            "LaunchTemplateSpecification": {"LaunchTemplateId": "lt-0123456789abcdef0", "Version": "1"},
            "Overrides": {"InstanceType": "c5.large", "SubnetId": "subnet-11111111"}})
        found = self.described(InstanceIds=ids_of(reply))
        self.assertEqual(sorted(i["InstanceId"] for i in found), sorted(ids_of(reply)))
        for instance in found:
            self.assertEqual(tags_of(instance)["cluster"], "a<&\"b")
            self.assertEqual(tags_of(instance)["aws:ec2:fleet-id"], reply["FleetId"])
        self.assertEqual(sorted(i["PrivateIpAddress"] for i in found), ["127.10.0.1", "127.10.0.2", "127.10.0.3"])
        self.assertIn("ip-127-10-0-2.ec2.internal", [i["PrivateDnsName"] for i in found])

    def test_a_pool_without_capacity_is_an_error_beside_the_instances_of_another(self):
        self.sim.control("POST", "/capacity", type="c5.large", where="us-east-1a", available=1)
        reply = self.fleet(3, TWO_ZONES)
        self.assertEqual([len(item["InstanceIds"]) for item in reply["Instances"]], [1, 2])
        error, = reply["Errors"]
        self.assertEqual(error["ErrorCode"], "InsufficientInstanceCapacity")
        self.assertEqual(error["LaunchTemplateAndOverrides"]["Overrides"]["SubnetId"], "subnet-11111111")
        self.assertEqual(error["Lifecycle"], "on-demand")

    def test_capacity_comes_back_when_an_instance_ends(self):
        self.sim.control("POST", "/capacity", available=1)
        first, = self.fleet_ids(1)
        self.assertEqual(self.fleet_ids(1), [])
        self.ec2.terminate_instances(InstanceIds=[first])
        self.assertEqual(len(self.fleet_ids(1)), 1)

    def test_a_minimum_that_cannot_be_met_launches_nothing(self):
        self.sim.control("POST", "/capacity", where="us-east-1a", available=2)
        self.sim.control("POST", "/capacity", where="us-east-1b", available=3)
        options = {"AllocationStrategy": "lowest-price", "SingleAvailabilityZone": True, "MinTargetCapacity": 4}
        reply = self.fleet(4, TWO_ZONES, OnDemandOptions=options)
        self.assertEqual(ids_of(reply), [])
        self.assertEqual({e["ErrorCode"] for e in reply["Errors"]}, {"InsufficientInstanceCapacity"})
        self.assertEqual(self.sim.instances(), [])
        options["MinTargetCapacity"] = 3
        reply = self.fleet(4, TWO_ZONES, OnDemandOptions=options)
        self.assertEqual(len(ids_of(reply)), 3)
        self.assertEqual({i["zone"] for i in self.sim.instances()}, {"us-east-1b"})

    def test_a_minimum_needs_a_single_type_or_zone(self):
        self.refused("InvalidParameterCombination", lambda: self.fleet(4, OnDemandOptions={"MinTargetCapacity": 4}))

    def test_the_same_client_token_gives_the_same_fleet(self):
        first = self.fleet(2, ClientToken="token-1")
        again = self.fleet(2, ClientToken="token-1")
        self.assertEqual(again["FleetId"], first["FleetId"])
        self.assertEqual(ids_of(again), ids_of(first))
        self.assertEqual(len(self.sim.instances()), 2)
        self.assertEqual(self.sim.instances()[0]["client_token"], "token-1")
        self.refused("IdempotentParameterMismatch", lambda: self.fleet(3, ClientToken="token-1"))
        self.assertNotEqual(ids_of(self.fleet(2, ClientToken="TOKEN-1")), ids_of(first))
        self.refused("InvalidParameterValue", lambda: self.fleet(1, ClientToken="x" * 65))

    def test_two_pools_of_one_type_and_zone_are_refused(self):
        self.refused("InvalidFleetConfig", lambda: self.fleet(1, [TWO_ZONES[0], TWO_ZONES[0]]))

    def test_what_does_not_exist_is_an_error_in_the_reply(self):
        reply = self.fleet(1, [{"InstanceType": "c5.large", "SubnetId": "subnet-99999999"}])
        self.assertEqual([e["ErrorCode"] for e in reply["Errors"]], ["InvalidSubnetID.NotFound"])
        reply = self.fleet(1, LaunchTemplateConfigs=[{"LaunchTemplateSpecification": {
            "LaunchTemplateName": "unknown", "Version": "$Latest"}}])
        self.assertEqual([e["ErrorCode"] for e in reply["Errors"]], ["InvalidLaunchTemplateName.NotFoundException"])
        self.assertEqual(self.sim.instances(), [])

    def test_spot_is_launched_as_spot_and_shares_diversified_pools(self):
        reply = self.fleet(4, TWO_ZONES,
                           TargetCapacitySpecification={"TotalTargetCapacity": 4, "DefaultTargetCapacityType": "spot"},
                           SpotOptions={"AllocationStrategy": "diversified", "InstanceInterruptionBehavior": "terminate"})
        self.assertEqual([(i["Lifecycle"], len(i["InstanceIds"])) for i in reply["Instances"]], [("spot", 2)] * 2)
        self.assertEqual({i["InstanceLifecycle"] for i in self.described()}, {"spot"})

    def test_on_demand_and_spot_side_by_side(self):
        reply = self.fleet(5, TargetCapacitySpecification={"TotalTargetCapacity": 5, "OnDemandTargetCapacity": 2,
                                                           "DefaultTargetCapacityType": "spot"})
        self.assertEqual([(i["Lifecycle"], len(i["InstanceIds"])) for i in reply["Instances"]],
                         [("on-demand", 2), ("spot", 3)])

    def test_weights_count_and_priorities_order(self):
        reply = self.fleet(5, [{"InstanceType": "c5.large", "WeightedCapacity": 1, "Priority": 2},
                               {"InstanceType": "c5.2xlarge", "WeightedCapacity": 4, "Priority": 1}],
                           OnDemandOptions={"AllocationStrategy": "prioritized"})
        self.assertEqual([(i["InstanceType"], len(i["InstanceIds"])) for i in reply["Instances"]], [("c5.2xlarge", 2)])

    def test_quotas(self):
        self.sim.control("POST", "/knobs", ec2={"quota": {"vcpus": 4, "spot_instances": 1}})
        reply = self.fleet(3)
        self.assertEqual(len(ids_of(reply)), 2)
        self.assertEqual([e["ErrorCode"] for e in reply["Errors"]], ["VcpuLimitExceeded"])
        reply = self.fleet(2, TargetCapacitySpecification={"TotalTargetCapacity": 2,
                                                           "DefaultTargetCapacityType": "spot"})
        self.assertEqual(len(ids_of(reply)), 1)
        self.assertEqual([e["ErrorCode"] for e in reply["Errors"]], ["MaxSpotInstanceCountExceeded"])

    def test_a_fleet_may_deliver_more_or_silently_less(self):
        self.sim.control("POST", "/knobs", ec2={"fleet_extra": 2})
        self.assertEqual(len(self.fleet_ids(2)), 4)
        self.sim.control("POST", "/knobs", ec2={"fleet_extra": -1})
        reply = self.fleet(2)
        self.assertEqual((len(ids_of(reply)), reply["Errors"]), (1, []))

    def test_a_request_longer_than_a_page_is_read(self):
        overrides = [{"InstanceType": "c5.large", "SubnetId": "subnet-11111111"}]
        overrides += [{"InstanceType": "m%d.large" % n, "SubnetId": "subnet-11111111"} for n in range(400)]
        self.assertEqual(len(self.fleet_ids(2, overrides=overrides)), 2)

    def test_dry_run_launches_nothing(self):
        self.refused("DryRunOperation", lambda: self.fleet(1, DryRun=True))
        self.assertEqual(self.sim.instances(), [])

    def test_tags_that_metadata_cannot_show_are_an_error(self):
        reply = self.fleet(1, TagSpecifications=[{"ResourceType": "instance", "Tags": [{"Key": "a/b", "Value": ""}]}])
        self.assertEqual([e["ErrorCode"] for e in reply["Errors"]], ["InvalidParameterValue"])


class RunInstances(CloudsimTest):
    def run_some(self, least, most, **more):
        return self.ec2.run_instances(MinCount=least, MaxCount=most,
                                      LaunchTemplate={"LaunchTemplateId": "lt-0123456789abcdef0"}, **more)

    def test_launches_what_it_is_asked_for(self):
        reply = self.run_some(2, 2, InstanceType="c5.large", SubnetId="subnet-22222222", ClientToken="t",
                              TagSpecifications=[{"ResourceType": "instance", "Tags": [{"Key": "k", "Value": "v"}]}])
        self.assertEqual([i["State"]["Name"] for i in reply["Instances"]], ["pending"] * 2)
        self.assertEqual({(i["type"], i["zone"], i["tags"]["k"]) for i in self.sim.instances()},
                         {("c5.large", "us-east-1b", "v")})
        again = self.run_some(2, 2, InstanceType="c5.large", SubnetId="subnet-22222222", ClientToken="t",
                              TagSpecifications=[{"ResourceType": "instance", "Tags": [{"Key": "k", "Value": "v"}]}])
        self.assertEqual(again["ReservationId"], reply["ReservationId"])
        self.assertEqual(len(self.sim.instances()), 2)

    def test_gives_fewer_down_to_the_minimum_and_below_it_nothing(self):
        self.sim.control("POST", "/capacity", available=3)
        status, _ = self.refused("InsufficientInstanceCapacity", lambda: self.run_some(4, 5))
        self.assertEqual((status, self.sim.instances()), (500, []))
        self.assertEqual(len(self.run_some(2, 5)["Instances"]), 3)

    def test_limits_by_calls_and_by_instances(self):
        self.refused("RequestLimitExceeded", lambda: self.run_some(1, 1001))
        for _ in range(4):
            self.run_some(1, 1)
        with self.assertRaises(self.ec2.exceptions.ClientError):
            for _ in range(30):  # the bucket of five may have got a token or two back
                self.run_some(1, 1)


class Describe(CloudsimTest):
    def test_filters(self):
        first, second, third = self.fleet_ids(3)
        self.ec2.create_tags(Resources=[first], Tags=[{"Key": "Name", "Value": "node-1"}])
        self.ec2.create_tags(Resources=[second], Tags=[{"Key": "Name", "Value": "node-2"}])
        self.ec2.terminate_instances(InstanceIds=[third])

        def ids(*filters):
            found = self.described(Filters=[{"Name": name, "Values": values} for name, values in filters])
            return {i["InstanceId"] for i in found}
        self.assertEqual(ids(("tag:Name", ["node-1"])), {first})
        self.assertEqual(ids(("tag:Name", ["node-*"])), {first, second})
        self.assertEqual(ids(("tag:Name", ["node-?", "x"])), {first, second})
        self.assertEqual(ids(("tag:Name", ["NODE-1"])), set())
        self.assertEqual(ids(("tag-key", ["Name"])), {first, second})
        self.assertEqual(ids(("instance-state-name", ["running", "pending"])), {first, second})
        self.assertEqual(ids(("instance-id", [third])), {third})
        self.assertEqual(ids(("private-ip-address", ["127.10.0.2"])), {second})
        self.assertEqual(ids(("tag:Name", ["node-*"]), ("private-ip-address", ["127.10.0.1"])), {first})
        self.refused("InvalidParameterValue", self.ec2.describe_instances,
                     Filters=[{"Name": "colour", "Values": ["red"]}])
        self.refused("FilterLimitExceeded", self.ec2.describe_instances,
                     Filters=[{"Name": "tag:Name", "Values": ["node-%d" % n for n in range(201)]}])
        self.assertEqual(ids(("tag:Name", ["node-%d" % n for n in range(200)])), {first, second})

    def test_pages(self):
        ids = self.fleet_ids(25)
        pages = list(self.ec2.get_paginator("describe_instances").paginate(PaginationConfig={"PageSize": 10}))
        counts = [sum(len(r["Instances"]) for r in page["Reservations"]) for page in pages]
        self.assertEqual(counts, [10, 10, 5])
        self.assertEqual([i["InstanceId"] for page in pages for r in page["Reservations"] for i in r["Instances"]], ids)
        self.refused("InvalidParameterValue", self.ec2.describe_instances, MaxResults=4)
        self.refused("InvalidParameterValue", self.ec2.describe_instances, MaxResults=1001)
        self.refused("InvalidParameterCombination", self.ec2.describe_instances, MaxResults=5, InstanceIds=ids)
        self.refused("InvalidNextToken", self.ec2.describe_instances, MaxResults=5, NextToken="nonsense")

    def test_a_thousand_ids_at_once(self):
        ids = self.fleet_ids(1000)
        self.assertEqual(len(self.described(InstanceIds=ids)), 1000)
        self.refused("InvalidParameterValue", self.ec2.describe_instances, InstanceIds=ids + ["i-12345678"])

    def test_unknown_and_malformed_ids(self):
        self.refused("InvalidInstanceID.NotFound", self.ec2.describe_instances, InstanceIds=["i-12345678"])
        self.refused("InvalidInstanceID.Malformed", self.ec2.describe_instances, InstanceIds=["node-1"])

    def test_regions_are_apart(self):
        self.fleet(1)
        west = self.sim.client(region="us-west-2")
        self.assertEqual(west.describe_instances()["Reservations"], [])
        self.fleet(1, ec2=west)
        zones = {i["zone"] for i in self.sim.instances()}
        self.assertEqual(zones, {"us-east-1a", "us-west-2a"})

    def test_eventual_consistency(self):
        self.sim.control("POST", "/knobs", ec2={"visible_ms": 1500, "address_ms": 3000}, boot_ms=4500,
                         throttling=False)
        one, = self.fleet_ids(1)
        self.refused("InvalidInstanceID.NotFound", self.ec2.describe_instances, InstanceIds=[one])
        self.refused("InvalidInstanceID.NotFound", self.ec2.create_tags, Resources=[one],
                     Tags=[{"Key": "a", "Value": "b"}])
        self.refused("InvalidInstanceID.NotFound", self.ec2.terminate_instances, InstanceIds=[one])
        self.assertEqual(self.described(), [])
        instance, = wait_until(self.described)
        self.assertEqual(instance["State"]["Name"], "pending")
        self.assertNotIn("PrivateIpAddress", instance)
        self.assertEqual(instance["PrivateDnsName"], "")
        wait_until(lambda: "PrivateIpAddress" in self.described()[0])
        wait_until(lambda: self.described()[0]["State"]["Name"] == "running")

    def test_instance_status(self):
        ids = self.fleet_ids(2)
        wait_until(lambda: len(self.ec2.describe_instance_status(InstanceIds=ids)["InstanceStatuses"]) == 2)
        self.sim.control("POST", "/instances/" + ids[0], action="hang")
        self.ec2.terminate_instances(InstanceIds=ids[1:])
        status, = self.ec2.describe_instance_status(InstanceIds=ids)["InstanceStatuses"]
        self.assertEqual((status["InstanceId"], status["InstanceStatus"]["Status"]), (ids[0], "impaired"))
        everything = self.ec2.describe_instance_status(IncludeAllInstances=True)["InstanceStatuses"]
        self.assertEqual([s["InstanceId"] for s in everything], ids)

    def test_subnets(self):
        found = self.ec2.describe_subnets(SubnetIds=["subnet-22222222"])["Subnets"]
        self.assertEqual([s["AvailabilityZone"] for s in found], ["us-east-1b"])
        found = self.ec2.describe_subnets(Filters=[{"Name": "availability-zone", "Values": ["us-east-1a"]}])["Subnets"]
        self.assertEqual([s["SubnetId"] for s in found], ["subnet-11111111"])
        self.refused("InvalidSubnetID.NotFound", self.ec2.describe_subnets, SubnetIds=["subnet-1"])
        self.sim.control("POST", "/knobs", ec2={"subnets": [{"id": "subnet-33333333", "zone": "c"}]})
        self.assertEqual(len(self.ec2.describe_subnets()["Subnets"]), 3)

    def test_templates(self):
        data = {"ImageId": "ami-1", "InstanceType": "m5.large"}
        made = self.ec2.create_launch_template(LaunchTemplateName="mine", LaunchTemplateData=data)["LaunchTemplate"]
        self.refused("InvalidLaunchTemplateName.AlreadyExistsException", self.ec2.create_launch_template,
                     LaunchTemplateName="mine", LaunchTemplateData=data)
        names = {t["LaunchTemplateName"] for t in self.ec2.describe_launch_templates()["LaunchTemplates"]}
        self.assertEqual(names, {"mine", "template-name"})
        found, = self.ec2.describe_launch_templates(LaunchTemplateNames=["mine"])["LaunchTemplates"]
        self.assertEqual(found["LaunchTemplateId"], made["LaunchTemplateId"])
        self.refused("InvalidLaunchTemplateName.NotFoundException", self.ec2.describe_launch_templates,
                     LaunchTemplateNames=["other"])
        self.refused("InvalidLaunchTemplateId.NotFound", self.ec2.describe_launch_templates,
                     LaunchTemplateIds=["lt-00000000000000000"])
        reply = self.fleet(1, LaunchTemplateConfigs=[{"LaunchTemplateSpecification": {
            "LaunchTemplateId": made["LaunchTemplateId"], "Version": "1"}}])
        self.assertEqual(reply["Instances"][0]["InstanceType"], "m5.large")


class Tags(CloudsimTest):
    def test_are_set_replaced_and_listed(self):
        ids = self.fleet_ids(2)
        self.ec2.create_tags(Resources=ids, Tags=[{"Key": "a", "Value": "1"}, {"Key": "b", "Value": "2"}])
        self.ec2.create_tags(Resources=ids[:1], Tags=[{"Key": "a", "Value": "3"}])
        found = self.ec2.describe_tags(Filters=[{"Name": "key", "Values": ["a"]}])["Tags"]
        self.assertEqual({(t["ResourceId"], t["Value"]) for t in found}, {(ids[0], "3"), (ids[1], "1")})
        found = self.ec2.describe_tags(Filters=[{"Name": "resource-id", "Values": ids[:1]},
                                                {"Name": "resource-type", "Values": ["instance"]}])["Tags"]
        self.assertEqual({t["Key"]: t["Value"] for t in found}, {"a": "3", "b": "2"})
        self.ec2.create_tags(Resources=["subnet-11111111"], Tags=[{"Key": "net", "Value": "x"}])
        self.assertEqual(len(self.ec2.describe_subnets(Filters=[{"Name": "tag:net", "Values": ["x"]}])["Subnets"]), 1)

    def test_come_in_pages(self):
        ids = self.fleet_ids(13, TagSpecifications=[{"ResourceType": "instance", "Tags": [{"Key": "k", "Value": "v"}]}])
        pages = list(self.ec2.get_paginator("describe_tags").paginate(PaginationConfig={"PageSize": 5}))
        self.assertEqual([t["ResourceId"] for page in pages for t in page["Tags"]], ids)
        self.assertEqual([len(page["Tags"]) for page in pages], [5, 5, 3])

    def test_what_ec2_refuses(self):
        one, = self.fleet_ids(1)

        def tag(*keys, **more):
            self.ec2.create_tags(**{"Resources": [one], "Tags": [{"Key": key, "Value": ""} for key in keys], **more})
        self.refused("InvalidParameterValue", lambda: tag("a", "a"))
        self.refused("InvalidParameterValue", lambda: tag("aws:a"))
        self.refused("InvalidParameterValue", lambda: tag("with blank"))
        self.refused("InvalidParameterValue", lambda: tag("a", Resources=[one] * 1001))
        self.refused("InvalidInstanceID.NotFound", lambda: tag("a", Resources=[one, "i-12345678"]))
        self.refused("InvalidID", lambda: tag("a", Resources=["thing-1"]))
        tag(*["k%d" % n for n in range(50)])
        tag("k7")
        self.refused("TagLimitExceeded", lambda: tag("one-more"))
        self.assertEqual(len(self.sim.instances()[0]["tags"]), 50)


class Terminate(CloudsimTest):
    knobs = {"terminate_ms": 300}

    def test_goes_by_way_of_shutting_down_and_may_be_repeated(self):
        one, two = self.fleet_ids(2)
        wait_until(lambda: {i["state"] for i in self.sim.instances()} == {"running"})
        change, = self.ec2.terminate_instances(InstanceIds=[one])["TerminatingInstances"]
        self.assertEqual((change["PreviousState"]["Name"], change["CurrentState"]["Name"]),
                         ("running", "shutting-down"))
        wait_until(lambda: self.sim.instances()[0]["state"] == "terminated")
        change, = self.ec2.terminate_instances(InstanceIds=[one])["TerminatingInstances"]
        self.assertEqual(change["CurrentState"]["Name"], "terminated")
        gone, = self.described(InstanceIds=[one])
        self.assertEqual((gone["StateReason"]["Code"], "PrivateIpAddress" in gone),
                         ("Client.UserInitiatedShutdown", False))
        self.assertEqual(self.sim.instances()[1]["state"], "running")

    def test_one_bad_id_spares_all(self):
        one, = self.fleet_ids(1)
        self.refused("InvalidInstanceID.NotFound", self.ec2.terminate_instances, InstanceIds=[one, "i-12345678"])
        self.assertNotIn(self.sim.instances()[0]["state"], ("shutting-down", "terminated"))

    def test_a_protected_instance_keeps_its_zone(self):
        a = self.fleet_ids(2)
        b = self.fleet_ids(1, overrides=[TWO_ZONES[1]])
        self.sim.control("POST", "/instances/" + a[0], termination_protection=True)
        self.refused("OperationNotPermitted", self.ec2.terminate_instances, InstanceIds=a + b)
        live = {i["id"] for i in self.sim.instances() if i["state"] in ("pending", "running")}
        self.assertEqual(live, set(a))


class Sts(CloudsimTest):
    def setUp(self):
        super().setUp()
        self.sts = self.sim.client("sts")

    def test_tells_who_calls(self):
        self.assertEqual(self.sts.get_caller_identity()["Arn"], "arn:aws:iam::123456789012:user/cloudsim")

    def test_an_assumed_role_can_call(self):
        reply = self.sts.assume_role(RoleArn="arn:aws:iam::123456789012:role/path/worker", RoleSessionName="me",
                                     DurationSeconds=900)
        given = reply["Credentials"]
        left = given["Expiration"] - datetime.datetime.now(datetime.timezone.utc)
        self.assertTrue(880 < left.total_seconds() <= 900)
        key = {"aws_access_key_id": given["AccessKeyId"], "aws_secret_access_key": given["SecretAccessKey"],
               "aws_session_token": given["SessionToken"]}
        self.assertEqual(self.sim.client("sts", key=key).get_caller_identity()["Arn"],
                         "arn:aws:sts::123456789012:assumed-role/worker/me")
        self.assertEqual(self.sim.client(key=key).describe_instances()["Reservations"], [])
        self.sim.control("POST", "/credentials/expire")
        self.refused("RequestExpired", self.sim.client(key=key).describe_instances)
        self.refused("ExpiredToken", self.sim.client("sts", key=key).get_caller_identity)
        wrong = dict(key, aws_session_token="other")
        self.refused("AuthFailure", self.sim.client(key=wrong).describe_instances)

    def test_a_web_identity_needs_no_signature(self):
        reply = self.sts.assume_role_with_web_identity(
            RoleArn="arn:aws:iam::123456789012:role/worker", RoleSessionName="me", WebIdentityToken="secret-token")
        self.assertTrue(reply["Credentials"]["AccessKeyId"].startswith("ASIA"))
        self.assertNotIn("secret-token", json.dumps(self.sim.control("GET", "/calls/log")))


class AwsCommand(CloudsimTest):
    def aws(self, *arguments):
        environment = {"PATH": "/usr/bin:/bin", "HOME": self.sim.folder.name, "AWS_DEFAULT_REGION": "us-east-1",
                       "AWS_ACCESS_KEY_ID": KEY["aws_access_key_id"],
                       "AWS_SECRET_ACCESS_KEY": KEY["aws_secret_access_key"], "AWS_PAGER": ""}
        done = subprocess.run(["/usr/bin/aws", "--endpoint-url", self.sim.url, "--output", "json", *arguments],
                              env=environment, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout) if done.stdout.strip() else None

    @unittest.skipUnless(os.path.exists("/usr/bin/aws"), "the aws command is not installed")
    def test_launches_describes_and_terminates(self):
        reply = self.aws("ec2", "create-fleet", "--type", "instant", "--target-capacity-specification",
                         "TotalTargetCapacity=2,DefaultTargetCapacityType=on-demand", "--launch-template-configs",
                         "LaunchTemplateSpecification={LaunchTemplateName=template-name,Version=$Latest}")
        ids = ids_of(reply)
        self.assertEqual(len(ids), 2)
        found = self.aws("ec2", "describe-instances", "--instance-ids", *ids)
        self.assertEqual(sum(len(r["Instances"]) for r in found["Reservations"]), 2)
        self.assertEqual(len(self.aws("ec2", "terminate-instances", "--instance-ids", *ids)["TerminatingInstances"]), 2)
        self.assertEqual(self.aws("sts", "get-caller-identity")["Account"], "123456789012")
