# SPDX-License-Identifier: Apache-2.0
"""An engine that fails during a run: a typed result by the deadline, no crash, nothing left behind.

The faulty engine is a proxy in front of a real one, so everything before the fault is normal.
"""

import json
import re
import time

import pytest

from e2e.helpers import MARGIN_S, assert_success, brief, wait_until
from fakes import faulty_engine

pytestmark = pytest.mark.engines("docker")

TIMEOUT_S = 3
# The requests that every run makes, in their order.
STEPS = {
    "ping": r"(GET|HEAD) .*(/_ping|/version)", "create": r"POST .*/containers/create",
    "attach": r"POST .*/attach", "start": r"POST .*/start",
    "inspect": r"GET .*/containers/[^/]+/json",
}
FAULTS = {
    "hang": faulty_engine.hang, "hang up": faulty_engine.hang_up, "garbage": faulty_engine.garbage,
    "500": faulty_engine.says(500, '{"message":"out of order"}'),
    "409": faulty_engine.says(409, '{"message":"conflict"}'),
    "200 of nonsense": faulty_engine.says(200, '{"Id": 5, "State": [], "HostConfig": "x"}'),
    "not json": faulty_engine.says(201, "\0\xff}"), "cut": faulty_engine.cut,
}


def assert_typed(r):
    """The result is a failure of Dewar or the end by a limit, but never a success."""
    assert r["status"] in ("error", "timeout"), brief(r)
    assert r["reason"] in ("unavailable", "internal", "timeout_wall"), brief(r)
    assert r["hint"], brief(r)
    if r["reason"] != "timeout_wall":
        assert r["metadata"]["ok"] is False and r["metadata"]["error"]


def assert_none_left(engine, before):
    """Containers are removed at once, or by the next start if the engine prevented that."""
    if engine.api.containers() - before:
        assert_success(engine.python("pass"))
    wait_until(lambda: not engine.api.containers() - before, "the container to go")


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("step", STEPS)
def test_a_failing_step_is_reported_and_leaves_nothing(engine, faulty, step, fault):
    before = engine.api.containers()
    faulty.fault(STEPS[step], FAULTS[fault])
    started = time.monotonic()
    r = engine.python("print('ran')", "--timeout", "%ds" % TIMEOUT_S, host=faulty.host)
    took = time.monotonic() - started
    assert faulty.saw(STEPS[step]), faulty.requests
    # The first half of the answer may contain everything that is needed.
    if fault != "cut" or (r["status"], r["stdout"]) != ("success", "ran\n"):
        assert_typed(r)
    assert took < TIMEOUT_S + 3 * MARGIN_S, "an answer by the deadline"
    assert_none_left(engine, before)


@pytest.mark.parametrize("fault", ["hang", "hang up", "500", "garbage"])
def test_a_failing_removal_keeps_the_result(engine, faulty, fault):
    """The run has ended, so its result is returned; the next start removes the container."""
    before = engine.api.containers()
    faulty.fault("DELETE ", FAULTS[fault])
    started = time.monotonic()
    r = engine.python("print('ran')", "--timeout", "20s", host=faulty.host)
    assert r["stdout"] == "ran\n", brief(r)
    assert time.monotonic() - started < 20 + 3 * MARGIN_S
    assert_none_left(engine, before)


@pytest.mark.parametrize("what", [faulty_engine.endless_head, faulty_engine.endless_body])
@pytest.mark.parametrize("step", ["ping", "create"])
def test_an_endless_answer_is_not_kept_in_memory(engine, faulty, step, what):
    """An answer of any length does not fill the memory."""
    faulty.fault(STEPS[step], what)
    r = engine.python("print('ran')", "--timeout", "%ds" % TIMEOUT_S, host=faulty.host)
    assert_typed(r)


# ---- the output stream of a container, which may contain any bytes ----

def frame(stream, data):
    return bytes([stream, 0, 0, 0]) + len(data).to_bytes(4, "big") + data


STREAMS = {
    "nothing": b"", "half a header": b"\1\0\0",
    "no stream of that number": frame(77, b"x"), "four gigabytes": b"\1\0\0\0\xff\xff\xff\xff",
    "frames of nothing": b"\1\0\0\0\0\0\0\0" * 1000, "text": b"hello\n" * 100,
    "only standard error": frame(2, b"exec format error\n"),
    "bytes": frame(1, bytes(range(256)) * 64),
    "zeros": frame(1, bytes(8192)), "ones": frame(1, b"\xff" * 8192),
}


@pytest.mark.parametrize("kind", STREAMS)
def test_an_invalid_stream_is_an_error(engine, faulty, kind):
    before = engine.api.containers()
    faulty.fault(STEPS["attach"], faulty_engine.upgrades_and_sends(STREAMS[kind]))
    r = engine.python("print('ran')", "--timeout", "%ds" % TIMEOUT_S, host=faulty.host)
    assert_typed(r)
    assert "ran" not in r["stdout"]
    assert_none_left(engine, before)


def test_an_engine_that_dies_during_a_run_is_an_error(engine, faulty):
    before = engine.api.containers()
    with engine.popen("--json", "--timeout", "20s", "python", "-c",
                      "print('up', flush=True); import time; time.sleep(60)",
                      host=faulty.host) as cell:
        wait_until(lambda: faulty.saw(STEPS["start"]), "the start")
        time.sleep(1)
        faulty.__exit__()
        out, _ = cell.communicate(timeout=60)
    r = json.loads(out)
    assert_typed(r)
    assert_none_left(engine, before)


# ---- false statements of an engine ----

@pytest.mark.parametrize("lie", [b'"ReadonlyRootfs":false', b'"Memory":0', b'"NetworkMode":"host"'])
def test_an_engine_that_omitted_a_wall_is_detected(engine, faulty, lie):
    """Dewar inspects the walls: the proof shows the difference, or the run is refused."""
    name = lie.split(b":")[0]

    def change(client, ask):
        head, body = ask().split(b"\r\n\r\n", 1)
        body = re.sub(name + rb":[^,}]*", lie, body)
        head = re.sub(rb"(?i)content-length: \d+", b"Content-Length: %d" % len(body), head)
        client.sendall(head + b"\r\n\r\n" + body)

    faulty.fault(STEPS["inspect"], change)
    r = engine.python("print('ran')", host=faulty.host)
    assert faulty.saw(STEPS["inspect"]), faulty.requests
    # Values read from the kernel override those of the engine.
    assert r["stdout"] in ("ran\n", ""), brief(r)
    if not r["stdout"]:
        assert_typed(r)
    else:
        assert r["proof"]["walls"]["root_read_only"] is True
        assert r["proof"]["walls"]["network"]["interfaces"] == 0
