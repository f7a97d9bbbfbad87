# SPDX-License-Identifier: Apache-2.0
"""Keys: authentication, scopes, ceilings and quotas."""

import json
import os
import stat
import subprocess
import threading

import pytest

from daemon import PATIENCE_S, clean_env, keys, wait_until
from test_admission import fill

pytestmark = pytest.mark.privilege

TRUE = {"command": "true"}
SLEEP = {"command": "sleep 100"}


def test_a_request_without_a_key_is_refused_once_a_key_exists(keyed):
    daemon, text = keyed()
    daemon.key = None
    for method, path in (("POST", "/v1/runs"), ("GET", "/v1/runs/abc"), ("DELETE", "/v1/runs/abc"),
                         ("GET", "/v1/languages"), ("GET", "/v1/levels"), ("GET", "/v1/audit"),
                         ("GET", "/metrics"), ("GET", "/nothing"), ("PUT", "/v1/runs")):
        reply = daemon.request(method, path, TRUE if method == "POST" else None)
        assert (reply.status, reply.error["code"]) == (401, "unauthorized"), (method, path)
    for path in ("/healthz", "/readyz", "/openapi.json"):
        assert daemon.get(path).status == 200
    assert daemon.run(TRUE, key=text["boss"])["status"] == "success"


def test_wrong_keys_are_refused(keyed):
    daemon, text = keyed()
    good = daemon.key
    daemon.key = None
    other = "A" if good[-1] != "A" else "B"
    for wrong in (good[:-1], good + "x", good[:-1] + other, good.upper(), good.replace("_", "-"),
                  "x", "dewar_", "dewar_00000000_" + "A" * 43, "a" * 5000, good + " " + good,
                  "'; DROP TABLE key; --", "%s%n"):
        reply = daemon.post(TRUE, headers={"Authorization": "Bearer " + wrong})
        assert reply.status == 401, wrong
        assert wrong[:20] not in reply.body.decode() or len(wrong) < 10
    for header in (good, "Basic " + good, "Bearer", "Bearer ", ""):
        assert daemon.post(TRUE, headers={"Authorization": header}).status == 401, header
    for headers in ({"Authorization": "bearer " + good}, {"Authorization": "Bearer   " + good},
                    {"X-API-Key": good}):
        assert daemon.post(TRUE, headers=headers).status == 200, headers
    assert not any(good in line for line in daemon.log), "a key is in the log"


def test_a_key_is_nowhere_on_disk(keyed):
    daemon, text = keyed()
    assert daemon.run(TRUE)["status"] == "success"
    secret = text["boss"].split("_", 2)[2].encode()  # may contain underscores itself
    assert len(secret) == 43 and (daemon.state / "keys.db").exists()
    for path in daemon.state.iterdir():
        assert secret not in path.read_bytes(), path
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0 or path == daemon.config_path, path


def test_a_revoked_key_is_refused_at_once(keyed):
    daemon, text = keyed(worker=[])
    assert daemon.post(TRUE, key=text["worker"]).status == 200
    daemon.keys("revoke", daemon.made["worker"]["id"])
    assert daemon.post(TRUE, key=text["worker"]).status == 401
    assert daemon.post(TRUE).status == 200, "the other key still works"


def test_revoking_the_last_key_does_not_open_the_daemon(keyed):
    daemon, text = keyed()
    daemon.keys("revoke", daemon.made["boss"]["id"])
    assert daemon.post(TRUE).status == 401
    daemon.key = None
    assert daemon.post(TRUE).status == 401


def test_adding_the_first_key_closes_an_open_daemon(serve):
    daemon = serve()
    assert daemon.post(TRUE).status == 200
    key = daemon.keys("add", "first")["key"]
    assert daemon.post(TRUE).status == 401
    assert daemon.post(TRUE, key=key).status == 200


def test_an_open_daemon_logs_one_warning(serve):
    daemon = serve()
    assert len(daemon.logged("listener.unauthenticated")) == 1
    assert daemon.logged("listener.unauthenticated", open_to="every user of this host")


def test_a_public_address_without_keys_is_refused(dewar, tmp_path):
    done = subprocess.run([dewar, "serve", "--listen", "0.0.0.0:0", "--state", tmp_path / "state"],
                          env=clean_env(), stdin=subprocess.DEVNULL, capture_output=True,
                          timeout=PATIENCE_S, check=False)
    assert done.returncode == 125
    assert b"dewar keys add" in done.stderr and b"ready" not in done.stderr


@pytest.mark.parametrize("scope, allowed", [
    ("run", {"run"}), ("admin", {"metrics"}), ("audit", {"audit"}), ("approve", set()),
    ("run,audit", {"run", "audit"})])
def test_a_scope_permits_only_its_operations(keyed, scope, allowed):
    daemon, text = keyed(it=["--scope", scope])
    replies = {
        "run": daemon.post(TRUE, key=text["it"]),
        "metrics": daemon.get("/metrics", key=text["it"]),
        "audit": daemon.get("/v1/audit", key=text["it"]),
    }
    for name, reply in replies.items():
        assert reply.status == (200 if name in allowed else 403), (name, reply)
        if name not in allowed:
            assert reply.error["code"] == "denied"
    assert daemon.get("/v1/languages", key=text["it"]).status == 200


def test_one_key_neither_sees_nor_ends_the_runs_of_another(keyed):
    daemon, text = keyed(ann=[], bob=[])
    run = daemon.start(SLEEP, key=text["ann"])
    daemon.wait_state(run, "running", key=text["ann"])
    for ask in daemon.get, daemon.delete:
        reply = ask("/v1/runs/" + run, key=text["bob"])
        other = ask("/v1/runs/" + "0" * len(run), key=text["bob"])
        assert reply.status == other.status == 404
        assert reply.body.replace(run.encode(), b"") == \
            other.body.replace(b"0" * len(run), b""), "it cannot tell that there is one"
    assert daemon.state_of(run, key=text["ann"]) == "running"
    assert daemon.get("/v1/runs/" + run).status == 200, "an admin sees all"
    assert daemon.delete("/v1/runs/" + run).status == 202
    done = daemon.wait_state(run, "done", key=text["ann"])
    assert done["result"]["reason"] == "cancelled"
    assert daemon.wait_recorded(run)["intent"]["who"] == \
        "key:%s (ann)" % daemon.made["ann"]["id"]


def test_a_key_has_a_maximum_of_concurrent_runs(keyed):
    """Further runs of this key wait in the queue; those of other keys do not."""
    daemon, text = keyed({"runs": {"concurrent": 4}}, ann=["--concurrent", "1"], bob=[])
    first = daemon.start(SLEEP, key=text["ann"])
    daemon.wait_state(first, "running", key=text["ann"])
    second = daemon.start(SLEEP, key=text["ann"])
    assert daemon.run(TRUE, key=text["bob"])["status"] == "success"
    assert daemon.state_of(second, key=text["ann"]) == "queued"
    assert daemon.delete("/v1/runs/" + first).status == 202
    daemon.wait_state(second, "running")


def test_a_key_has_a_maximum_of_runs_per_minute(keyed):
    daemon, text = keyed(ann=["--runs-per-minute", "2"], bob=[])
    assert daemon.post(TRUE, key=text["ann"]).status == 200
    assert daemon.post(TRUE, key=text["ann"]).status == 200
    reply = daemon.post(TRUE, key=text["ann"])
    # One run becomes available every 30 seconds, some of which have passed.
    while reply.status == 200:
        reply = daemon.post(TRUE, key=text["ann"])
    assert (reply.status, reply.error["code"]) == (429, "busy")
    assert 1 <= int(reply.headers["Retry-After"]) <= 30
    assert "minute" in reply.error["message"]
    assert daemon.post(TRUE, key=text["bob"]).status == 200


def test_a_request_after_retry_after_is_admitted(keyed):
    """A client that retries after the time in Retry-After is admitted."""
    daemon, text = keyed(ann=["--runs-per-minute", "20"])
    waits = []
    while not waits:
        reply = daemon.post(TRUE, key=text["ann"])
        if reply.status == 429:
            waits.append(int(reply.headers["Retry-After"]))
    assert 1 <= waits[0] <= 3
    threading.Event().wait(waits[0])
    assert daemon.post(TRUE, key=text["ann"]).status == 200


def test_cpu_seconds_per_day_are_counted_across_a_restart(keyed, serve):
    burn = {"language": "python", "limits": {"timeout_s": 50}, "code":
            "import time\nwhile time.process_time() < 1.3: pass"}
    daemon, text = keyed(ann=["--cpu-seconds-per-day", "1"], bob=[])
    assert daemon.run(burn, key=text["ann"])["status"] == "success"

    def refused(it):
        # The cpu time of a run is counted shortly after its reply.
        reply = wait_until(lambda: (lambda r: r if r.status != 200 else None)(
            it.post(TRUE, key=text["ann"])), "the quota to be used up")
        assert (reply.status, reply.error["code"]) == (429, "busy"), reply
        assert 1 <= int(reply.headers["Retry-After"]) <= 86400
        assert "cpu seconds" in reply.error["message"]

    refused(daemon)
    assert it_runs(daemon, text["bob"])
    daemon.stop()
    again = serve(state=daemon.state)
    assert again.post(TRUE, key=text["ann"]).status == 429, "it is in the record"
    refused(again)
    assert it_runs(again, text["bob"])


def it_runs(daemon, key):
    return daemon.post(TRUE, key=key).status == 200


def test_a_key_permits_only_its_levels(keyed):
    config = {"runs": {"levels": ["container", "process", "none"]}}
    daemon, text = keyed(config, ann=["--levels", "container"], bob=["--levels", "process,none"])
    for key, level, status in (("ann", "container", 200), ("ann", "process", 403),
                               ("ann", ["container", "process"], 403), ("bob", "process", 200),
                               ("bob", "none", 200), ("bob", "container", 403), ("boss", "none", 200)):
        reply = daemon.post({**TRUE, "level": level}, key=text[key])
        assert reply.status == status, (key, level, reply)
        if status == 200:
            assert reply.json["proof"]["achieved"] == level


@pytest.mark.parametrize("words, name, most", [
    (["--max-timeout", "5s"], "timeout_s", 5), (["--max-memory", "64M"], "memory_mb", 64),
    (["--max-pids", "20"], "pids", 20)])
def test_a_key_has_ceilings_for_limits(keyed, words, name, most):
    daemon, text = keyed(ann=words)
    reply = daemon.post({**TRUE, "limits": {name: most + 1}}, key=text["ann"])
    assert reply.status == 403 and name in reply.error["message"]
    assert daemon.post({**TRUE, "limits": {name: most}}, key=text["ann"]).status == 200
    assert daemon.post({**TRUE, "limits": {name: most + 1}}).status == 200, "of this key alone"


def test_the_queue_alternates_between_keys(keyed):
    """One key has filled the queue; a later run of another key still starts second."""
    daemon, text = keyed({"runs": {"concurrent": 1, "queue": 100}}, ann=[], bob=[])
    running, = fill(daemon, 1)
    greedy = [daemon.start(TRUE, key=text["ann"]) for _ in range(30)]
    late = daemon.start(TRUE, key=text["bob"])
    assert daemon.delete("/v1/runs/" + running).status == 202
    for run in [*greedy, late]:
        daemon.wait_state(run, "done")
    order = [run["intent"]["run"] for run in
             reversed(daemon.get("/v1/audit?limit=100").json["runs"])]
    assert order.index(late) <= 2 + 1, "it waited for %d others" % order.index(late)


def test_one_key_cannot_fill_the_queue(keyed):
    daemon, text = keyed({"runs": {"concurrent": 1, "queue": 10}}, ann=[], bob=[])
    running, = fill(daemon, 1)
    statuses = [daemon.post({**SLEEP, "async": True}, key=text["ann"]).status for _ in range(20)]
    assert 429 in statuses
    reply = daemon.post({**TRUE, "async": True}, key=text["bob"])
    assert reply.status == 202, "there is room for a key that has nothing in the queue"
    assert daemon.state_of(running) == "running"


# ---- the unix socket ----

def test_only_its_user_can_use_the_socket_and_the_log_names_the_peer(serve):
    path = serve.folder / "sock"
    daemon = serve(args=["--socket", path], listen=False, via=path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    result = daemon.run({"command": "echo hi"})
    assert result["stdout"] == "hi\n"
    who = daemon.wait_recorded(result["id"])["intent"]["who"]
    assert who.split(" ")[0] == "uid:%d" % os.geteuid()
    done = subprocess.run(["curl", "-sS", "--unix-socket", path, "http://localhost/healthz"],
                          env=clean_env(), capture_output=True, timeout=60, check=False)
    assert json.loads(done.stdout) == {"status": "ok"}
    daemon.stop()
    assert not path.exists(), "it is removed at the end"


def test_a_socket_that_a_killed_daemon_left_is_replaced(serve):
    path = serve.folder / "sock"
    daemon = serve(args=["--socket", path], listen=False, via=path)
    daemon.process.kill()
    daemon.wait_end()
    assert path.exists()
    again = serve(args=["--socket", path], listen=False, via=path)
    assert again.run(TRUE)["status"] == "success"


def test_a_socket_that_is_in_use_is_left_alone(serve, dewar):
    path = serve.folder / "sock"
    daemon = serve(args=["--socket", path], listen=False, via=path)
    done = subprocess.run([dewar, "serve", "--socket", path, "--state", serve.folder / "other"],
                          env=clean_env(), stdin=subprocess.DEVNULL, capture_output=True,
                          timeout=PATIENCE_S, check=False)
    assert done.returncode == 125 and str(path).encode() in done.stderr
    assert daemon.run(TRUE)["status"] == "success"


def test_a_file_that_is_not_a_socket_is_left_alone(serve, dewar):
    path = serve.folder / "file"
    path.write_text("precious", encoding="utf-8")
    done = subprocess.run([dewar, "serve", "--socket", path, "--state", serve.folder / "state"],
                          env=clean_env(), stdin=subprocess.DEVNULL, capture_output=True,
                          timeout=PATIENCE_S, check=False)
    assert done.returncode == 125
    assert path.read_text(encoding="utf-8") == "precious"


def test_another_user_cannot_connect(serve, must, is_root):
    must(is_root, "only root can be another user")
    path = serve.folder / "sock"
    os.chmod(serve.folder, 0o755)
    serve(args=["--socket", path], listen=False, via=path)
    code = "import socket, sys; socket.socket(socket.AF_UNIX).connect(sys.argv[1])"
    for uid, expected in ((65534, 1), (0, 0)):
        done = subprocess.run(["setpriv", "--reuid", str(uid), "--regid", str(uid),
                               "--clear-groups", "/usr/bin/python3", "-c", code, path],
                              capture_output=True, timeout=60, check=False)
        assert done.returncode == expected, done
        assert expected == 0 or b"PermissionError" in done.stderr
