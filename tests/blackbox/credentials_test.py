# SPDX-License-Identifier: Apache-2.0
"""Every place where AWS's own tools find credentials, through `Environment`, and that no secret is written anywhere."""
import datetime
import json
import re
import unittest

from blackbox import KEY, SECRET, BlackboxTest, group, names, processes

ROLE = "arn:aws:iam::123456789012:role/head-node"
PROFILE = f"aws_access_key_id = {KEY['AWS_ACCESS_KEY_ID']}\naws_secret_access_key = {SECRET}\n"
NOTHING = {"AWS_ACCESS_KEY_ID": None, "AWS_SECRET_ACCESS_KEY": None}


class Credentials(BlackboxTest):
    def setUp(self):
        super().setUp()
        # Nothing of the account that runs the test counts.
        self.none = str(self.folder / "no-such-file")
        self.variables(**NOTHING, AWS_SHARED_CREDENTIALS_FILE=self.none, AWS_CONFIG_FILE=self.none)

    def work(self):
        """Everything once, and the keys that signed the calls were right."""
        self.resumed("aws-c5-[0-1]")
        self.assertEqual(self.names_alive(), names("aws-c5-[0-1]"))
        self.show_nodes(names("aws-c5-[0-1]"), "ALLOCATED+CLOUD+NOT_RESPONDING+POWERING_UP")
        self.assertEqual(self.run_program("change_state").status, 0)
        self.suspended("aws-c5-[0-1]")
        self.assertEqual(self.alive(), [])

    def ours(self, action):
        return [call["parameters"] for call in self.cloud.control("calls/log") if call["action"] == action]

    def test_keys_in_the_environment(self):
        self.variables(**KEY)
        self.work()

    def test_keys_in_the_programs_own_environment(self):
        """As cron or a shell may have them: `Environment` is laid over it."""
        self.assertEqual(self.resume("aws-c5-0", env={"SLURM_CONF": str(self.slurm_conf), **KEY}).status, 0)
        self.assertEqual(self.names_alive(), ["aws-c5-0"])

    def test_the_default_profile_of_the_shared_credentials_file(self):
        self.variables(AWS_SHARED_CREDENTIALS_FILE=self.give("credentials", "[default]\n" + PROFILE))
        self.work()

    def test_profile_name_takes_a_profile_before_the_environments_keys(self):
        wrong = "this-is-not-the-secret"
        self.secrets.append(wrong)
        self.configure(group(ProfileName="burst"))
        self.variables(AWS_ACCESS_KEY_ID=KEY["AWS_ACCESS_KEY_ID"], AWS_SECRET_ACCESS_KEY=wrong,
                       AWS_SHARED_CREDENTIALS_FILE=self.give("credentials", "[other]\nx = y\n[burst]\n" + PROFILE))
        self.work()

    def test_aws_profile_and_the_config_file(self):
        self.variables(AWS_PROFILE="burst", AWS_CONFIG_FILE=self.give("config", "[profile burst]\n" + PROFILE))
        self.work()

    def test_files_in_home(self):
        (self.folder / "given/.aws").mkdir(parents=True)
        self.give("keys", "[default]\n" + PROFILE)
        (self.folder / "given/keys").rename(self.folder / "given/.aws/credentials")
        self.variables(AWS_SHARED_CREDENTIALS_FILE=None, AWS_CONFIG_FILE=None, HOME=str(self.folder / "given"))
        self.work()

    def test_a_role_of_a_source_profile(self):
        text = (f"[profile burst]\nrole_arn = {ROLE}\nsource_profile = base\n"
                "role_session_name = head\nexternal_id = x1\n")
        self.variables(AWS_PROFILE="burst", AWS_CONFIG_FILE=self.give("config", text),
                       AWS_SHARED_CREDENTIALS_FILE=self.give("credentials", "[base]\n" + PROFILE))
        self.work()
        asked = self.ours("AssumeRole")
        self.assertEqual(len(asked), 3)  # one a program
        self.assertEqual([asked[0][key] for key in ("RoleArn", "RoleSessionName", "ExternalId")], [ROLE, "head", "x1"])

    def test_a_role_with_the_environments_keys(self):
        text = f"[profile burst]\nrole_arn = {ROLE}\ncredential_source = Environment\n"
        self.configure(group(ProfileName="burst"))
        self.variables(**KEY, AWS_CONFIG_FILE=self.give("config", text))
        self.work()
        self.assertEqual(len(self.ours("AssumeRole")), 3)

    def test_a_credential_process(self):
        expires = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(hours=1)
        reply = {"Version": 1, "AccessKeyId": KEY["AWS_ACCESS_KEY_ID"], "SecretAccessKey": SECRET,
                 "Expiration": expires.isoformat()}
        script = self.give("give-keys", f"#!/bin/sh\n[ \"$1\" = 'for the head' ] && echo '{json.dumps(reply)}'\n",
                           0o700)
        text = f"[default]\ncredential_process = {script} 'for the head'\n"
        self.variables(AWS_CONFIG_FILE=self.give("config", text))
        self.work()

    def test_a_credential_process_that_fails_is_told_with_what_it_said(self):
        script = self.give("give-keys", "#!/bin/sh\necho 'the vault is sealed' >&2\nexit 3\n", 0o700)
        self.variables(AWS_CONFIG_FILE=self.give("config", f"[default]\ncredential_process = {script}\n"))
        for program in ("resume", "suspend"):
            self.one_complaint(self.run_program(program, "aws-c5-0"), "ERROR - .*credential_process of profile "
                               ".default.: exit status 3: the vault is sealed", 1)
        self.nothing_started()

    def test_a_web_identity(self):
        token = "eyJhbGciOiJub25lIn0.web-identity-token.x"
        self.secrets.append(token)
        self.variables(AWS_ROLE_ARN=ROLE, AWS_WEB_IDENTITY_TOKEN_FILE=self.give("token", token))
        self.work()
        self.assertEqual(len(self.ours("AssumeRoleWithWebIdentity")), 3)

    def test_a_container_endpoint_with_its_token(self):
        token = "container-token-0123"
        self.secrets.append(token)
        self.cloud.set(ec2={"container_authorization": token})
        self.variables(AWS_CONTAINER_CREDENTIALS_FULL_URI=self.cloud.endpoint + "/container-credentials",
                       AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE=self.give("container-token", token))
        self.work()
        self.assertEqual(self.cloud.calls("ContainerCredentials"), 3)

    def imds(self):
        self.variables(AWS_EC2_METADATA_DISABLED=None,
                       AWS_EC2_METADATA_SERVICE_ENDPOINT=self.cloud.endpoint + "/imds/head")

    def test_the_role_of_the_head_node(self):
        self.imds()
        self.work()
        self.assertGreaterEqual(self.cloud.calls("Metadata"), 9)  # token, role, keys; each program

    def test_keys_that_expire_in_the_middle_are_fetched_anew(self):
        self.imds()
        self.cloud.set(ec2={"credential_seconds": 3600})
        for action in ("DescribeInstances", "CreateFleet", "CreateTags"):
            with self.subTest(action):
                self.cloud.fault(action, "error", code="RequestExpired", message="Request has expired.", status=400)
                before = self.cloud.calls("Metadata")
                self.resumed("aws-c5-[0-1]")
                self.assertEqual(self.names_alive(), names("aws-c5-[0-1]"))
                self.assertEqual(self.cloud.calls("Metadata") - before, 6)
                self.suspended("aws-c5-[0-1]")

    def test_keys_that_have_really_expired_are_fetched_anew(self):
        self.imds()
        self.cloud.fault("CreateFleet", "throttle", count=4)  # some time, in which the first keys come to their end
        process = self.start("resume", "aws-c5-[0-1]")
        with process:
            processes.wait_until(lambda: self.cloud.calls("CreateFleet") >= 1, "no call came")
            self.cloud.control("credentials/expire", {})
            process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0, self.log())
        self.assertEqual(self.names_alive(), names("aws-c5-[0-1]"))

    def test_keys_that_stay_wrong_end_in_one_line(self):
        self.imds()
        self.cloud.fault("DescribeInstances", "error", code="RequestExpired", message="Request has expired.", count=-1)
        self.one_complaint(self.suspend("aws-c5-0"), "aws-c5: RequestExpired: DescribeInstances in us-east-1", 1)

    def test_a_metadata_service_that_is_silent_is_named(self):
        self.variables(AWS_EC2_METADATA_DISABLED=None, AWS_EC2_METADATA_SERVICE_ENDPOINT="http://127.0.0.1:1")
        self.one_complaint(self.suspend("aws-c5-0"), "instance metadata at 127.0.0.1:1: connecting to 127.0.0.1:1", 1)

    def test_a_broken_credentials_file_is_named_without_its_content(self):
        path = self.give("credentials", "[default]\n" + PROFILE.replace("_key = ", "_key ").replace("_id = ", "_id "))
        self.variables(AWS_SHARED_CREDENTIALS_FILE=path)
        self.one_complaint(self.suspend("aws-c5-0"), f'reading "{re.escape(path)}": line 2: expected KEY = VALUE', 1)

    def test_a_secret_in_a_broken_config_json_is_not_told(self):
        self.variables(**KEY)
        text = (self.folder / "bin/config.json").read_text()
        for broken in (text.replace(f'"{SECRET}"', f'"{SECRET}'), text.replace(f'"{SECRET}"', f'"{SECRET}\x01"'),
                       text.replace(f'"{SECRET}"', f'["{SECRET}"]'), text.replace(f'"{SECRET}"', f'{SECRET}')):
            self.write("config.json", broken)
            result = self.resume("aws-c5-0")
            self.assertEqual(result.status, 2)
            self.assertNotIn(SECRET, result.err)
            log = self.folder / "bin/aws_plugin.log"
            if log.exists():
                self.assertNotIn(SECRET, log.read_text())


if __name__ == "__main__":
    unittest.main()
