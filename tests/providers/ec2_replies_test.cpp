// SPDX-License-Identifier: Apache-2.0
#include "providers/ec2/ec2_replies.h"

#include <gtest/gtest.h>

#include "burst/error.h"

namespace burst::ec2 {
namespace {

TEST(Ec2Replies, ReadsInstancesAndErrorsOfOneFleet) {
  const auto reply = parse_create_fleet(R"(<?xml version="1.0"?>
<CreateFleetResponse xmlns="http://ec2.amazonaws.com/doc/2016-11-15/"><requestId>r-1</requestId><fleetId>fleet-1</fleetId>
<errorSet><item><lifecycle>spot</lifecycle><errorCode>UnfulfillableCapacity</errorCode><errorMessage>no
capacity</errorMessage></item></errorSet>
<fleetInstanceSet><item><instanceIds><item>i-1</item><item>i-2</item></instanceIds></item>
<item><instanceIds><item>i-3</item></instanceIds></item></fleetInstanceSet></CreateFleetResponse>)");
  EXPECT_EQ(reply.instance_ids, (std::vector<std::string>{"i-1", "i-2", "i-3"}));
  ASSERT_EQ(reply.errors.size(), 1U);
  EXPECT_EQ(reply.errors[0].code, "UnfulfillableCapacity");
  EXPECT_EQ(reply.errors[0].message, "no capacity");
  EXPECT_EQ(reply.request_id, "r-1");
}

TEST(Ec2Replies, AFleetWithoutInstancesOrErrorsIsEmptyAndNoFault) {
  const auto reply = parse_create_fleet("<CreateFleetResponse><fleetId>f</fleetId></CreateFleetResponse>");
  EXPECT_TRUE(reply.instance_ids.empty());
  EXPECT_TRUE(reply.errors.empty());
}

TEST(Ec2Replies, ReadsAnInstanceAndTakesMissingFieldsAsEmpty) {
  const auto reply = parse_describe_instances(R"(<DescribeInstancesResponse><reservationSet><item><instancesSet>
<item><instanceId>i-1</instanceId><instanceState><code>16</code><name>running</name></instanceState>
<privateIpAddress>10.0.0.1</privateIpAddress><privateDnsName>ip-10-0-0-1.ec2.internal</privateDnsName>
<launchTime>2026-11-21T09:00:01.000Z</launchTime><instanceType>c5.large</instanceType>
<placement><availabilityZone>us-east-1a</availabilityZone></placement>
<tagSet><item><key>Name</key><value>aws-node-1</value></item></tagSet></item>
<item><instanceId>i-2</instanceId><instanceState><name>pending</name></instanceState></item>
</instancesSet></item></reservationSet><nextToken>next</nextToken></DescribeInstancesResponse>)");
  ASSERT_EQ(reply.instances.size(), 2U);
  const Instance& instance = reply.instances[0];
  EXPECT_EQ(instance.state, "running");
  EXPECT_EQ(instance.address, "10.0.0.1");
  EXPECT_EQ(instance.zone, "us-east-1a");
  EXPECT_EQ(instance.tag("Name"), "aws-node-1");
  EXPECT_EQ(instance.tag("Other"), "");
  using namespace std::chrono;
  EXPECT_EQ(instance.launched, sys_days{2026y / November / 21} + 9h + 1s);
  EXPECT_EQ(reply.instances[1].address, "");
  EXPECT_EQ(reply.next_token, "next");
}

TEST(Ec2Replies, ABrokenReplyIsNeverAnEmptyList) {
  for (const char* text :
       {"", "garbage", "<html></html>", "<DescribeInstancesResponse><reservationSet>", "<CreateFleetResponse/>"}) {
    EXPECT_THROW((void)parse_describe_instances(text), Error) << text;
  }
}

TEST(Ec2Replies, ReadsTheErrorEnvelope) {
  const auto error = parse_error(R"(<Response><Errors><Error><Code>RequestLimitExceeded</Code><Message>Request
 limit exceeded.</Message></Error></Errors><RequestID>r-9</RequestID></Response>)");
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code, "RequestLimitExceeded");
  EXPECT_EQ(error->message, "Request limit exceeded.");
  EXPECT_EQ(error->request_id, "r-9");
  EXPECT_FALSE(parse_error("<html>Bad Gateway</html>"));
  EXPECT_FALSE(parse_error("not xml"));
}

TEST(Ec2Replies, ACodeIsOneSafeLineTooForItStandsInReasons) {
  const auto error = parse_error("<Response><Errors><Error><Code>R\x9a\x8e\nx</Code></Error></Errors></Response>");
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code, "R?? x");
}

TEST(Ec2Replies, ACutReplyIsNotWhole) {
  EXPECT_TRUE(is_whole("<A><TerminateInstancesResponse></TerminateInstancesResponse>\n", "TerminateInstances"));
  EXPECT_FALSE(is_whole("<TerminateInstancesResponse><requestId>", "TerminateInstances"));
  EXPECT_FALSE(is_whole("", "TerminateInstances"));
}

}  // namespace
}  // namespace burst::ec2
