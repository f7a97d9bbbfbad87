# SPDX-License-Identifier: Apache-2.0
"""A tool call that a person must approve: the user of the client, or another person."""

import json
import pathlib
import subprocess
import threading

import pytest

from daemon import PATIENCE_S, clean_env, wait_until
from served import Server
from test_clients import MODES
from test_wire import (BOTH, CAPABILITIES, INITIALIZE, META, Stdio, Wire, call, modern,  # noqa: F401
                       request)

CODE = "print('approved')"
RUN = {"tool": "code_execute", "arguments": {"language": "python", "code": CODE}}
POLICY = {"version": 1, "default": "allow",
          "rules": [{"name": "sensitive", "decision": "ask", "reason": "It is code.",
                     "when": {"door": "mcp", "language": "python"}}]}
YES = {"action": "accept", "content": {"approve": True, "note": "fine"}}
FORMS = {**META, CAPABILITIES: {"elicitation": {}}}


class Place:
    """A folder with a policy, a configuration and a database of approvals."""

    def __init__(self, folder, dewar, own):
        self.folder = folder
        self.dewar = dewar
        self.state = folder / "state"
        self.policy = folder / "policy.yaml"
        self.policy.write_text(json.dumps({**POLICY, "approvals": {"self": own}}))
        self.config = folder / "dewar.yaml"
        self.config.write_text(json.dumps({"state": str(self.state), "policy": str(self.policy),
                                           "pool": {"disabled": True}, "runs": {"drain": 1}}))
        self.command = [dewar, "mcp", "--audit", str(folder / "audit.db"), "--config",
                        str(self.config)]

    def approve(self, *words, state=None):
        done = subprocess.run([self.dewar, "approve", *words, "--json", "--state",
                               str(state or self.state)], env=clean_env(),
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE_S,
                              check=False)
        assert done.returncode == 0, done
        return json.loads(done.stdout)

    def pending(self, state=None):
        """Wait for the one pending question, and return it."""
        return wait_until(lambda: self.approve("list", state=state), "a question")[0]


@pytest.fixture
def place(dewar, tmp_path):
    return lambda own: Place(tmp_path, dewar, own)


@pytest.fixture
def served(dewar):
    started = []

    def start(place):
        it = Server(pathlib.Path(dewar).with_name("dewar-serve"), str(place.config))
        started.append(it)
        return it

    yield start
    for it in started:
        assert it.finish() == 0, it.log[-10:]


def run_client(node, what):
    done = node.run("approve.mjs", json.dumps(what))
    assert done.returncode == 0, (done.stdout[-3000:], done.stderr[-3000:])
    return json.loads(done.stdout)


def said_yes(said):
    assert len(said["asked"]) == 1, said
    message = said["asked"][0]["message"]
    assert "sensitive" in message and "It is code." in message and CODE in message
    assert said["asked"][0]["requestedSchema"]["required"] == ["approve"]
    assert said["result"]["structuredContent"]["stdout"] == "approved\n", said


@pytest.mark.parametrize("mode", MODES)
def test_the_user_approves_over_stdio(node, place, mode):
    here = place(own=True)
    said_yes(run_client(node, {**MODES[mode], **RUN, "command": here.command, "answer": YES}))
    one, = here.approve("list", "--all")
    assert (one["state"], one["note"], one["door"]) == ("used", "fine", "mcp")
    assert one["decided_by"] == one["who"] and one["who"].startswith("uid:")


@pytest.mark.parametrize("mode", MODES)
def test_the_user_approves_over_http(node, place, served, mode):
    here = place(own=True)
    server = served(here)
    said_yes(run_client(node, {**MODES[mode], **RUN, "url": server.url, "answer": YES}))
    one, = here.approve("list", "--all", state=server.state)
    assert (one["state"], one["who"], one["decided_by"]) == ("used", "local", "local")


@pytest.mark.parametrize("answer", [
    {"action": "decline"}, {"action": "cancel"},
    {"action": "accept", "content": {"approve": False, "note": "rather not"}},
], ids=["decline", "cancel", "false"])
@pytest.mark.parametrize("mode", ["sdk", "client-pin"])
def test_the_user_does_not_approve(node, place, mode, answer):
    here = place(own=True)
    said = run_client(node, {**MODES[mode], **RUN, "command": here.command, "answer": answer})
    assert len(said["asked"]) == 1
    result = said["result"]
    assert result["isError"] is True
    assert result["structuredContent"]["reason"] == "approval_denied", result
    if "content" in answer:
        assert "rather not" in result["content"][0]["text"]
    assert here.approve("list", "--all")[0]["state"] == "denied"


@pytest.mark.parametrize("own,answer", [(True, None), (False, YES)],
                         ids=["no-elicitation", "not-ones-own"])
@pytest.mark.parametrize("mode", ["sdk", "client-pin"])
def test_another_person_approves(node, place, served, mode, own, answer):
    """If the client cannot show forms or must not approve its own call, another person can."""
    here = place(own=own)
    server = served(here)
    said = {}
    thread = threading.Thread(target=lambda: said.update(run_client(
        node, {**MODES[mode], **RUN, "url": server.url, "answer": answer})), daemon=True)
    thread.start()
    one = here.pending(server.state)
    here.approve("yes", one["id"], state=server.state)
    thread.join(PATIENCE_S)
    assert said["asked"] == []
    assert any(one["id"] in text and "sensitive" in text for text in said["progress"]), said
    assert said["result"]["structuredContent"]["stdout"] == "approved\n"


# ---- on the wire ----


@pytest.fixture
def stdio(place):
    made = []

    def start(own):
        here = place(own)
        it = Stdio(here.dewar, here.folder, "--config", str(here.config))
        it.place = here
        made.append(it)
        return it

    yield start
    for it in made:
        if it.process.poll() is None:
            it.process.kill()
            it.process.wait()


def begin(stdio, capabilities):
    stdio.ask({**INITIALIZE, "params": {**INITIALIZE["params"], "capabilities": capabilities}})
    stdio.send(call(1, RUN["arguments"], RUN["tool"]))


def test_an_answer_to_another_question_is_ignored(stdio):
    it = stdio(own=True)
    begin(it, {"elicitation": {}})
    asked = it.receive()
    assert asked["method"] == "elicitation/create" and asked["params"]["mode"] == "form"
    for other in ("approval-0", 1, asked["id"] + "0"):
        it.send({"jsonrpc": "2.0", "id": other, "result": YES})
    it.send({"jsonrpc": "2.0", "id": 7, "method": "ping"})
    assert it.receive()["id"] == 7
    assert it.place.pending()["state"] == "pending"
    it.send({"jsonrpc": "2.0", "id": asked["id"], "result": YES})
    assert it.receive()["result"]["structuredContent"]["stdout"] == "approved\n"


def test_after_a_failed_elicitation_another_person_can_decide(stdio):
    it = stdio(own=True)
    begin(it, {"elicitation": {"form": {}}})
    asked = it.receive()
    it.send({"jsonrpc": "2.0", "id": asked["id"], "error": {"code": -1, "message": "no user"}})
    it.place.approve("yes", it.place.pending()["id"])
    assert it.receive()["result"]["structuredContent"]["stdout"] == "approved\n"


def test_an_elicitation_is_withdrawn_when_another_person_decides(stdio):
    it = stdio(own=True)
    begin(it, {"elicitation": {}})
    asked = it.receive()
    it.place.approve("no", it.place.pending()["id"], "--note", "no way")
    taken = it.receive()
    assert taken["method"] == "notifications/cancelled"
    assert taken["params"]["requestId"] == asked["id"]
    answer = it.receive()
    assert answer["result"]["structuredContent"]["reason"] == "approval_denied"
    assert "no way" in answer["result"]["content"][0]["text"]


def test_a_client_with_url_elicitation_only_is_not_asked(stdio):
    it = stdio(own=True)
    begin(it, {"elicitation": {"url": {}}})
    it.place.approve("yes", it.place.pending()["id"])
    assert it.receive()["result"]["structuredContent"]["stdout"] == "approved\n"


def test_a_call_can_be_cancelled_while_it_waits_for_approval(stdio):
    it = stdio(own=True)
    begin(it, {"elicitation": {}})
    asked = it.receive()
    it.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}})
    assert it.ask(request(2, "ping"))["id"] == 2
    it.send({"jsonrpc": "2.0", "id": asked["id"], "result": YES})
    it.process.stdin.close()
    assert it.wait_end() == b""
    assert it.place.approve("list", "--all")[0]["state"] == "pending"


def test_the_end_of_input_ends_a_call_that_waits_for_approval(stdio):
    it = stdio(own=True)
    begin(it, {"elicitation": {}})
    it.receive()
    it.process.stdin.close()
    assert it.wait_end() == b""


def test_a_modern_call_is_told_that_input_is_required(place, served):
    here = place(own=True)
    server = served(here)
    wire = Wire(server)
    headers = modern("tools/call", RUN["tool"])

    def send(number, **more):
        body = call(number, RUN["arguments"], RUN["tool"], FORMS)
        body["params"].update(more)
        status, answer = wire.post(body, **headers)
        assert status == 200, answer
        return answer["result"]

    first = send(1)
    assert first["resultType"] == "input_required"
    asked = first["inputRequests"]["approval"]
    assert asked["method"] == "elicitation/create" and CODE in asked["params"]["message"]
    assert first["requestState"] == here.pending(server.state)["id"]
    # Responses that do not answer this question are ignored: it is asked again.
    for more in ({}, {"inputResponses": {"approval": YES}},
                 {"inputResponses": {"approval": YES}, "requestState": "0" * 32},
                 {"inputResponses": {"other": YES}, "requestState": first["requestState"]},
                 {"inputResponses": [], "requestState": first["requestState"]}):
        again = send(2, **more)
        assert again["resultType"] == "input_required", more
        assert again["requestState"] == first["requestState"]
    # The approval does not cover another program either.
    other = call(3, {"language": "python", "code": "print('other')"}, RUN["tool"], FORMS)
    other["params"].update(inputResponses={"approval": YES}, requestState=first["requestState"])
    answer = wire.post(other, **headers)[1]["result"]
    assert answer["resultType"] == "input_required"
    assert answer["requestState"] != first["requestState"]

    last = send(4, inputResponses={"approval": YES}, requestState=first["requestState"])
    assert last["resultType"] == "complete"
    assert last["structuredContent"]["stdout"] == "approved\n"
    assert send(5)["resultType"] == "input_required", "one yes is for one run"
    wire.hang_up()
