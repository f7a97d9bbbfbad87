# SPDX-License-Identifier: Apache-2.0
"""The test setup itself: engines work, images exist, and faults are injected.

A failure of another test means something only if these pass.
"""

import http.client
import os
import re
import socket
import subprocess
import time

import pytest

from engine import images
from engine.api import Api, ApiError
from fakes import faulty_engine


def test_the_engine_runs_the_images(engine):
    there = engine.api.images()
    assert set(there) >= {*images.DEFAULT_NAMES, images.BARE, images.BOSSY}
    status, out, err = engine.plain_python("import os; print(os.getpid())")
    assert (status, out, err) == (0, b"1\n", b"")
    status, out, err = engine.plain("id", image=images.BARE)
    assert (status, out[:11], err) == (0, b"uid=0 gid=0", b"")


def test_the_runtime_is_the_requested_one(engine):
    release = engine.plain_python("import os; print(os.uname().release)")[1].decode().strip()
    assert (release == os.uname().release) is (engine.runtime != "runsc")


@pytest.mark.engines("docker", "podman")
def test_the_network_is_not_the_hosts(engine):
    """The engine has its own network, which ends with it and is not connected to any other."""
    assert engine.engine.netns != os.stat("/proc/self/ns/net").st_ino
    with engine.engine.inside("ip", "route", stdout=subprocess.PIPE) as ip:
        assert b"default" not in ip.communicate()[0]


@pytest.mark.engines("docker", "podman")
def test_the_engine_pulls_from_the_registry(engine, registry):
    name = registry.image("bed")
    engine.api.untag(name)
    engine.api.call("POST", "/images/create", fromImage=name)
    assert name in engine.api.images()
    assert any("/blobs/" in line for line in registry.requests())
    engine.api.untag(name)


# ---- faults ----

@pytest.mark.engines("docker", "podman")
def test_a_faulty_engine_forwards_other_requests(engine, faulty):
    faulty.fault("GET .*/version", faulty_engine.says(500, '{"message":"said"}'))
    api = Api(faulty.socket)
    assert api.answers() and api.containers() == engine.api.containers()
    with pytest.raises(ApiError, match="500: .*said"):
        api.get("/version")
    assert [re.sub(r"/v[0-9.]+", "", r) for r in faulty.requests] == [
        "GET /_ping", "GET /containers/json?all=1", "GET /version"]


@pytest.mark.parametrize("what, wanted", [
    (faulty_engine.hang_up, rb""),
    (faulty_engine.garbage, rb"\x00\x01.*"),
    (faulty_engine.says(418, "{}"), rb"HTTP/1.1 418 .*\{\}"),
    (faulty_engine.upgrades_and_sends(b"\1\0\0\0"), rb"HTTP/1.1 101 .*\r\n\r\n\x01\0\0\0"),
], ids=["hang up", "garbage", "says", "upgrade"])
def test_a_fault_needs_no_engine(tmp_path, what, wanted):
    with faulty_engine.FaultyEngine(tmp_path) as fake:
        fake.fault("", what)
        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(10)
            client.connect(fake.socket)
            client.sendall(b"GET /_ping HTTP/1.1\r\n\r\n")
            client.shutdown(socket.SHUT_WR)
            got = b""
            while True:
                data = client.recv(4096)
                if not data:
                    break
                got += data
    assert re.fullmatch(wanted, got, re.DOTALL), got


@pytest.mark.engines("docker")
@pytest.mark.parametrize("what", [faulty_engine.cut, faulty_engine.cut_body])
def test_a_truncated_answer_is_detected(engine, faulty, what):
    faulty.fault("/info", what)
    with pytest.raises((ValueError, http.client.HTTPException)):
        Api(faulty.socket).get("/info")
    assert Api(faulty.socket).answers()


def test_a_hung_engine_hangs(tmp_path):
    with faulty_engine.FaultyEngine(tmp_path) as fake:
        fake.fault("", faulty_engine.hang)
        started = time.monotonic()
        assert not Api(fake.socket, timeout=0.3).answers()
        assert time.monotonic() - started >= 0.3
