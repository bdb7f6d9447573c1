# SPDX-License-Identifier: Apache-2.0
"""What Google's own library makes of the cases that it is given as JSON on stdin; answers as JSON on stdout."""
import datetime
import json
import sys
import types
import urllib.parse

import google.auth.compute_engine
import google.auth.jwt
import google.oauth2.credentials
import google.oauth2.service_account

SCOPE = "https://www.googleapis.com/auth/cloud-platform"


def stop_time(case):
    google.auth._helpers.utcnow = lambda: datetime.datetime.utcfromtimestamp(case["now"])


def ask(case):
    """The last request that it sends for a token."""
    stop_time(case)
    content = case["credentials"]
    if content["type"] == "service_account":
        found = google.oauth2.service_account.Credentials.from_service_account_info(content, scopes=[SCOPE])
    elif content["type"] == "authorized_user":
        found = google.oauth2.credentials.Credentials.from_authorized_user_info(content)
    else:
        found = google.auth.compute_engine.Credentials()
    sent = []

    def request(url, method="GET", body=b"", headers=None, **_):
        body = body.decode() if isinstance(body, bytes) else body
        form = dict(urllib.parse.parse_qsl(body))
        sent.append({"url": url, "method": method, "headers": dict(headers), "form": form})
        reply = {"access_token": "t", "expires_in": 3600, "email": "default", "scopes": []}
        return types.SimpleNamespace(
            status=200, data=json.dumps(reply).encode(), headers={"content-type": "application/json"})

    found.refresh(request)
    return sent[-1]


def read(case):
    """What it reads in a signed assertion, once it has verified signature and times."""
    stop_time(case)
    return {"header": google.auth.jwt.decode_header(case["assertion"]),
            "claims": google.auth.jwt.decode(case["assertion"], certs=case["public_key"])}


answers = {"ask": ask, "read": read}
question = json.load(sys.stdin)
json.dump([answers[question["question"]](case) for case in question["cases"]], sys.stdout)
