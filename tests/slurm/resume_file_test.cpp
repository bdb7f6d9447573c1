// SPDX-License-Identifier: Apache-2.0
// SLURM_RESUME_FILE of every generation.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "burst/error.h"
#include "burst/slurm.h"

namespace burst {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(ResumeFile, ReadsTheShapeOf2108And2205) {
  const auto jobs =
      parse_resume_file(R"({"jobs":[{"job_id":1,"nodes":"aws-node-[0-1]"}],"all_nodes":"aws-node-[0-1]"})");
  ASSERT_EQ(jobs.size(), 1U);
  EXPECT_EQ(jobs[0].id, 1U);
  EXPECT_THAT(jobs[0].nodes, ElementsAre("aws-node-0", "aws-node-1"));
  EXPECT_THAT(jobs[0].allocated, IsEmpty());
  EXPECT_EQ(jobs[0].oversubscribe, "");
  EXPECT_FALSE(jobs[0].priority);
}

TEST(ResumeFile, ReadsTheShapeOf2302To2511) {
  const auto jobs = parse_resume_file(
      R"({"jobs":[{"extra":null,"job_id":140814,"features":"c1,c2","nodes_alloc":"cloud[1-4]","nodes_resume":"cloud[1-3]",
          "oversubscribe":"OK","partition":"cloud","reservation":null},
         {"extra":"x","job_id":4294967294,"features":null,"nodes_resume":"cloud2","oversubscribe":"NO",
          "partition":"other","reservation":"r"}],"all_nodes_resume":"cloud[1-3]"})");
  ASSERT_EQ(jobs.size(), 2U);
  EXPECT_THAT(jobs[0].nodes, ElementsAre("cloud1", "cloud2", "cloud3"));
  EXPECT_THAT(jobs[0].allocated, ElementsAre("cloud1", "cloud2", "cloud3", "cloud4"));
  EXPECT_EQ(jobs[0].oversubscribe, "OK");
  EXPECT_EQ(jobs[0].partition, "cloud");
  EXPECT_EQ(jobs[1].id, 4294967294U);
  EXPECT_THAT(jobs[1].allocated, IsEmpty());
}

TEST(ResumeFile, ReadsTheShapeOf2605) {
  const auto jobs = parse_resume_file(
      R"({"jobs":[{"exclusive":"NODE","extra":null,"job_id":7,"priority":4294901757,"features":null,
          "nodes_alloc":"p-g-[0,2]","nodes_resume":"p-g-2","oversubscribe":"NO","partition":"p","reservation":null}],
          "all_nodes_resume":"p-g-2,p-h-1"})");
  ASSERT_EQ(jobs.size(), 1U);
  EXPECT_THAT(jobs[0].nodes, ElementsAre("p-g-2"));
  EXPECT_EQ(jobs[0].priority, 4294901757);
}

TEST(ResumeFile, HasNoJobsAtAManualPowerUp) {
  EXPECT_THAT(parse_resume_file(R"({"jobs":[],"all_nodes_resume":"p-g-2"})"), IsEmpty());
}

TEST(ResumeFile, SaysWhatIsWrongWithAnythingElse) {
  const std::string bad[] = {"",
                             "{",
                             "[]",
                             "3",
                             "{}",
                             R"({"jobs":{}})",
                             R"({"jobs":[1]})",
                             R"({"jobs":[{"nodes_resume":"n1"}]})",
                             R"({"jobs":[{"job_id":0}]})",
                             R"({"jobs":[{"job_id":-1}]})",
                             R"({"jobs":[{"job_id":99999999999}]})",
                             R"({"jobs":[{"job_id":"7"}]})",
                             R"({"jobs":[{"job_id":7,"nodes_resume":3}]})",
                             R"({"jobs":[{"job_id":7,"nodes_resume":"n["}]})",
                             std::string("\xff\xfe\0", 3)};
  for (const auto& text : bad) {
    try {
      parse_resume_file(text);
      ADD_FAILURE() << "accepted " << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), "ResumeFileError");
      EXPECT_THAT(error.what(), HasSubstr("reading SLURM_RESUME_FILE: "));
    }
  }
}

}  // namespace
}  // namespace burst
