# SPDX-License-Identifier: Apache-2.0
"""Clients that vanish: their runs end and leave nothing."""

import json
import socket
import struct

import pytest

from daemon import wait_until
from e2e.helpers import alive, fresh_mark
from wire import request_bytes

pytestmark = pytest.mark.privilege


def sleeper(mark):
    return {"language": "python", "code": "import time; print(1, flush=True); time.sleep(100)",
            "args": [mark]}


def newest(daemon, n=1):
    return [run["intent"]["run"] for run in
            daemon.get("/v1/audit?limit=%d" % n).json["runs"]]


def send(daemon, body, extra=b""):
    return daemon.raw(request_bytes(json.dumps(body).encode(), extra))


def marked(daemon, mark):
    """Wait until the program with this mark runs, and return its run."""
    wait_until(lambda: alive(mark), "the program to run")
    run = newest(daemon)[0]
    assert daemon.recorded(run)["intent"]["request"]["args"] == [mark]
    return run


@pytest.mark.parametrize("extra", [b"", b"Accept: text/event-stream\r\n",
                                   b"Accept: application/x-ndjson\r\n"],
                         ids=["waiting", "events", "lines"])
def test_a_client_that_is_gone_ends_its_run(serve, extra):
    daemon = serve()
    mark = fresh_mark()
    sock = send(daemon, sleeper(mark), extra)
    run = marked(daemon, mark)
    data = b""
    while extra and b"stdout" not in data:
        data += sock.recv(10000)
    sock.close()
    daemon.wait_recorded(run, reason="cancelled")
    wait_until(lambda: not alive(mark), "the program to be gone")
    assert daemon.run({"command": "echo on"})["stdout"] == "on\n"


def test_a_reset_connection_ends_its_run(serve):
    """A TCP reset, as after a crash of the client's host."""
    daemon = serve()
    mark = fresh_mark()
    sock = send(daemon, sleeper(mark), b"Accept: text/event-stream\r\n")
    run = marked(daemon, mark)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    sock.close()
    daemon.wait_recorded(run, reason="cancelled")
    wait_until(lambda: not alive(mark), "the program to be gone")


def test_a_run_whose_client_left_the_queue_never_runs(serve):
    daemon = serve({"runs": {"concurrent": 1}})
    first = daemon.start({"command": "sleep 100"})
    daemon.wait_state(first, "running")
    mark = fresh_mark()
    sock = send(daemon, sleeper(mark))
    wait_until(lambda: "dewar_queue_length 1\n" in daemon.get("/metrics").body.decode(),
               "it to be queued")
    sock.close()
    wait_until(lambda: "dewar_queue_length 0\n" in daemon.get("/metrics").body.decode(),
               "it to leave the queue")
    daemon.delete("/v1/runs/" + first)
    daemon.wait_state(first, "done")
    assert daemon.run({"command": "echo on"})["stdout"] == "on\n"
    assert not alive(mark)
    assert not [run for run in daemon.get("/v1/audit").json["runs"]
                if run["intent"]["request"].get("args") == [mark]], "no record: no run"


def test_async_goes_on_without_its_client(serve):
    daemon = serve()
    sock = send(daemon, {"command": "sleep 1; echo done", "async": True})
    data = sock.recv(10000)
    sock.close()
    assert b" 202 " in data
    run = json.loads(data.partition(b"\r\n\r\n")[2])["id"]
    assert daemon.wait_state(run, "done")["result"]["stdout"] == "done\n"


def test_many_vanished_clients_leave_no_runs(serve):
    daemon = serve({"runs": {"concurrent": 4}})
    marks = [fresh_mark() for _ in range(30)]
    socks = [send(daemon, sleeper(mark), b"Accept: text/event-stream\r\n" * (i % 2))
             for i, mark in enumerate(marks)]
    wait_until(lambda: sum(bool(alive(mark)) for mark in marks) >= 4, "four to run")
    for sock in socks:
        sock.close()
    wait_until(lambda: not any(alive(mark) for mark in marks), "all programs to be gone")
    for run in daemon.get("/v1/audit").json["runs"]:
        daemon.wait_recorded(run["intent"]["run"], reason="cancelled")
    assert daemon.run({"command": "echo on"})["stdout"] == "on\n"
    assert daemon.audit("verify")["sound"]
