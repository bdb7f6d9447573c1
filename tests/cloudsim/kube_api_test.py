# SPDX-License-Identifier: Apache-2.0
"""The Kubernetes API over TLS: what kubectl can't reach, and errors in full."""
import http.client
import json
import unittest

from kube import ADMIN, KubeTest, PODS, STATES, pod
from simulator import wait_until


class Objects(KubeTest):
    def refused(self, reply, code, reason, message=None):
        self.assertEqual((reply.status, reply.json["reason"], reply.json["code"]), (code, reason, code), reply.text)
        self.assertEqual((reply.json["kind"], reply.json["status"]), ("Status", "Failure"))
        if message is not None:
            self.assertEqual(reply.message, message)
        return reply.json

    def test_a_created_pod_has_metadata_defaults_and_a_phase(self):
        made = self.create("gpu-1")
        self.assertEqual(made["status"]["phase"], "Pending")
        self.assertEqual(made["metadata"]["namespace"], "slurm")
        self.assertRegex(made["metadata"]["uid"], "^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$")
        self.assertRegex(made["metadata"]["creationTimestamp"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
        self.assertEqual(made["spec"]["restartPolicy"], "Always")
        other = self.create("gpu-2")
        self.assertGreater(int(other["metadata"]["resourceVersion"]), int(made["metadata"]["resourceVersion"]))

    def test_whoever_asks_for_metadata_alone_gets_no_more(self):
        form = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json"
        for method, path, body in (("POST", PODS, pod("gpu-1")), ("GET", PODS + "/gpu-1", None),
                                   ("DELETE", PODS + "/gpu-1", None)):
            reply = self.call(method, path, body, accept=form)
            self.assertLess(reply.status, 300, reply.text)
            self.assertEqual(set(reply.json), {"kind", "apiVersion", "metadata"}, method)
            self.assertEqual(reply.json["kind"], "PartialObjectMetadata")
            self.assertEqual(reply.json["metadata"]["name"], "gpu-1")
        self.refused(self.call("GET", PODS + "/no", accept=form), 404, "NotFound", 'pods "no" not found')

    def test_generated_names_are_unique(self):
        body = pod("x")
        body["metadata"] = {"generateName": "gpu-"}
        names = {self.call("POST", PODS, body).json["metadata"]["name"] for _ in range(5)}
        self.assertEqual(len(names), 5)
        self.assertTrue(all(name.startswith("gpu-") and len(name) == 9 for name in names))

    def test_what_exists_is_not_created_again(self):
        self.create("gpu-1")
        status = self.refused(self.call("POST", PODS, pod("gpu-1")), 409, "AlreadyExists", 'pods "gpu-1" already exists')
        self.assertEqual(status["details"], {"name": "gpu-1", "kind": "pods"})

    def test_a_terminating_pod_keeps_its_name(self):
        self.set_knobs(terminate_ms=600000)
        self.create("gpu-1")
        self.running("gpu-1")
        gone = self.call("DELETE", PODS + "/gpu-1")
        self.assertEqual((gone.status, gone.json["metadata"]["deletionGracePeriodSeconds"]), (200, 30))
        self.assertIn("deletionTimestamp", gone.json["metadata"])
        self.refused(self.call("POST", PODS, pod("gpu-1")), 409, "AlreadyExists",
                     'object is being deleted: pods "gpu-1" already exists')
        self.call("DELETE", PODS + "/gpu-1", {"gracePeriodSeconds": 0})
        self.create("gpu-1")

    def test_nothing_is_found_where_nothing_is(self):
        self.refused(self.call("GET", PODS + "/no"), 404, "NotFound", 'pods "no" not found')
        self.refused(self.call("DELETE", PODS + "/no"), 404, "NotFound", 'pods "no" not found')
        self.refused(self.call("POST", "/api/v1/namespaces/no/pods", pod("x")), 404, "NotFound",
                     'namespaces "no" not found')
        missing = self.call("GET", "/apis/slurm.nebius.ai/v1/namespaces/slurm/nodesets")
        self.assertEqual((missing.status, missing.text), (404, "404 page not found\n"))
        self.assertEqual(self.call("GET", "/api/v1/namespaces/no/pods").json["items"], [])

    def test_preconditions_protect_a_newer_pod(self):
        made = self.create("gpu-1")
        uid = made["metadata"]["uid"]
        other = self.call("DELETE", PODS + "/gpu-1", {"preconditions": {"uid": "abc"}})
        self.refused(other, 409, "Conflict", 'Operation cannot be fulfilled on pods "gpu-1": Precondition failed: UID in '
                                             "precondition: abc, UID in object meta: " + uid)
        self.assertIsNotNone(self.pod("gpu-1"))
        self.refused(self.call("DELETE", PODS + "/gpu-1", {"preconditions": {"resourceVersion": "1"}}), 409, "Conflict")
        body = {"kind": "DeleteOptions", "apiVersion": "v1", "gracePeriodSeconds": 0, "propagationPolicy": "Background",
                "preconditions": {"uid": uid}}
        self.assertEqual(self.call("DELETE", PODS + "/gpu-1", body).status, 200)
        self.assertIsNone(self.pod("gpu-1"))

    def test_dry_runs_change_nothing(self):
        self.assertEqual(self.call("POST", PODS, pod("gpu-1"), dryRun="All").status, 201)
        self.assertIsNone(self.pod("gpu-1"))
        self.create("gpu-1")
        self.assertEqual(self.call("DELETE", PODS + "/gpu-1", dryRun="All").status, 200)
        self.assertNotIn("deletionTimestamp", self.pod("gpu-1")["metadata"])

    def test_unknown_fields_are_refused_warned_of_or_ignored(self):
        body = pod("gpu-1", imagee="x")
        self.refused(self.call("POST", PODS, body, fieldValidation="Strict"), 400, "BadRequest",
                     'Pod in version "v1" cannot be handled as a Pod: strict decoding error: unknown field '
                     '"spec.containers[0].imagee"')
        warned = self.call("POST", PODS, body)
        self.assertEqual(warned.headers["Warning"], '299 - "unknown field \\"spec.containers[0].imagee\\""')
        self.assertNotIn("imagee", warned.json["spec"]["containers"][0])
        body["metadata"]["name"] = "gpu-2"
        self.assertIsNone(self.call("POST", PODS, body, fieldValidation="Ignore").headers["Warning"])

    def test_values_of_a_wrong_type_are_bad_requests(self):
        self.refused(self.call("POST", PODS, pod("a", spec={"hostname": 3})), 400, "BadRequest",
                     'Pod in version "v1" cannot be handled as a Pod: json: cannot unmarshal number into Go struct field '
                     "Pod.spec.hostname of type string")
        self.refused(self.call("POST", PODS, pod("a", resources={"limits": {"cpu": "four"}})), 400, "BadRequest",
                     "Pod in version \"v1\" cannot be handled as a Pod: quantities must match the regular expression "
                     "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'")
        self.refused(self.call("POST", PODS, [1]), 400, "BadRequest")
        self.refused(self.call("POST", PODS, {"apiVersion": "v1", "kind": "Secret"}), 400, "BadRequest")
        wrong = pod("a")
        wrong["metadata"]["namespace"] = "default"
        self.refused(self.call("POST", PODS, wrong), 400, "BadRequest",
                     "the namespace of the provided object does not match the namespace sent on the request")

    def test_invalid_objects_come_with_causes(self):
        status = self.refused(self.call("POST", PODS, {"metadata": {"name": "a"}, "spec": {}}), 422, "Invalid",
                              'Pod "a" is invalid: spec.containers: Required value')
        self.assertEqual(status["details"]["causes"], [
            {"reason": "FieldValueRequired", "message": "Required value", "field": "spec.containers"}])
        for body, field, reason in (
                (pod("GPU_1"), "metadata.name", "FieldValueInvalid"),
                (pod("a", spec={"hostname": "a.b"}), "spec.hostname", "FieldValueInvalid"),
                (pod("a", image=""), "spec.containers[0].image", "FieldValueRequired"),
                (pod("a", labels={"x": "a b"}), "metadata.labels", "FieldValueInvalid"),
                (pod("a", labels={"x y": "b"}), "metadata.labels", "FieldValueInvalid"),
                (pod("a", spec={"restartPolicy": "no"}), "spec.restartPolicy", "FieldValueNotSupported"),
                (pod("a", volumeMounts=[{"name": "v", "mountPath": "/v"}]), "spec.containers[0].volumeMounts[0].name",
                 "FieldValueNotFound"),
                (pod("a", resources={"requests": {"cpu": 4}, "limits": {"cpu": 2}}),
                 "spec.containers[0].resources.requests", "FieldValueInvalid"),
                (pod("a", resources={"requests": {"nvidia.com/gpu": 1}}), "spec.containers[0].resources.limits",
                 "FieldValueRequired")):
            with self.subTest(field):
                causes = self.refused(self.call("POST", PODS, body), 422, "Invalid")["details"]["causes"]
                self.assertEqual([(cause["field"], cause["reason"]) for cause in causes], [(field, reason)])

    def test_a_pods_template_cannot_be_changed(self):
        self.create("gpu-1")
        reply = self.call("PATCH", PODS + "/gpu-1", {"spec": {"hostname": "other"}}, kind="application/merge-patch+json")
        status = self.refused(reply, 422, "Invalid")
        self.assertEqual(status["details"]["causes"][0]["reason"], "FieldValueForbidden")
        self.assertIn("pod updates may not change fields other than", reply.message)
        good = self.call("PATCH", PODS + "/gpu-1", {"metadata": {"labels": {"a": "b"}}},
                         kind="application/strategic-merge-patch+json")
        self.assertEqual(good.json["metadata"]["labels"], {"a": "b"})

    def test_status_is_written_through_its_subresource_only(self):
        self.set_knobs(kubelet=False)
        made = self.create("gpu-1")
        made["status"] = {"phase": "Running", "podIP": "127.20.0.9"}
        made["metadata"]["labels"] = {"no": "no"}
        self.assertEqual(self.call("PUT", PODS + "/gpu-1/status", made).status, 200)
        found = self.pod("gpu-1")
        self.assertEqual((found["status"]["podIP"], found["metadata"].get("labels", {})), ("127.20.0.9", {}))
        found["status"] = {"phase": "Failed"}
        self.assertEqual(self.call("PUT", PODS + "/gpu-1", found).status, 200)
        self.assertEqual(self.pod("gpu-1")["status"]["phase"], "Running")

    def test_updates_of_an_old_version_conflict(self):
        state = {"apiVersion": "slurm.nebius.ai/v1alpha1", "kind": "NodeSetPowerState", "metadata": {"name": "worker"},
                 "spec": {"nodeSetRef": "worker", "activeNodes": [1]}}
        first = self.call("POST", STATES, state).json
        first["spec"]["activeNodes"] = [1, 2]
        self.assertEqual(self.call("PUT", STATES + "/worker", first).status, 200)
        self.refused(self.call("PUT", STATES + "/worker", first), 409, "Conflict",
                     'Operation cannot be fulfilled on nodesetpowerstates.slurm.nebius.ai "worker": the object has been '
                     "modified; please apply your changes to the latest version and try again")
        self.refused(self.call("PUT", STATES + "/worker", state), 422, "Invalid",
                     'NodeSetPowerState.slurm.nebius.ai "worker" is invalid: metadata.resourceVersion: Invalid value: '
                     "0x0: must be specified for an update")
        first["metadata"]["resourceVersion"] = self.call("GET", STATES + "/worker").json["metadata"]["resourceVersion"]
        first["spec"]["activeNodes"] = [1, 1]
        self.refused(self.call("PUT", STATES + "/worker", first), 422, "Invalid")

    def test_faults_strike_as_they_are_told(self):
        self.sim.fault("pods.create", "throttle", ms=2000)
        reply = self.call("POST", PODS, pod("a"))
        self.assertEqual((reply.status, reply.headers["Retry-After"]), (429, "2"))
        self.sim.fault("pods.create", "error", status=503, code="ServiceUnavailable", message="no", ms=1000)
        reply = self.call("POST", PODS, pod("a"))
        self.refused(reply, 503, "ServiceUnavailable", "no")
        self.assertEqual(reply.headers["Retry-After"], "1")
        self.assertIsNone(self.pod("a"))
        for kind, made in (("drop_before", False), ("drop_after", True)):
            self.sim.fault("pods.create", kind, match={"name": kind.replace("_", "-")})
            with self.assertRaises(OSError):
                self.call("POST", PODS, pod(kind.replace("_", "-")))
            self.assertEqual(self.pod(kind.replace("_", "-")) is not None, made)
        self.sim.fault("pods.list", "garbage")
        with self.assertRaises(ValueError):
            self.assertEqual(self.call("GET", PODS).json, None)
        calls = self.sim.calls("pods.create")
        self.assertEqual((calls["attempts"], calls["errors"]),
                         (4, {"TooManyRequests": 1, "ServiceUnavailable": 1, "drop_before": 1, "drop_after": 1}))

    def test_buckets_throttle(self):
        self.sim.control("POST", "/knobs", buckets={"pods.create": {"capacity": 2, "refill": 0.25}})
        replies = [self.call("POST", PODS, pod("p%d" % n)) for n in range(3)]
        self.assertEqual([reply.status for reply in replies], [201, 201, 429])
        self.assertEqual(replies[2].headers["Retry-After"], "4")

    def test_a_connection_serves_many_calls_and_chunked_bodies(self):
        connection = self.connect()
        for n in range(3):
            self.assertEqual(self.call("POST", PODS, pod("p%d" % n), connection=connection).status, 201)
        connection.request("POST", PODS, body=iter([b'{"metadata": {"name": "c"}, ', json.dumps(
            {"spec": pod("c")["spec"]})[1:].encode()]), headers={"Authorization": "Bearer " + ADMIN},
            encode_chunked=True)
        reply = connection.getresponse()
        self.assertEqual((reply.status, json.loads(reply.read())["metadata"]["name"]), (201, "c"))
        self.assertEqual(self.sim.control("GET", "/kubernetes/connections")["peak_connections"], 1)


class Lists(KubeTest):
    def names(self, reply):
        return [item["metadata"]["name"] for item in reply.json["items"]]

    def test_pages_show_one_version_of_the_list(self):
        for n in range(5):
            self.create("p%d" % n)
        first = self.call("GET", PODS, limit=2)
        self.assertEqual((self.names(first), first.json["metadata"]["remainingItemCount"]), (["p0", "p1"], 3))
        self.call("DELETE", PODS + "/p3", {"gracePeriodSeconds": 0})
        self.create("p9")
        second = self.call("GET", PODS, limit=2, **{"continue": first.json["metadata"]["continue"]})
        third = self.call("GET", PODS, limit=2, **{"continue": second.json["metadata"]["continue"]})
        self.assertEqual(self.names(second) + self.names(third), ["p2", "p3", "p4"])
        self.assertNotIn("continue", third.json["metadata"])
        self.assertEqual(third.json["metadata"]["resourceVersion"], first.json["metadata"]["resourceVersion"])

    def test_an_old_continue_token_has_expired(self):
        for n in range(3):
            self.create("p%d" % n)
        token = self.call("GET", PODS, limit=1).json["metadata"]["continue"]
        self.create("p1a")
        self.sim.control("POST", "/kubernetes/compact")
        gone = self.call("GET", PODS, limit=1, **{"continue": token})
        self.assertEqual((gone.status, gone.json["reason"]), (410, "Expired"))
        self.assertTrue(gone.message.startswith("The provided continue parameter is too old to display a consistent"))
        rest = self.call("GET", PODS, **{"continue": gone.json["metadata"]["continue"]})
        self.assertEqual(self.names(rest), ["p1", "p1a", "p2"])
        self.assertEqual(self.call("GET", PODS, **{"continue": "!"}).status, 400)

    def test_selectors_choose(self):
        for name, labels in (("a", {"g": "x"}), ("b", {"g": "y", "z": "1"}), ("c", {})):
            self.create(name, labels=labels)
        for selector, names in (("g=x", "a"), ("g==x", "a"), ("g!=x", "bc"), ("g in (x, y)", "ab"), ("g notin (x)", "bc"),
                                ("g", "ab"), ("!g", "c"), ("g,z=1", "b"), ("g in (x,y),!z", "a")):
            with self.subTest(selector):
                self.assertEqual("".join(self.names(self.call("GET", PODS, labelSelector=selector))), names)
        self.assertEqual(self.call("GET", PODS, labelSelector="g like x").status, 400)
        self.assertEqual(self.names(self.call("GET", PODS, fieldSelector="metadata.name=b")), ["b"])
        node = self.running("a")["spec"]["nodeName"]
        self.assertEqual(self.names(self.call("GET", PODS, fieldSelector="spec.nodeName=" + node)), ["a"])
        self.running("b"), self.running("c")
        self.assertEqual(self.names(self.call("GET", PODS, fieldSelector="status.phase!=Running")), [])
        bad = self.call("GET", PODS, fieldSelector="spec.foo=b")
        self.assertEqual(bad.status, 400)
        self.assertEqual(bad.message, 'Unable to find "/v1, Resource=pods" that match label selector "", field selector '
                                      '"spec.foo=b": field label not supported: spec.foo')

    def test_a_field_can_be_missing(self):
        self.create("a")
        self.running("a")
        self.sim.fault("pods.list", "missing_field", field="status.podIP")
        item, = self.call("GET", PODS).json["items"]
        self.assertNotIn("podIP", item["status"])
        self.assertIn("podIPs", item["status"])
        self.assertIn("podIP", self.pod("a")["status"])

    def test_a_version_of_the_future_times_out(self):
        reply = self.call("GET", PODS, resourceVersion=10 ** 9)
        self.assertEqual((reply.status, reply.json["reason"]), (504, "Timeout"))
        self.assertIn("Too large resource version: 1000000000, current: ", reply.message)


class Watches(KubeTest):
    def test_events_come_in_order_and_only_those_selected(self):
        self.set_knobs(kubelet=False)
        version = self.call("GET", PODS).json["metadata"]["resourceVersion"]
        _, events = self.watch(resourceVersion=version, labelSelector="a=b")
        self.create("other")
        self.create("one", labels={"a": "b"})
        self.call("PATCH", PODS + "/one", {"metadata": {"labels": {"c": "d"}}}, kind="application/merge-patch+json")
        self.call("PATCH", PODS + "/one", {"metadata": {"labels": {"a": None}}}, kind="application/merge-patch+json")
        seen = [next(events) for _ in range(3)]
        self.assertEqual([event["type"] for event in seen], ["ADDED", "MODIFIED", "DELETED"])
        self.assertEqual({event["object"]["metadata"]["name"] for event in seen}, {"one"})
        versions = [int(event["object"]["metadata"]["resourceVersion"]) for event in seen]
        self.assertEqual(versions, sorted(set(versions)))

    def test_what_happened_before_the_watch_is_told(self):
        version = self.call("GET", PODS).json["metadata"]["resourceVersion"]
        self.create("one")
        self.running("one")
        self.call("DELETE", PODS + "/one", {"gracePeriodSeconds": 0})
        _, events = self.watch(resourceVersion=version)
        seen = []
        while "DELETED" not in seen:
            seen.append(next(events)["type"])
        self.assertEqual((seen[0], seen[-1]), ("ADDED", "DELETED"))
        self.create("two")
        _, fresh = self.watch()
        self.assertEqual(next(fresh)["object"]["metadata"]["name"], "two")

    def test_a_compacted_version_has_expired(self):
        version = self.call("GET", PODS).json["metadata"]["resourceVersion"]
        self.create("one")
        self.running("one")
        self.sim.control("POST", "/kubernetes/compact")
        _, events = self.watch(resourceVersion=version)
        error, = list(events)
        self.assertEqual((error["type"], error["object"]["code"], error["object"]["reason"]), ("ERROR", 410, "Expired"))
        self.assertTrue(error["object"]["message"].startswith("too old resource version: %s (" % version))

    def test_bookmarks_carry_a_version_and_timeouts_end_a_watch(self):
        self.set_knobs(bookmark_ms=20)
        _, events = self.watch(allowWatchBookmarks="true", timeoutSeconds=1)
        seen = list(events)
        self.assertEqual({event["type"] for event in seen}, {"BOOKMARK"})
        self.assertEqual(seen[-1]["object"]["kind"], "Pod")
        self.assertTrue(seen[-1]["object"]["metadata"]["resourceVersion"])

    def test_a_watch_is_cut_in_the_middle_of_an_event(self):
        self.create("one")
        self.sim.fault("pods.watch", "cut")
        connection = self.connect()
        connection.request("GET", PODS + "?watch=1", headers={"Authorization": "Bearer " + ADMIN})
        with self.assertRaises((http.client.IncompleteRead, OSError)):
            connection.getresponse().read()
        self.sim.fault("pods.watch", "drop_after")
        with self.assertRaises(OSError):
            self.watch()

    def test_watches_are_closed_by_the_server(self):
        _, events = self.watch()
        wait_until(lambda: self.sim.control("GET", "/kubernetes/connections")["watches"] == 1)
        self.sim.control("POST", "/kubernetes/watches/close")
        self.assertEqual(list(events), [])


if __name__ == "__main__":
    unittest.main()
