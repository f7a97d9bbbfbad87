# SPDX-License-Identifier: Apache-2.0
"""Policies over HTTP."""

import http.server
import json
import signal
import subprocess
import threading
import time

import pytest

from daemon import PATIENCE_S, clean_env, total, wait_until, write_policy

pytestmark = pytest.mark.privilege

HELLO = {"language": "python", "code": "print('hello')"}
SOCKET = {"language": "python", "code": "import socket\nprint('hello')"}


def rule(name, decision, when=None, **more):
    return {"name": name, "decision": decision, "when": when or {}, **more}


NO_SOCKETS = {"rules": [rule("no-sockets", "deny", {"findings": "import:socket"},
                             reason="Sockets are for others.")]}


def recorded(daemon, run):
    """The run's decision, its rule and its outcome, according to `dewar audit show`."""
    record = wait_until(lambda: [r for r in [daemon.audit("show", run)] if r.get("end")],
                        "the record to have an end")[0]
    return record["intent"]["decision"], record["intent"]["rule"], record["end"]


def test_an_allowed_run_lists_its_findings(judged):
    daemon = judged(NO_SOCKETS)
    result = daemon.run({"language": "python", "code": "import os\nprint('hello')"})
    assert (result["status"], result["stdout"]) == ("success", "hello\n")
    assert [f["rule"] for f in result["findings"]] == ["import:os"]
    assert any("[import:os]" in warning for warning in result["warnings"])
    decision, name, end = recorded(daemon, result["id"])
    assert (decision, name, end["status"]) == ("allow", "default", "success")


def test_a_denial_is_a_result_with_a_reason(judged):
    daemon = judged(NO_SOCKETS)
    result = daemon.run(SOCKET)
    assert (result["status"], result["reason"], result["stdout"]) == ("error", "policy", "")
    assert result["exit_code"] is None and result["metadata"]["ok"] is False
    for word in ("no-sockets", "import:socket", "Sockets are for others."):
        assert word in result["hint"], result["hint"]
    decision, name, end = recorded(daemon, result["id"])
    assert (decision, name) == ("deny", "no-sockets")
    assert (end["status"], end["reason"]) == ("error", "policy")
    metrics = daemon.metrics(key=daemon.texts["boss"])
    assert total(metrics, "dewar_policy_decisions_total", decision="deny") == 1
    assert total(metrics, "dewar_runs_total", reason="policy") == 1


@pytest.mark.parametrize("accept", ["text/event-stream", "application/x-ndjson"])
def test_a_denied_run_never_starts(judged, accept):
    daemon = judged(NO_SOCKETS)
    stream = daemon.stream(SOCKET, accept)
    events = list(stream)
    stream.close()
    assert [event for event, _ in events] == ["result"]
    assert events[0][1]["reason"] == "policy"
    done = daemon.wait_state(daemon.start(SOCKET), "done")
    assert done["result"]["reason"] == "policy"


def test_a_raised_level_runs_behind_stronger_walls(judged):
    daemon = judged({"rules": [rule("walls", "raise", {"level": "process"}, to="container")]},
                    {"runs": {"levels": ["process", "container"]}})
    result = daemon.run({**HELLO, "level": "process"})
    assert (result["status"], result["proof"]["achieved"]) == ("success", "container")
    assert any("walls" in warning for warning in result["warnings"])
    assert recorded(daemon, result["id"])[:2] == ("raise", "walls")
    assert daemon.run(HELLO)["proof"]["achieved"] == "container"


@pytest.mark.parametrize("levels,words", [
    (["process"], ["--scope", "run"]),
    (["process", "container"], ["--scope", "run", "--level", "process"]),
])
def test_a_level_that_is_not_allowed_is_refused_and_not_a_weaker_one(judged, levels, words):
    daemon = judged({"rules": [rule("walls", "raise", {"level": "process"}, to="container")]},
                    {"runs": {"levels": levels, "level": "process"}}, ann=words)
    reply = daemon.post({"command": "echo ran"})
    assert (reply.status, reply.error["code"]) == (403, "denied"), reply
    assert "container" in reply.error["message"] and "walls" in reply.error["hint"]


def test_rules_can_match_the_caller_and_the_front_door(judged):
    daemon = judged({"rules": [rule("not-her", "deny", {"caller": "key:* (ann)"})]})
    assert daemon.run({"command": "true"})["reason"] == "policy"
    assert daemon.run({"command": "true"}, key=daemon.texts["sue"])["reason"] == "exit"


def test_the_policys_commands_apply_to_a_command(judged):
    daemon = judged({"commands": {"allow": ["echo", "cat"]},
                     "rules": [rule("commands", "deny", {"findings": "command:*"})]})
    assert daemon.run({"command": "echo hi | cat"})["stdout"] == "hi\n"
    result = daemon.run({"command": "echo hi | rev"})
    assert result["reason"] == "policy", result


def test_a_changed_policy_file_applies_at_once(judged):
    daemon = judged({})
    assert daemon.run(SOCKET)["status"] == "success"
    write_policy(daemon.policy_path, NO_SOCKETS)
    wait_until(lambda: daemon.run(SOCKET)["reason"] == "policy", "the new policy to hold")
    wait_until(lambda: len(daemon.logged("policy.loaded", file=str(daemon.policy_path))) >= 2,
               "the log to tell of both")


def test_an_invalid_policy_changes_nothing_and_is_logged_once(judged):
    daemon = judged(NO_SOCKETS)
    write_policy(daemon.policy_path, "version: 1\nrules: [{label: x}]\n")
    entry = daemon.wait_logged("policy.invalid")
    assert "label" in entry["error"] and str(daemon.policy_path) in entry["error"]
    assert daemon.run(SOCKET)["reason"] == "policy"
    assert daemon.run(HELLO)["status"] == "success"
    daemon.policy_path.unlink()
    wait_until(lambda: len(daemon.logged("policy.invalid")) == 2, "the second")
    assert daemon.run(SOCKET)["reason"] == "policy"
    write_policy(daemon.policy_path, {})
    wait_until(lambda: daemon.run(SOCKET)["status"] == "success", "the new policy to hold")
    assert len(daemon.logged("policy.invalid")) == 2


def test_sighup_reloads_the_policy_and_its_path(judged, serve):
    daemon = judged({})
    other = serve.folder / "other.yaml"
    write_policy(other, NO_SOCKETS)
    config = json.loads(daemon.config_path.read_text())
    daemon.configure({**config, "policy": str(other)})
    daemon.kill(signal.SIGHUP)
    daemon.wait_logged("config.reloaded")
    assert daemon.run(SOCKET)["reason"] == "policy"
    daemon.configure({**config, "policy": str(serve.folder / "none.yaml")})
    daemon.kill(signal.SIGHUP)
    entry = daemon.wait_logged("config.rejected")
    assert "none.yaml" in entry["error"]
    assert daemon.run(SOCKET)["reason"] == "policy"


def test_the_daemon_does_not_start_with_an_invalid_policy(dewar, serve):
    path = serve.folder / "policy.yaml"
    write_policy(path, "version: 1\nrulez: []\n")
    config = serve.folder / "config.yaml"
    for policy, word in ((str(path), "rulez"), ("no-such-profile", "no-such-profile"),
                         ("./policy.yaml", "begins with /")):
        config.write_text(json.dumps({"policy": policy}))
        for words in (["--check-config"], ["--listen", "127.0.0.1:0", "--state",
                                           str(serve.folder / "none")]):
            done = subprocess.run([dewar, "serve", "--config", str(config), *words],
                                  env=clean_env(), capture_output=True, timeout=PATIENCE_S,
                                  check=False)
            assert done.returncode == 125 and word in done.stderr.decode(), done
    for policy in ("open", "standard", "strict"):
        config.write_text(json.dumps({"policy": policy}))
        done = subprocess.run([dewar, "serve", "--config", str(config), "--check-config"],
                              env=clean_env(), capture_output=True, timeout=PATIENCE_S, check=False)
        assert done.returncode == 0, done


def test_the_policy_of_the_command_line_overrides_the_configured_one(serve):
    daemon = serve({"policy": "open"}, args=["--policy", "strict"])
    assert daemon.logged("policy.loaded", file="strict")


# ---- the operator's own check ----


def program(folder, name, text):
    path = folder / name
    path.write_text("#!/bin/sh\n" + text)
    path.chmod(0o755)
    return str(path)


def check(folder, text, **more):
    return {"check": {"program": [program(folder, "check", text)], **more}}


def test_the_operators_check_sees_the_request_and_decides(judged, serve):
    seen = serve.folder / "seen"
    daemon = judged(check(serve.folder, """cat > %s
        grep -q forbidden %s && echo '{"decision": "deny", "reason": "not here"}' ||
        echo '{"decision": "allow"}'""" % (seen, seen)))
    assert daemon.run({"command": "echo fine"})["stdout"] == "fine\n"
    letter = json.loads(seen.read_text())
    assert letter["request"]["command"] == "echo fine"
    assert letter["who"].startswith("key:") and letter["who"].endswith("(ann)")
    assert (letter["door"], letter["decision"], letter["level"]) == ("http", "allow", "container")
    result = daemon.run({"command": "echo forbidden"})
    assert (result["reason"], "not here" in result["hint"]) == ("policy", True)
    assert recorded(daemon, result["id"])[:2] == ("deny", "check")


@pytest.mark.parametrize("text", [
    "exit 1",
    "echo nonsense",
    "echo '{\"decision\": \"maybe\"}'",
    "kill -9 $$",
    "echo '{\"decision\": \"allow\"}'; exit 3",
])
def test_a_check_that_fails_denies(judged, serve, text):
    daemon = judged(check(serve.folder, text))
    result = daemon.run({"command": "echo ran"})
    assert (result["reason"], result["stdout"]) == ("policy", ""), result
    assert "check" in result["hint"]


def test_a_check_that_hangs_denies_in_time(judged, serve):
    daemon = judged(check(serve.folder, "sleep 600", timeout_s=1))
    began = time.monotonic()
    result = daemon.run({"command": "echo ran"})
    assert result["reason"] == "policy", result
    assert time.monotonic() - began < PATIENCE_S / 2


def test_a_missing_check_denies(judged, serve):
    daemon = judged({"check": {"program": [str(serve.folder / "nothing")]}})
    assert daemon.run({"command": "echo ran"})["reason"] == "policy"


def test_a_request_that_the_rules_deny_is_not_checked(judged, serve):
    seen = serve.folder / "seen"
    daemon = judged({**NO_SOCKETS, **check(serve.folder, "touch %s; exit 1" % seen)})
    assert "no-sockets" in daemon.run(SOCKET)["hint"]
    assert not seen.exists()


class Listener:
    """A web server for one test, which stores the requests that it gets."""

    def __init__(self, answer=b"{}", delay=None):
        got = self.got = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                got.append(json.loads(body))
                if delay:
                    delay.wait(PATIENCE_S)
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *args):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.handle_error = lambda *args: None  # the client did not wait for the reply
        self.url = "http://127.0.0.1:%d/hook" % self.server.server_port
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()
        self.thread.join(PATIENCE_S)


@pytest.fixture
def listener():
    made = []

    def make(*args, **kwargs):
        made.append(Listener(*args, **kwargs))
        return made[-1]

    yield make
    for it in made:
        it.close()


def test_the_check_can_be_a_url(judged, listener):
    there = listener(b'{"decision": "deny", "reason": "says the web"}')
    daemon = judged({"check": {"url": there.url}})
    result = daemon.run({"command": "echo ran"})
    assert (result["reason"], "says the web" in result["hint"]) == ("policy", True), result
    assert there.got[0]["request"]["command"] == "echo ran"
    there.close()
    assert daemon.run({"command": "echo ran"})["reason"] == "policy"
