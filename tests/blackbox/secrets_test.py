# SPDX-License-Identifier: Apache-2.0
"""All programs at LogLevel DEBUG with every kind of credentials: what they wrote is searched at the end of each test."""
import json
import unittest

from blackbox import BOOTING, KEY, SECRET, BlackboxTest, messages
from gce_blackbox import GceBlackboxTest, gce_group
from kubernetes_blackbox import KubernetesBlackboxTest, kubernetes_group


class Work:
    """Everything once, with a cloud that also refuses."""

    def work(self, node):
        self.resumed(node)
        self.assertEqual(self.names_alive(), [node])
        self.show_nodes([node], BOOTING)
        self.change_state()
        self.run_program("change_state", "--dry-run")
        self.run_program("generate_conf", "--check")
        self.suspended(node)
        self.assertIn("DEBUG", self.log())

    def refused_as(self, pattern, node):
        """A call that the cloud does not accept: its answer is in the log, what it was sent is not."""
        self.resume(node)
        self.assertRegex("\n".join(messages(self.log(), "WARNING", "ERROR", "CRITICAL")), pattern)


class Aws(Work, BlackboxTest):
    def test_keys(self):
        self.work("aws-c5-0")

    def test_keys_that_are_refused(self):
        wrong = "this-is-not-the-secret-key"
        self.secrets.append(wrong)
        self.variables(AWS_SECRET_ACCESS_KEY=wrong)
        self.refused_as("SignatureDoesNotMatch|AuthFailure", "aws-c5-0")


class Gce(Work, GceBlackboxTest):
    def test_metadata_token(self):
        self.work("gce-n2-0")

    def key(self):
        return self.cloud.control("gce/service_account_key")

    def give_key(self, key):
        lines = key["private_key"].splitlines()
        self.secrets += [lines[1], lines[len(lines) // 2], key["private_key_id"]]
        self.gce(gce_group(CredentialsFile=self.give("key.json", json.dumps(key))))

    def test_service_account_key(self):
        self.give_key(self.key())
        self.work("gce-n2-0")
        self.assertIn("oauth2.token", self.actions())

    def test_service_account_key_that_is_refused(self):
        self.give_key({**self.key(), "client_email": "nobody@cloudsim-project.iam.gserviceaccount.com"})
        self.refused_as("invalid_grant", "gce-n2-0")

    def test_service_account_key_that_is_broken(self):
        key = self.key()
        self.give_key({**key, "private_key": key["private_key"].replace("M", "!", 3)})
        self.refused_as("credentials file", "gce-n2-0")


class Kubernetes(Work, KubernetesBlackboxTest):
    def test_token(self):
        self.work("kube-cpu-0")

    def test_token_that_is_refused(self):
        wrong = "this-is-not-the-token"
        self.secrets.append(wrong)
        kubeconfig = self.cloud.kubeconfig(user="burst").replace(self.cloud.token, wrong)
        self.assertIn(wrong, kubeconfig)
        self.variables(KUBECONFIG=self.give("kubeconfig", kubeconfig))
        self.refused_as("Unauthorized", "kube-cpu-0")

    def test_kubeconfig_that_is_broken(self):
        text = self.cloud.kubeconfig(user="burst")
        self.variables(KUBECONFIG=self.give("kubeconfig", text.replace("token:", "token: [") + "\n]"))
        self.refused_as("reading ", "kube-cpu-0")

    def test_eks_token(self):
        self.secrets.append(SECRET)
        self.variables(**KEY)
        self.kube(kubernetes_group(EKS={"ClusterName": "cloudsim", "Region": "us-east-1"}))
        self.work("kube-cpu-0")


class Modes(BlackboxTest):
    def complaints(self, result):
        return [line for line in messages(result.err, "WARNING") if "is writable by" in line]

    def test_files_that_others_can_write_are_named(self):
        self.assertEqual(self.complaints(self.resumed("aws-c5-0")), [])
        for name, mode, whose in (("config.json", 0o666, "everybody"), ("partitions.json", 0o664, "its group")):
            path = self.folder / "bin" / name
            path.chmod(mode)
            said = self.complaints(self.run_program("change_state"))
            self.assertEqual(len(said), 1, said)
            self.assertIn(f'"{path}" is writable by {whose}', said[0])
            path.chmod(0o644)

    def test_credentials_that_others_can_write_are_named(self):
        profile = "\n".join(("[default]", f"aws_access_key_id = {KEY['AWS_ACCESS_KEY_ID']}", f"aws_secret_access_key = {SECRET}"))
        path = self.give("credentials", profile, mode=0o622)
        self.variables(AWS_ACCESS_KEY_ID=None, AWS_SECRET_ACCESS_KEY=None, AWS_SHARED_CREDENTIALS_FILE=path)
        said = self.complaints(self.resumed("aws-c5-0"))
        self.assertEqual(len(said), 1, said)
        self.assertIn(path, said[0])

    def test_a_state_dir_that_others_can_write_is_named(self):
        self.resumed("aws-c5-0")
        self.assertEqual(oct(self.state.stat().st_mode & 0o7777), "0o750")
        for path in self.state.rglob("*"):
            self.assertEqual(path.stat().st_mode & 0o027, 0, path)
        self.state.chmod(0o777)
        said = self.complaints(self.run_program("change_state"))
        self.assertEqual(len(said), 1, said)
        self.assertIn(str(self.state), said[0])


if __name__ == "__main__":
    unittest.main()
