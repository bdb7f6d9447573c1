# SPDX-License-Identifier: Apache-2.0
"""Who may call the Kubernetes API: certificates, tokens, EKS and Google identities, RBAC; and TLS itself."""
import base64
import datetime
import http.client as http_client
import json
import ssl
import unittest
from unittest import mock

import botocore.auth
import botocore.awsrequest
import botocore.credentials

from kube import BURST, KubeTest, PODS, READER, pod
from simulator import KEY, http

ARN = "arn:aws:iam::123456789012:"


def eks_token(cluster="cloudsim", key=KEY, session=None, expires=60, header="x-k8s-aws-id",
              url="https://sts.us-east-1.amazonaws.com/?Action=GetCallerIdentity&Version=2011-06-15", at=None):
    """As `aws eks get-token` makes it, with botocore's own signer."""
    credentials = botocore.credentials.Credentials(key["aws_access_key_id"], key["aws_secret_access_key"], session)
    request = botocore.awsrequest.AWSRequest(method="GET", url=url, headers={header: cluster})
    signer = botocore.auth.SigV4QueryAuth(credentials, "sts", "us-east-1", expires=expires)
    with mock.patch("botocore.auth.datetime.datetime", wraps=datetime.datetime) as clock:
        clock.utcnow.return_value = at or datetime.datetime.utcnow()
        signer.add_auth(request)
    return "k8s-aws-v1." + base64.urlsafe_b64encode(request.url.encode()).decode().rstrip("=")


class Authentication(KubeTest):
    def status(self, token, method="GET", path=PODS):
        return self.call(method, path, token=token).status

    def test_only_known_tokens_are_let_in(self):
        for token in ("bad", "k8s-aws-v1.", "k8s-aws-v1.aHR0cHM"):
            reply = self.call("GET", PODS, token=token)
            self.assertEqual(reply.json, {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
                                          "message": "Unauthorized", "reason": "Unauthorized", "code": 401})

    def test_an_expired_token_is_unauthorized(self):
        self.assertEqual(self.status(BURST), 200)
        self.sim.control("POST", "/kubernetes/tokens/expire", token=BURST)
        self.assertEqual(self.status(BURST), 401)

    def test_a_stranger_is_anonymous(self):
        reply = self.call("GET", PODS, token=None)
        self.assertEqual((reply.status, reply.message),
                         (403, 'pods is forbidden: User "system:anonymous" cannot list resource "pods" in API group "" in '
                               'the namespace "slurm"'))
        self.assertEqual(self.call("GET", "/version", token=None).status, 200)
        self.assertEqual(self.call("GET", "/apis", token=None).message,
                         'forbidden: User "system:anonymous" cannot get path "/apis"')

    def test_rbac_says_what_is_missing(self):
        self.assertEqual(self.status(READER), 200)
        reply = self.call("POST", PODS, pod("a"), token=READER)
        self.assertEqual((reply.status, reply.json["reason"], reply.json["details"]), (403, "Forbidden", {"kind": "pods"}))
        self.assertEqual(reply.message, 'pods is forbidden: User "cloudsim-reader" cannot create resource "pods" in API '
                                        'group "" in the namespace "slurm"')
        for method, path, message in (
                ("PATCH", PODS + "/a", 'pods "a" is forbidden: User "{0}" cannot patch resource "pods" in API group "" in '
                                       'the namespace "slurm"'),
                ("GET", "/api/v1/nodes", 'nodes is forbidden: User "{0}" cannot list resource "nodes" in API group "" at '
                                         "the cluster scope"),
                ("PUT", PODS + "/a/status", 'pods "a" is forbidden: User "{0}" cannot update resource "pods/status" in '
                                            'API group "" in the namespace "slurm"'),
                ("GET", PODS.replace("slurm", "default"), 'pods is forbidden: User "{0}" cannot list resource "pods" in '
                                                          'API group "" in the namespace "default"')):
            reply = self.call(method, path, {}, token=BURST)
            self.assertEqual((reply.status, reply.message),
                             (403, message.format("system:serviceaccount:slurm:slurm-burst")))
        self.assertEqual(self.call("POST", PODS, pod("a"), token=BURST).status, 201)

    def test_users_are_added_by_knob(self):
        self.set_knobs(users=[{"name": "u", "token": "t", "rules": [
            {"apiGroups": [""], "resources": ["pods"], "verbs": ["get"], "namespaces": ["slurm"]}]}])
        self.create("a")
        self.assertEqual((self.status("t"), self.status("t", path=PODS + "/a")), (403, 200))

    def test_eks_tokens_are_verified(self):
        self.assertEqual(self.status(eks_token()), 200)
        self.assertEqual(self.call("POST", PODS, pod("a"), token=eks_token()).status, 201)
        now = datetime.datetime.utcnow()
        for what, token in (
                ("cluster", eks_token(cluster="other")),
                ("secret", eks_token(key=dict(KEY, aws_secret_access_key="wrong"))),
                ("key", eks_token(key=dict(KEY, aws_access_key_id="AKIAUNKNOWN"))),
                ("header", eks_token(header="x-other")),
                ("expires", eks_token(expires=3600)),
                ("host", eks_token(url="https://example.com/?Action=GetCallerIdentity&Version=2011-06-15")),
                ("action", eks_token(url="https://sts.amazonaws.com/?Action=AssumeRole&Version=2011-06-15")),
                ("parameter", eks_token(url="https://sts.amazonaws.com/?Action=GetCallerIdentity&Version=2011-06-15&a=b")),
                ("padding", eks_token() + "="),
                ("age", eks_token(at=now - datetime.timedelta(minutes=16), expires=900)),
                ("future", eks_token(at=now + datetime.timedelta(minutes=6)))):
            with self.subTest(what):
                self.assertEqual(self.status(token), 401)

    def test_temporary_aws_keys_make_eks_tokens_until_they_expire(self):
        role = self.sim.client("sts").assume_role(RoleArn=ARN + "role/r", RoleSessionName="session")["Credentials"]
        token = eks_token(key={"aws_access_key_id": role["AccessKeyId"], "aws_secret_access_key": role["SecretAccessKey"]},
                          session=role["SessionToken"])
        self.assertEqual(self.status(token), 200)
        self.sim.control("POST", "/credentials/expire")
        self.assertEqual(self.status(token), 401)

    def test_googles_tokens_are_known(self):
        self.set_knobs(google_tokens=["ya29.cloudsim"])
        self.assertEqual((self.status("ya29.cloudsim"), self.status("ya29.other")), (200, 401))

    def test_tokens_that_the_simulated_google_gave_out_are_good(self):
        status, text = http("GET", self.sim.url + "/computeMetadata/v1/instance/service-accounts/default/token",
                            headers={"Metadata-Flavor": "Google"})
        self.assertEqual(status, 200, text)
        token = json.loads(text)["access_token"]
        self.assertEqual(self.call("POST", PODS, pod("a"), token=token).status, 201)
        self.sim.control("POST", "/gce/tokens/expire")
        self.assertEqual(self.status(token), 401)

    def test_a_client_certificate_names_its_user(self):
        chain = self.sim.path("admin.pem")
        with open(chain, "w") as file:
            file.write(self.secrets["client_certificate"] + self.secrets["client_key"])
        self.tls.load_cert_chain(chain)
        reply = self.call("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", {}, token=None)
        info = reply.json["status"]["userInfo"]
        self.assertEqual((info["username"], info["groups"]),
                         ("kubernetes-admin", ["system:masters", "system:authenticated"]))

    def test_access_is_reviewed(self):
        def allowed(token, **attributes):
            return self.call("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
                             {"spec": {"resourceAttributes": attributes}}, token=token).json["status"]["allowed"]
        self.assertTrue(allowed(BURST, verb="create", resource="pods", namespace="slurm"))
        self.assertFalse(allowed(BURST, verb="create", resource="pods", namespace="default"))
        self.assertFalse(allowed(READER, verb="delete", resource="pods", namespace="slurm"))


class Tls(KubeTest):
    def test_another_authority_does_not_fit(self):
        connection = http_client.HTTPSConnection(self.server.hostname, self.server.port,
                                                 context=ssl.create_default_context(), timeout=20)
        with self.assertRaises(ssl.SSLCertVerificationError):
            connection.request("GET", "/version")
        self.assertEqual(self.call("GET", "/version").status, 200)

    def test_the_certificate_is_for_every_name_of_the_server(self):
        for name in ("127.0.0.1", "localhost", "kubernetes.default.svc"):
            connection = self.connect()
            connection.connect()
            wrapped = connection.sock
            self.assertIn(wrapped.version(), ("TLSv1.2", "TLSv1.3"))
            names = {value for _, value in wrapped.getpeercert()["subjectAltName"]}
            self.assertIn(name, names)

    def test_only_http_1_1_is_agreed_on(self):
        self.tls.set_alpn_protocols(["h2", "http/1.1"])
        connection = self.connect()
        connection.connect()
        self.assertEqual(connection.sock.selected_alpn_protocol(), "http/1.1")

    def test_many_clients_at_once(self):
        connections = [self.connect() for _ in range(40)]
        for n, connection in enumerate(connections):
            connection.request("POST", PODS, body=json.dumps(pod("p%d" % n)), headers={"Authorization": "Bearer " + BURST})
        self.assertEqual({connection.getresponse().status for connection in connections}, {201})
        self.assertGreaterEqual(self.sim.control("GET", "/kubernetes/connections")["peak_connections"], 40)

    def test_large_lists_arrive_whole(self):
        filler = {"filler": "x" * 200000}
        for n in range(20):
            body = pod("p%02d" % n)
            body["metadata"]["annotations"] = filler
            self.assertEqual(self.call("POST", PODS, body).status, 201)
        reply = self.call("GET", PODS)
        self.assertGreater(len(reply.text), 4000000)
        self.assertEqual(len(reply.json["items"]), 20)


if __name__ == "__main__":
    unittest.main()
