# SPDX-License-Identifier: Apache-2.0
"""What botocore makes of the cases that it is given as JSON on stdin; answers as JSON on stdout."""
import base64
import datetime
import json
import os
import sys
import types

import botocore.auth
import botocore.awsrequest
import botocore.credentials
import botocore.session


def sign(case):
    moment = datetime.datetime.utcfromtimestamp(case["now"])

    class FixedTime(datetime.datetime):
        @classmethod
        def utcnow(cls):
            return moment

    botocore.auth.datetime = types.SimpleNamespace(datetime=FixedTime)
    credentials = botocore.credentials.Credentials(case["id"], case["secret"], case["token"] or None)
    request = botocore.awsrequest.AWSRequest(
        method=case["method"], url=case["url"], data=case["body"].encode() or None)
    for name, value in case["headers"]:
        request.headers.add_header(name, value)
    if case["presign"]:
        signer = botocore.auth.SigV4QueryAuth(credentials, case["service"], case["region"], expires=case["valid"])
        signer.add_auth(request)
        return request.url
    botocore.auth.SigV4Auth(credentials, case["service"], case["region"]).add_auth(request)
    return request.headers["Authorization"]


def find_credentials(case):
    os.environ.clear()
    os.environ.update(case["environment"])
    session = botocore.session.Session(profile=case["profile"] or None)
    try:
        found = session.get_credentials()
    except Exception as error:  # what went wrong is the answer
        return {"error": type(error).__name__}
    if found is None:
        return {"error": "none"}
    frozen = found.get_frozen_credentials()
    return {"id": frozen.access_key, "secret": frozen.secret_key, "token": frozen.token or ""}


def eks_token(case):
    """As `aws eks get-token` makes it: a presigned GetCallerIdentity with one more header."""
    moment = datetime.datetime.utcfromtimestamp(case["now"])

    class FixedTime(datetime.datetime):
        @classmethod
        def utcnow(cls):
            return moment

    botocore.auth.datetime = types.SimpleNamespace(datetime=FixedTime)
    # With the package awscrt botocore hands signing over to that, whose clock can't be set.
    botocore.auth.AUTH_TYPE_MAPS["v4-query"] = botocore.auth.SigV4QueryAuth
    os.environ["AWS_STS_REGIONAL_ENDPOINTS"] = "regional"
    client = botocore.session.Session().create_client(
        "sts", region_name=case["region"], aws_access_key_id=case["id"], aws_secret_access_key=case["secret"],
        aws_session_token=case["token"] or None)

    def add_header(request, **_):
        request.headers["x-k8s-aws-id"] = case["cluster"]

    client.meta.events.register("before-sign.sts.GetCallerIdentity", add_header)
    url = client.generate_presigned_url("get_caller_identity", ExpiresIn=60, HttpMethod="GET")
    return "k8s-aws-v1." + base64.urlsafe_b64encode(url.encode()).decode().rstrip("=")


answers = {"sign": sign, "credentials": find_credentials, "eks_token": eks_token}
request = json.load(sys.stdin)
json.dump([answers[request["question"]](case) for case in request["cases"]], sys.stdout)
