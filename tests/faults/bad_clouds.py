# SPDX-License-Identifier: Apache-2.0
"""What may be wrong with a cloud: each fault as rules of cloudsim, for each kind of node group."""

# The calls that start machines, look for them and end them.
CALLS = {
    "aws": ("DescribeInstances", "CreateFleet", "CreateTags", "TerminateInstances"),
    "gce": ("Instances.aggregatedList", "Instances.bulkInsert", "Zoneoperations.wait", "Instances.delete"),
    "gce flex": ("Regioninstancegroupmanagers.list", "Regioninstancegroupmanagers.insert",
                 "Regioninstancegroupmanagerresizerequests.insert", "Regionoperations.wait",
                 "Instances.aggregatedList", "Regioninstancegroupmanagerresizerequests.list",
                 "Regioninstancegroupmanagers.deleteInstances", "Regioninstancegroupmanagers.delete"),
    "kubernetes": ("pods.list", "pods.create", "pods.delete"),
    "nodesetpowerstate": ("pods.list", "nodesets.get", "nodesetpowerstates.get", "nodesetpowerstates.create",
                          "nodesetpowerstates.update"),
}
# How each provider says that credentials have expired. Source: EC2's error codes; Google's and Kubernetes' 401.
_EXPIRED = {"aws": {"code": "RequestExpired", "status": 400, "message": "Request has expired."},
            "gce": {"code": "authError", "status": 401, "message": "Invalid Credentials"},
            "gce flex": {"code": "authError", "status": 401, "message": "Invalid Credentials"},
            "kubernetes": {"code": "Unauthorized", "status": 401, "message": "Unauthorized"},
            "nodesetpowerstate": {"code": "Unauthorized", "status": 401, "message": "Unauthorized"}}
_BROKEN = {"aws": {"code": "InternalError"}, "gce": {"code": "backendError"}, "gce flex": {"code": "backendError"},
           "kubernetes": {"code": "InternalError"}, "nodesetpowerstate": {"code": "InternalError"}}
SKEW = 1200        # seconds
THROTTLED = 60     # seconds
LONG = 150_000     # ms, beyond every program's deadline here


class Fault:
    """One fault by name; `rules(kind)` gives cloudsim's rules, `knobs` its knobs, `skew` the seconds of the clocks."""

    def __init__(self, name, rules=None, knobs=None, skew=0, only=None):
        self.name, self._rules, self.knobs, self.skew, self._only = name, rules, knobs or {}, skew, only

    def __str__(self):
        return self.name

    def applies_to(self, kind):
        return self._only is None or kind.name in self._only

    def rules(self, kind):
        return self._rules(kind.name) if self._rules else []


def _each(fault, count=1, **more):
    """The next so many of each of the calls."""
    return lambda kind: [{"action": action, "kind": fault, "count": count, **more} for action in CALLS[kind]]


FAULTS = [
    Fault("throttled for 60 s", _each("throttle", -1, seconds=THROTTLED)),
    Fault("burst of 5xx", lambda kind: [{"action": "*", "kind": "error", "count": 5, "status": 503, **_BROKEN[kind]}]),
    Fault("dropped after effect", _each("drop_after", 2)),
    Fault("no reply", _each("slow", ms=LONG)),
    Fault("reply cut", _each("cut", 2)),
    Fault("wrong type", _each("wrong_content_type", 2)),
    Fault("10 MB of garbage", _each("garbage", 2, bytes=10_000_000)),
    Fault("credentials expire", lambda kind: _each("error", **_EXPIRED[kind])(kind)),
    Fault("clocks 20 min apart", skew=SKEW),
    Fault("machine not seen for 30 s", knobs={"ec2": {"visible_ms": 30_000}}, only=("aws",)),
]
