# SPDX-License-Identifier: Apache-2.0
"""Approvals over HTTP: waiting runs, decisions, and what an approval covers."""

import base64
import http.client
import json
import random
import signal
import subprocess
import threading
import time

import pytest

from daemon import PATIENCE_S, clean_env, total, wait_until, write_policy
from test_policy import check, listener, recorded, rule  # noqa: F401

pytestmark = pytest.mark.privilege

RUN = {"command": "echo approved"}
ASK = {"rules": [rule("sensitive", "ask", {"commands": ["echo", "sleep"]},
                      reason="It talks.")],
       "approvals": {"expire_s": 3600}}


class Waiting(threading.Thread):
    """A thread with a synchronous POST that waits for its result."""

    def __init__(self, daemon, body, **kwargs):
        super().__init__(daemon=True)
        self.daemon_ = daemon
        self.body = body
        self.kwargs = kwargs
        self.reply = None
        self.start()

    def run(self):
        try:
            self.reply = self.daemon_.post(self.body, **self.kwargs)
        except (OSError, http.client.HTTPException) as error:  # it was killed
            self.reply = error

    def result(self):
        self.join(PATIENCE_S)
        assert self.reply is not None, "it still waits"
        assert self.reply.status == 200, self.reply
        return self.reply.json


def pending(daemon, n=1, all_of_them=False, key="joe"):
    """Wait until there are n approvals, and return them."""
    path = "/v1/approvals" + ("?all=true" if all_of_them else "")

    def look():
        reply = daemon.get(path, key=daemon.texts[key])
        assert reply.status == 200, reply
        found = reply.json["approvals"]
        return (found,) if len(found) == n else None

    return wait_until(look, "%d approvals" % n)[0]


def decide(daemon, approval, decision, key="joe", **more):
    return daemon.request("POST", "/v1/approvals/" + approval, {"decision": decision, **more},
                          key=daemon.texts[key])


def yes(daemon, approval, **more):
    reply = decide(daemon, approval, "yes", **more)
    assert reply.status == 200, reply
    assert reply.json["state"] == "approved"
    return reply.json


# ---- waiting ----


def test_a_waiting_client_gets_the_result_after_the_approval(judged):
    daemon = judged(ASK)
    waiting = Waiting(daemon, RUN)
    one, = pending(daemon)
    assert (one["state"], one["rule"], one["reason"], one["door"]) == (
        "pending", "sensitive", "It talks.", "http")
    assert one["who"].endswith("(ann)") and one["decided_by"] is None
    whole = daemon.get("/v1/approvals/" + one["id"], key=daemon.texts["joe"]).json
    assert whole["request"]["command"] == "echo approved"
    assert waiting.is_alive()
    metrics = daemon.metrics(key=daemon.texts["boss"])
    assert total(metrics, "dewar_pending") == 1 and total(metrics, "dewar_running") == 0

    said = yes(daemon, one["id"], note="go on")
    assert said["decided_by"].endswith("(joe)") and said["note"] == "go on"
    result = waiting.result()
    assert (result["status"], result["stdout"]) == ("success", "approved\n")
    assert result["id"] == one["run"]
    decision, name, end = recorded(daemon, result["id"])
    assert (decision, end["status"]) == ("ask", "success")
    assert name.startswith("sensitive: approved by key:") and one["id"] in name
    used, = pending(daemon, 1, all_of_them=True)
    assert (used["state"], used["used_by"]) == ("used", result["id"])
    metrics = daemon.metrics(key=daemon.texts["boss"])
    assert total(metrics, "dewar_pending") == 0
    assert total(metrics, "dewar_policy_decisions_total", decision="ask") == 1


def test_a_denial_is_a_result_with_approver_and_note(judged):
    daemon = judged(ASK)
    waiting = Waiting(daemon, RUN)
    one, = pending(daemon)
    reply = decide(daemon, one["id"], "no", note="not on a Friday")
    assert (reply.status, reply.json["state"]) == (200, "denied")
    result = waiting.result()
    assert (result["status"], result["reason"]) == ("error", "approval_denied")
    assert result["stdout"] == "" and result["metadata"]["ok"] is False
    for word in ("sensitive", "(joe)", "not on a Friday", one["id"]):
        assert word in result["hint"], result["hint"]
    decision, name, end = recorded(daemon, result["id"])
    assert (decision, name, end["reason"]) == ("ask", "sensitive", "approval_denied")


def test_an_undecided_approval_expires(judged):
    daemon = judged({**ASK, "approvals": {"expire_s": 1}})
    result = daemon.run(RUN)
    assert (result["status"], result["reason"]) == ("error", "approval_expired")
    assert "sensitive" in result["hint"] and "expired" in result["hint"]
    assert recorded(daemon, result["id"])[2]["reason"] == "approval_expired"
    late, = pending(daemon, 1, all_of_them=True)
    assert late["state"] == "expired"
    reply = decide(daemon, late["id"], "yes")
    assert reply.status == 409 and "expired" in reply.error["message"], reply


@pytest.mark.parametrize("accept", ["text/event-stream", "application/x-ndjson"])
def test_a_stream_reports_a_pending_approval(judged, accept):
    daemon = judged(ASK)
    stream = daemon.stream(RUN, accept)
    event, data = stream.next()
    one, = pending(daemon)
    assert event == "pending" and data["id"] == stream.id
    assert data["approval"] == {"id": one["id"], "expires": one["expires"], "rule": "sensitive",
                                "reason": "It talks."}
    yes(daemon, one["id"])
    events = list(stream)
    stream.close()
    assert [event for event, _ in events][:1] == ["start"]
    assert events[-1][0] == "result" and events[-1][1]["stdout"] == "approved\n"


def test_a_polling_client_sees_a_pending_run(judged):
    daemon = judged(ASK)
    run = daemon.start(RUN)
    state = daemon.wait_state(run, "pending")
    one, = pending(daemon)
    assert state["approval"]["id"] == one["id"] and state["approval"]["rule"] == "sensitive"
    yes(daemon, one["id"])
    assert daemon.wait_state(run, "done")["result"]["stdout"] == "approved\n"


def test_a_connection_that_waits_for_approval_is_not_idle(judged):
    daemon = judged(ASK, {"http": {"idle": 1}})
    waiting = Waiting(daemon, RUN)
    stream = daemon.stream({"command": "echo streamed"})
    assert stream.next()[0] == "pending"
    found = pending(daemon, 2)
    time.sleep(2.5)  # longer than a connection may ask for nothing
    for one in found:
        yes(daemon, one["id"])
    assert waiting.result()["stdout"] == "approved\n"
    assert list(stream)[-1][1]["stdout"] == "streamed\n"
    stream.close()


def test_a_run_that_waits_for_approval_occupies_no_worker_or_queue_slot(judged):
    daemon = judged(ASK, {"runs": {"concurrent": 1, "queue": 1}},
                    ann=["--scope", "run", "--concurrent", "1"])
    runs = [daemon.start({"command": "echo %d" % i}) for i in range(1)]
    daemon.wait_state(runs[0], "pending")
    for i in range(1, 5):
        runs.append(daemon.start({"command": "echo %d" % i}))
        daemon.wait_state(runs[-1], "pending")
    assert daemon.run({"command": "true"})["status"] == "success"
    for one in pending(daemon, 5):
        yes(daemon, one["id"])
    for i, run in enumerate(runs):
        assert daemon.wait_state(run, "done")["result"]["stdout"] == "%d\n" % i


def test_the_timeout_starts_at_the_approval(judged):
    daemon = judged(ASK)
    run = daemon.start({"command": "echo approved", "limits": {"timeout_s": 1}})
    daemon.wait_state(run, "pending")
    time.sleep(1.5)  # longer than it has
    one, = pending(daemon)
    yes(daemon, one["id"])
    result = daemon.wait_state(run, "done")["result"]
    assert (result["status"], result["stdout"]) == ("success", "approved\n")


def test_a_run_with_approval_counts_once_per_minute(judged):
    daemon = judged(ASK, ann=["--scope", "run", "--runs-per-minute", "2"])
    run = daemon.start(RUN)
    daemon.wait_state(run, "pending")
    one, = pending(daemon)
    yes(daemon, one["id"])
    assert daemon.wait_state(run, "done")["result"]["status"] == "success"
    assert daemon.post({"command": "true"}).status == 200
    assert daemon.post({"command": "true"}).status == 429


def test_a_caller_has_at_most_twenty_pending_runs(judged):
    daemon = judged(ASK)
    runs = [daemon.start({"command": "echo %d" % i}) for i in range(20)]
    for run in runs:
        daemon.wait_state(run, "pending")
    reply = daemon.post({"command": "echo 20"})
    assert (reply.status, reply.error["code"]) == (429, "busy"), reply
    assert "approval" in reply.error["message"]
    # A request that repeats a pending question counts as well.
    assert daemon.post({"command": "echo 19"}).status == 429
    other = daemon.start({"command": "echo 20"}, key=daemon.texts["sue"])
    daemon.wait_state(other, "pending", key=daemon.texts["sue"])


# ---- ending early ----


def test_a_cancelled_run_cannot_be_approved(judged):
    daemon = judged(ASK)
    run = daemon.start(RUN)
    daemon.wait_state(run, "pending")
    assert daemon.delete("/v1/runs/" + run).status == 202
    done = daemon.wait_state(run, "done")
    assert done["error"]["code"] == "conflict" and "approved" in done["error"]["message"]
    assert total(daemon.metrics(key=daemon.texts["boss"]), "dewar_pending") == 0


def test_a_client_that_disconnects_is_not_waited_for(judged):
    daemon = judged(ASK)
    for close in (True, False):
        stream = daemon.stream(RUN) if close else None
        if stream:
            assert stream.next()[0] == "pending"
            stream.close()
        else:
            body = json.dumps(RUN).encode()
            sock = daemon.raw(b"POST /v1/runs HTTP/1.1\r\nHost: localhost\r\n"
                              b"Authorization: Bearer " + daemon.texts["ann"].encode() +
                              b"\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
                              % len(body) + body)
            wait_until(lambda: total(daemon.metrics(key=daemon.texts["boss"]),
                                     "dewar_pending") == 1, "it to be pending")
            sock.close()
        wait_until(lambda: total(daemon.metrics(key=daemon.texts["boss"]), "dewar_pending") == 0,
                   "it to be over")
    # The question remains, so that a repeated request finds its answer.
    one, = pending(daemon)
    yes(daemon, one["id"])
    assert daemon.run(RUN)["stdout"] == "approved\n"


def test_a_stopping_daemon_ends_waiting_runs_and_keeps_their_approvals(judged, serve):
    daemon = judged(ASK)
    waiting = Waiting(daemon, RUN)
    one, = pending(daemon)
    daemon.stop()
    waiting.join(PATIENCE_S)
    assert waiting.reply.status == 503, waiting.reply
    assert one["id"] in waiting.reply.error["message"]

    config = json.loads(daemon.config_path.read_text())
    again = serve(config, state=daemon.state)
    again.texts, again.key = daemon.texts, daemon.key
    still, = pending(again)
    assert still == one
    yes(again, one["id"])
    result = again.run(RUN)
    assert result["stdout"] == "approved\n"
    assert pending(again, 1, all_of_them=True)[0]["used_by"] == result["id"]
    # The approval was for one run.
    run = again.start(RUN)
    again.wait_state(run, "pending")


def test_an_approval_of_a_killed_daemon_can_be_decided(judged, serve, dewar):
    daemon = judged(ASK)
    Waiting(daemon, RUN)
    one, = pending(daemon)
    daemon.kill(signal.SIGKILL)
    daemon.wait_end()
    done = subprocess.run([dewar, "approve", "yes", one["id"][:12], "--state", str(daemon.state)],
                          env=clean_env(), capture_output=True, timeout=PATIENCE_S, check=False)
    assert done.returncode == 0, done
    again = serve(json.loads(daemon.config_path.read_text()), state=daemon.state)
    again.texts, again.key = daemon.texts, daemon.key
    assert pending(again, 0) == []
    assert again.run(RUN)["stdout"] == "approved\n"


# ---- deciding ----


def test_of_two_simultaneous_approvers_one_is_too_late(judged):
    daemon = judged(ASK)
    for i in range(10):
        run = daemon.start({"command": "echo %d" % i})
        daemon.wait_state(run, "pending")
        one, = pending(daemon)
        replies = {}
        barrier = threading.Barrier(2)

        def say(key, word):
            barrier.wait(PATIENCE_S)
            replies[key] = decide(daemon, one["id"], word, key)

        threads = [threading.Thread(target=say, args=pair)
                   for pair in (("joe", "yes"), ("sue", "no"))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(PATIENCE_S)
        assert sorted(reply.status for reply in replies.values()) == [200, 409], replies
        winner = "joe" if replies["joe"].status == 200 else "sue"
        loser = "sue" if winner == "joe" else "joe"
        assert "(%s)" % winner in replies[loser].error["message"], replies
        result = daemon.wait_state(run, "done")["result"]
        assert result["reason"] == ("exit" if winner == "joe" else "approval_denied")


def test_another_process_may_decide(judged, dewar):
    daemon = judged(ASK)
    waiting = Waiting(daemon, RUN)
    one, = pending(daemon)
    done = subprocess.run([dewar, "approve", "yes", one["id"], "--state", str(daemon.state)],
                          env=clean_env(), capture_output=True, timeout=PATIENCE_S, check=False)
    assert done.returncode == 0, done
    assert waiting.result()["stdout"] == "approved\n"


def test_a_caller_cannot_approve_its_own_request(judged):
    daemon = judged(ASK)
    run = daemon.start(RUN, key=daemon.texts["sue"])
    one, = pending(daemon)
    reply = decide(daemon, one["id"], "yes", key="sue")
    assert (reply.status, reply.error["code"]) == (403, "denied"), reply
    assert daemon.state_of(run, key=daemon.texts["sue"]) == "pending"
    assert decide(daemon, one["id"], "no", key="sue").status == 200
    done = daemon.wait_state(run, "done", key=daemon.texts["sue"])
    assert done["result"]["reason"] == "approval_denied"


def test_a_caller_can_approve_its_own_request_if_the_policy_permits_it(judged):
    daemon = judged({**ASK, "approvals": {"self": True}})
    run = daemon.start(RUN, key=daemon.texts["sue"])
    one, = pending(daemon)
    assert one["allow_self"] is True
    yes(daemon, one["id"], key="sue")
    assert daemon.wait_state(run, "done", key=daemon.texts["sue"])["result"]["reason"] == "exit"


def test_only_the_scope_approve_may_list_and_decide(judged):
    daemon = judged(ASK)
    daemon.start(RUN)
    one, = pending(daemon)
    for key in ("ann", "boss"):
        for method, path, body in (
                ("GET", "/v1/approvals", None), ("GET", "/v1/approvals/" + one["id"], None),
                ("POST", "/v1/approvals/" + one["id"], {"decision": "yes"}),
                ("GET", "/v1/memories", None), ("DELETE", "/v1/memories/" + one["id"], None)):
            reply = daemon.request(method, path, body, key=daemon.texts[key])
            assert (reply.status, reply.error["code"]) == (403, "denied"), (method, path)
    assert pending(daemon)[0]["state"] == "pending"
    # The scope approve does not permit runs.
    assert daemon.post(RUN, key=daemon.texts["joe"]).status == 403


def test_an_invalid_decision_is_refused(judged):
    daemon = judged(ASK)
    daemon.start(RUN)
    one, = pending(daemon)
    path, key = "/v1/approvals/" + one["id"], daemon.texts["joe"]
    for body in ({}, {"decision": "maybe"}, {"decision": True}, {"decision": "yes", "remember": "x"},
                 {"decision": "yes", "note": 1}, {"decision": "yes", "more": 1}, [], "yes",
                 {"decision": "no", "remember": "rule"}, {"decision": "yes", "note": "x" * 2000}):
        reply = daemon.request("POST", path, json.dumps(body).encode(), key=key)
        assert (reply.status, reply.error["code"]) == (400, "invalid"), body
    for body in (b"", b"{", b'{"decision":"yes","decision":"no"}', b"\xff"):
        assert daemon.request("POST", path, body, key=key).status == 400, body
    assert daemon.request("POST", path, b"decision=yes", key=key,
                          headers={"Content-Type": "text/plain"}).status == 415
    for wrong, status in (("0" * 32, 404), ("zz", 400), ("%2e%2e", 400), ("'--", 400)):
        assert daemon.get("/v1/approvals/" + wrong, key=key).status == status, wrong
        assert daemon.request("POST", "/v1/approvals/" + wrong, {"decision": "yes"},
                              key=key).status == status
        assert daemon.delete("/v1/memories/" + wrong, key=key).status == status
    assert daemon.get("/v1/approvals?all=yes", key=key).status == 400
    assert daemon.request("PUT", path, key=key).status == 405
    assert pending(daemon)[0]["state"] == "pending"


def test_many_clients_that_ask_decide_and_leave_at_once(judged):
    """Each run that started used its own approval, and no client waits forever."""
    daemon = judged(ASK, {"runs": {"concurrent": 3}}, bob=["--scope", "run"])
    over = threading.Event()
    results, faults = [], []

    def guarded(fn):
        def run(*args):
            try:
                fn(*args)
            except Exception as error:  # pylint: disable=broad-except
                faults.append(repr(error))
        return run

    @guarded
    def ask(key, seed):
        chance = random.Random(seed)
        for _ in range(40):
            body = {"command": "echo %d" % chance.randrange(4)}
            kind = chance.randrange(4)
            if kind == 0:
                stream = daemon.stream(body, headers={"Authorization": "Bearer " + key})
                stream.next()
                stream.close()
            elif kind == 1:
                run = daemon.start(body, key=key)
                daemon.delete("/v1/runs/" + run, key=key)
            else:
                results.append((body, daemon.run(body, key=key)))

    @guarded
    def answer(key, seed):
        chance = random.Random(seed)
        while not over.is_set():
            for one in daemon.get("/v1/approvals", key=key).json["approvals"]:
                word = chance.choice(["yes", "yes", "no"])
                reply = daemon.request("POST", "/v1/approvals/" + one["id"], {"decision": word},
                                       key=key)
                assert reply.status in (200, 409), reply

    asking = [threading.Thread(target=ask, args=(daemon.texts[key], i))
              for i, key in enumerate(["ann", "bob", "ann", "bob", "ann"])]
    answering = [threading.Thread(target=answer, args=(daemon.texts[key], i))
                 for i, key in enumerate(["joe", "sue"])]
    for thread in asking + answering:
        thread.start()
    for thread in asking:
        thread.join(PATIENCE_S)
        assert not thread.is_alive(), "it waits forever"
    over.set()
    for thread in answering:
        thread.join(PATIENCE_S)
    assert not faults, faults

    reply = daemon.get("/v1/approvals?all=true", key=daemon.texts["joe"])
    approvals = reply.json["approvals"]
    used = [one["used_by"] for one in approvals if one["state"] == "used"]
    assert len(used) == len(set(used))
    assert {result["reason"] for _, result in results} == {"exit", "approval_denied"}
    for body, result in results:
        if result["reason"] == "exit":
            assert result["id"] in used and result["stdout"] == body["command"][5:] + "\n"
        else:
            assert result["id"] not in used and result["stdout"] == ""
    boss = daemon.texts["boss"]
    wait_until(lambda: total(daemon.metrics(key=boss), "dewar_pending") == 0 and
               total(daemon.metrics(key=boss), "dewar_running") == 0, "all to be over")


# ---- what an approval covers ----


def test_an_approval_covers_exactly_the_approved_request_over_http(judged):
    daemon = judged(ASK)
    run = daemon.start(RUN)
    daemon.wait_state(run, "pending")
    one, = pending(daemon)
    assert daemon.delete("/v1/runs/" + run).status == 202
    yes(daemon, one["id"])
    for change in ({"command": "echo  approved"}, {"stdin": "x"}, {"env": {"A": "b"}},
                   {"limits": {"timeout_s": 5}}, {"files": {"f": "eA=="}}, {"args": ["x"]},
                   {"collect": ["f"]}, {"strict": True}):
        other = daemon.start({**RUN, **change})
        daemon.wait_state(other, "pending")
        assert daemon.delete("/v1/runs/" + other).status == 202
    run = daemon.start(RUN, key=daemon.texts["sue"])
    daemon.wait_state(run, "pending", key=daemon.texts["sue"])
    assert daemon.run(RUN)["stdout"] == "approved\n"


def test_one_approval_starts_one_of_several_waiting_runs(judged):
    daemon = judged(ASK)
    runs = [daemon.start(RUN) for _ in range(3)]
    for run in runs:
        daemon.wait_state(run, "pending")
    for left in (2, 1, 0):
        one, = pending(daemon)
        yes(daemon, one["id"])
        wait_until(lambda: sorted(daemon.state_of(run) for run in runs) ==
                   ["done"] * (3 - left) + ["pending"] * left, "one of them to run")
    for run in runs:
        assert daemon.wait_state(run, "done")["result"]["stdout"] == "approved\n"


def test_an_approval_can_cover_later_runs_of_the_same_code(judged):
    daemon = judged(ASK)
    waiting = Waiting(daemon, RUN)
    one, = pending(daemon)
    assert yes(daemon, one["id"], remember="code")["remember"] == "code"
    assert waiting.result()["reason"] == "exit"
    result = daemon.run(RUN)
    assert result["stdout"] == "approved\n"
    decision, name, _ = recorded(daemon, result["id"])
    assert decision == "ask" and name.startswith("sensitive: approved by key:")
    other = daemon.start({"command": "echo other"})
    daemon.wait_state(other, "pending")
    memories = daemon.get("/v1/memories", key=daemon.texts["joe"]).json["memories"]
    assert [(m["remember"], m["sha256"]) for m in memories] == [("code", one["sha256"])]
    forgot = daemon.delete("/v1/memories/" + memories[0]["id"], key=daemon.texts["joe"])
    assert forgot.json == {"forgotten": memories[0]["id"]}
    run = daemon.start(RUN)
    daemon.wait_state(run, "pending")


def test_an_approval_of_a_rule_covers_other_waiting_runs_of_the_caller(judged):
    daemon = judged({**ASK, "rules": ASK["rules"] + [rule("other", "ask",
                                                          {"commands": ["cat"]})]})
    runs = [daemon.start({"command": "echo %d" % i}) for i in range(3)]
    hers = daemon.start(RUN, key=daemon.texts["sue"])
    cat = daemon.start({"command": "cat"})
    found = pending(daemon, 5)
    yes(daemon, [one for one in found if one["run"] == runs[1]][0]["id"], remember="rule")
    for i, run in enumerate(runs):
        assert daemon.wait_state(run, "done")["result"]["stdout"] == "%d\n" % i
    assert daemon.run({"command": "echo more"})["stdout"] == "more\n"
    assert daemon.state_of(hers, key=daemon.texts["sue"]) == "pending"
    assert daemon.state_of(cat) == "pending"


def test_an_approval_for_a_session_ends_with_the_daemon(judged, serve):
    daemon = judged(ASK)
    waiting = Waiting(daemon, RUN)
    one, = pending(daemon)
    yes(daemon, one["id"], remember="session")
    assert waiting.result()["reason"] == "exit"
    assert daemon.run({"command": "echo more"})["stdout"] == "more\n"
    daemon.stop()
    again = serve(json.loads(daemon.config_path.read_text()), state=daemon.state)
    again.texts, again.key = daemon.texts, daemon.key
    run = again.start({"command": "echo more"})
    again.wait_state(run, "pending")


def test_an_approval_shows_the_raised_level(judged):
    daemon = judged({"rules": [rule("walls", "raise", {"level": "process"}, to="container"),
                               *ASK["rules"]]},
                    {"runs": {"levels": ["process", "container"]}})
    run = daemon.start({**RUN, "level": "process"})
    daemon.wait_state(run, "pending")
    one, = pending(daemon)
    whole = daemon.get("/v1/approvals/" + one["id"], key=daemon.texts["joe"]).json
    assert whole["request"]["level"] == "container"
    yes(daemon, one["id"])
    result = daemon.wait_state(run, "done")["result"]
    assert (result["stdout"], result["proof"]["achieved"]) == ("approved\n", "container")


def test_no_approval_is_requested_for_a_run_that_cannot_start(judged):
    daemon = judged({"rules": [rule("walls", "raise", {"level": "process"}, to="container"),
                               *ASK["rules"]]},
                    {"runs": {"levels": ["process"], "level": "process"}})
    assert daemon.post(RUN).status == 403
    assert pending(daemon, 0, all_of_them=True) == []


def test_a_request_too_large_to_review_is_refused(judged):
    daemon = judged(ASK)
    content = base64.b64encode(b"x" * 60000).decode()
    reply = daemon.post({**RUN, "files": {"f%d" % i: content for i in range(20)}})
    assert (reply.status, reply.error["code"]) == (400, "invalid"), reply
    assert "too large" in reply.error["message"]


# ---- webhooks and checks ----


def test_a_webhook_is_notified_of_new_approvals(judged, listener):  # noqa: F811
    there = listener()
    daemon = judged({**ASK, "approvals": {"webhook": there.url}})
    waiting = Waiting(daemon, RUN)
    one, = pending(daemon)
    wait_until(lambda: there.got, "the webhook to be told")
    assert there.got[0]["event"] == "approval.pending"
    told = there.got[0]["approval"]
    for key in ("id", "who", "rule", "reason", "expires", "sha256", "run"):
        assert told[key] == one[key], key
    assert told["excerpt"] == "echo approved" and "request" not in told
    second = Waiting(daemon, RUN)  # the same question
    wait_until(lambda: total(daemon.metrics(key=daemon.texts["boss"]), "dewar_pending") == 2,
               "both to wait")
    third = Waiting(daemon, {"command": "echo third"})
    wait_until(lambda: len(there.got) == 2, "the webhook to be told again")
    assert there.got[1]["approval"]["excerpt"] == "echo third"
    for one in pending(daemon, 2):
        yes(daemon, one["id"], remember="code")
    for thread in (waiting, second, third):
        assert thread.result()["reason"] == "exit"
    assert len(there.got) == 2


def test_a_hanging_or_missing_webhook_delays_no_run(judged, listener):  # noqa: F811
    never = threading.Event()
    there = listener(delay=never)
    try:
        daemon = judged({**ASK, "approvals": {"webhook": there.url}})
        for i in range(3):
            run = daemon.start({"command": "echo %d" % i})
            daemon.wait_state(run, "pending")
            one, = pending(daemon)
            yes(daemon, one["id"])
            assert daemon.wait_state(run, "done")["result"]["reason"] == "exit"
        daemon.wait_logged("webhook.failed")
    finally:
        never.set()


def test_the_operators_check_can_require_approval_over_http(judged, serve):
    daemon = judged(check(serve.folder, "echo '{\"decision\": \"ask\", \"reason\": \"hm\"}'"))
    waiting = Waiting(daemon, RUN)
    one, = pending(daemon)
    assert (one["rule"], one["reason"]) == ("check", "hm")
    yes(daemon, one["id"])
    assert waiting.result()["stdout"] == "approved\n"


def test_a_policy_change_does_not_affect_waiting_runs(judged):
    daemon = judged(ASK)
    waiting = Waiting(daemon, RUN)
    one, = pending(daemon)
    write_policy(daemon.policy_path, {})
    daemon.kill(signal.SIGHUP)
    daemon.wait_logged("config.reloaded")
    assert daemon.run({"command": "echo free"})["stdout"] == "free\n"
    assert waiting.is_alive() and pending(daemon)[0]["id"] == one["id"]
    yes(daemon, one["id"])
    assert waiting.result()["stdout"] == "approved\n"
