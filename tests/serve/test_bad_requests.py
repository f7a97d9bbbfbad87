# SPDX-License-Identifier: Apache-2.0
"""Invalid requests get a clear reply and do not affect other clients."""

import json
import socket

import pytest

from daemon import PATIENCE_S
from wire import read_reply, request_bytes, statuses

GOOD = {"command": "true"}


@pytest.fixture(autouse=True)
def still_well(daemon):
    """After each invalid request the daemon works as before."""
    yield
    assert daemon.process.poll() is None, daemon.log[-5:]
    assert daemon.run({"command": "echo well"})["stdout"] == "well\n"


def assert_invalid(reply, *words):
    assert (reply.status, reply.error["code"]) == (400, "invalid"), reply
    for word in words:
        assert word in reply.error["message"], reply


@pytest.mark.parametrize("body, word", [
    ({"command": "true", "commands": "true"}, "commands"),
    ({"command": "true", "limits": {"memory": 1}}, "memory"),
    ({"command": "true", "limits": {"timeout_s": "1"}}, "timeout_s"),
    ({"command": "true", "limits": {"timeout_s": 0}}, "timeout_s"),
    ({"command": "true", "limits": {"timeout_s": -1}}, "timeout_s"),
    ({"command": "true", "limits": {"timeout_s": 1e300}}, "timeout_s"),
    ({"command": "true", "limits": {"memory_mb": 1.5}}, "memory_mb"),
    ({"command": "true", "limits": {"memory_mb": 2 ** 62}}, "memory_mb"),
    ({"command": "true", "limits": {"pids": 10 ** 30}}, ""),
    ({"command": "true", "limits": []}, "limits"),
    ({"command": 1}, "command"),
    ({"command": ["true"]}, "command"),
    ({"language": "python", "code": 5}, "code"),
    ({"language": "python"}, "code"),
    ({"language": "klingon", "code": "1"}, "klingon"),
    ({"code": "1"}, "language"),
    ({"command": "true", "language": "python", "code": "1"}, ""),
    ({}, ""),
    ({"command": "true", "env": {"A=B": "1"}}, "env"),
    ({"command": "true", "env": ["A"]}, "env"),
    ({"command": "true", "files": {"../x": "QQ=="}}, "../x"),
    ({"command": "true", "files": {"/etc/passwd": "QQ=="}}, "/etc/passwd"),
    ({"command": "true", "files": {"x": "not base64!"}}, "x"),
    ({"command": "true", "collect": [1]}, "collect"),
    ({"command": "true", "level": [["container"]]}, "level"),
    ({"command": "true", "network": "some"}, "network"),
    ({"command": "true", "async": "yes"}, "async"),
    ({"command": "true", "async": 1}, "async"),
    ({"command": "true", "template": 3}, "template"),
    ([], "object"),
    (["command"], "object"),
])
def test_an_invalid_request_is_refused_with_a_reason(daemon, body, word):
    assert_invalid(daemon.post(body), word)


@pytest.mark.parametrize("text", [
    b"", b" ", b"null", b"1", b'"x"', b"{", b'{"command"', b'{"command": "tr', b'{"command": "true"',
    b'{"command": "true"}}', b'{"command": "true"} {"command": "true"}', b"{'command': 'true'}",
    b'{"command": "true",}', b'{"command": NaN}', b'\xef\xbb\xbf{"command": "true"}',
    '{"command": "true"}'.encode("utf-16"), b"\0", b'{"command": "true"}\0', b'{"com\0mand": "true"}',
    b"command=true", b"<run/>",
], ids=repr)
def test_a_body_that_is_not_json_is_refused(daemon, text):
    assert_invalid(daemon.post(text))


@pytest.mark.parametrize("text", [
    b'{"command": "echo a", "command": "echo b"}',
    b'{"command": "true", "limits": {"pids": 1, "pids": 2}}',
    b'{"command": "true", "env": {"A": "1", "A": "2"}}',
    b'{"command": "true", "async": true, "async": false}',
], ids=repr)
def test_a_duplicate_key_is_refused(daemon, text):
    """Two parsers may read such text as two different requests."""
    assert_invalid(daemon.post(text))


@pytest.mark.parametrize("text", [
    b'{"command": "echo \xff"}', b'{"command": "echo \xc3"}', b'{"command": "\xed\xa0\x80"}',
    b'{"command": "\xc0\xaf"}', b'{"comm\xff\xfe": "x"}', b'{"command": "\\ud800"}',
], ids=repr)
def test_invalid_utf8_is_refused(daemon, text):
    assert_invalid(daemon.post(text))


@pytest.mark.parametrize("body", [
    b'{"command": "echo \\u0000"}', b'{"command": "true", "args": ["\\u0000"]}',
    b'{"command": "true", "env": {"A": "\\u0000"}}', b'{"comm\\u0000and": "true"}',
    b'{"command": "true", "files": {"a\\u0000b": "QQ=="}}', b'{"language": "\\u0000", "code": ""}',
    b'{"command": "true", "level": "container\\u0000x"}',
], ids=repr)
def test_a_nul_character_is_refused(daemon, body):
    assert_invalid(daemon.post(body))


@pytest.mark.parametrize("text", [
    b"[" * 100000,
    b"[" * 100000 + b"]" * 100000,
    b'{"a":' * 100000,
    b'{"command": "true", "env": ' + b'{"a":' * 100000 + b"1" + b"}" * 100001,
    b'{"command": ' + b"[" * 100000,
], ids=lambda text: repr(text[:30]))
def test_deep_nesting_is_refused(daemon, text):
    assert_invalid(daemon.post(text))


def test_a_number_with_a_million_digits_is_refused(daemon):
    assert_invalid(daemon.post(b'{"command": "true", "limits": {"pids": ' + b"9" * 1000000 + b"}}"))


def test_a_key_with_a_million_letters_is_refused_in_a_short_reply(daemon):
    reply = daemon.post(b'{"' + b"k" * 1000000 + b'": 1}')
    assert_invalid(reply)
    assert len(reply.body) < 2000, "we do not send it all back"


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded",
                                  "multipart/form-data; boundary=x", "application/jsonx", "json",
                                  "text/json", ""])
def test_another_content_type_is_refused(daemon, kind):
    """A web page can send these without a CORS preflight."""
    reply = daemon.post(json.dumps(GOOD).encode(), headers={"Content-Type": kind})
    assert (reply.status, reply.error["code"]) == (415, "unsupported_media_type")


@pytest.mark.parametrize("kind", ["application/json; charset=utf-8", "Application/JSON",
                                  "application/json;charset=UTF-8"])
def test_variants_of_the_content_type_json_are_accepted(daemon, kind):
    assert daemon.post(json.dumps(GOOD).encode(), headers={"Content-Type": kind}).status == 200


@pytest.mark.parametrize("body, key", [
    ({"command": "true", "workspace": "/etc"}, "workspace"),
    ({"command": "true", "writable_paths": ["/tmp"]}, "writable"),
    ({"command": "true", "image": "/"}, "image"),
    ({"command": "true", "image": "/", "level": ["docker", "container"]}, "image"),
])
def test_a_path_of_the_host_is_refused(daemon, body, key):
    reply = daemon.post(body)
    assert (reply.status, reply.error["code"]) == (403, "denied")
    assert key in reply.error["message"]


@pytest.mark.parametrize("body", [{"command": "true", "program": "/bin/sh"}])
def test_a_program_of_the_host_is_refused(daemon, body):
    reply = daemon.post(body)
    assert reply.status in (400, 403) and "program" in reply.error["message"]


@pytest.mark.parametrize("level", ["none", "process", ["container", "none"], ["none", "container"],
                                   "container,none"])
def test_weak_levels_are_refused_unless_configured(daemon, level):
    reply = daemon.post({"command": "true", "level": level})
    assert (reply.status, reply.error["code"]) == (403, "denied"), reply
    assert "none" in reply.error["message"] or "process" in reply.error["message"]


@pytest.mark.parametrize("level, meant", [("nonesuch", ""), ("contaner", " (did you mean container?)"),
                                          ("container,dockr", " (did you mean docker?)")])
def test_a_level_that_does_not_exist_is_refused_with_a_suggestion(daemon, level, meant):
    reply = daemon.post({"command": "true", "level": level})
    assert (reply.status, reply.error["code"]) == (400, "invalid"), reply
    assert reply.error["message"] == (
        "level must be none, process, container, docker or microvm, not \"%s\"%s" %
        (level.split(",")[-1], meant))


def test_the_full_network_is_refused_unless_configured(daemon):
    reply = daemon.post({"command": "true", "network": "full"})
    assert reply.status == 403 and "network" in reply.error["message"]


@pytest.mark.parametrize("setting, most, name, value", [
    ("timeout", "5s", "timeout_s", 5), ("memory", "64M", "memory_mb", 64),
    ("cpus", 0.5, "cpu_percent", 50), ("output", 2000, "output_bytes", 2000),
    ("tmp", "8M", "tmp_mb", 8), ("pids", 10, "pids", 10), ("files", 100, "files", 100)])
def test_a_limit_above_the_largest_is_refused_by_name(serve, setting, most, name, value):
    daemon = serve({"runs": {"max": {setting: most}}})
    reply = daemon.post({"command": "true", "limits": {name: value + 1}})
    assert (reply.status, reply.error["code"]) == (403, "denied")
    assert name in reply.error["message"] and str(value) in reply.error["message"]
    assert daemon.post({"command": "true", "limits": {name: value}}).status == 200
    assert daemon.post({"command": "true"}).status == 200, "the default is at most the ceiling"


def test_a_default_limit_is_at_most_the_ceiling(serve):
    daemon = serve({"runs": {"max": {"timeout": 1, "output": 2000}}})
    result = daemon.run({"command": "sleep 50"})
    assert result["reason"] == "timeout_wall"
    assert daemon.run({"command": "yes"})["reason"] == "output"


def test_disks_are_limited_for_a_run_that_names_no_limit(serve):
    """A ceiling is also the default limit; a host that cannot enforce it runs nothing."""
    daemon = serve({"runs": {"max": {"io": "1M"}}})
    reply = daemon.post({"command": "true", "limits": {"io_mbps": 2}})
    assert (reply.status, reply.error["code"]) == (403, "denied")
    assert reply.error["message"] == "limits.io_mbps must be at most 1 MB/s here, not 2 MB/s"
    reply = daemon.post({"command": "true"})
    if reply.status == 501:
        assert "io_mbps" in reply.error["message"]
    else:
        assert reply.json["proof"]["limits"]["io"]["asked"] == 1 << 20


# ---- HTTP itself ----

def test_a_body_with_too_large_a_content_length_is_not_read(daemon):
    sock = daemon.raw(b"POST /v1/runs HTTP/1.1\r\nHost: localhost\r\n"
                      b"Content-Type: application/json\r\nContent-Length: 104857600\r\n\r\n")
    data = read_reply(sock)
    sock.close()
    assert statuses(data) == [413]
    daemon.contract.check_named("Error", json.loads(data.partition(b"\r\n\r\n")[2]))


def test_a_body_of_100_mb_is_refused(daemon):
    """The client gets 413, or a closed connection if it sends on without reading."""
    sock = daemon.raw(b"POST /v1/runs HTTP/1.1\r\nHost: localhost\r\n"
                      b"Content-Type: application/json\r\nContent-Length: 104857600\r\n\r\n")
    try:
        for _ in range(100):
            sock.sendall(b" " * (1 << 20))
        data = read_reply(sock)
        is_cut = False
    except OSError:
        data, is_cut = read_reply(sock), True
    sock.close()
    assert statuses(data) == [413] or (is_cut and data == b""), data[:500]


def test_a_chunked_body_of_100_mb_is_refused(daemon):
    sock = daemon.raw(b"POST /v1/runs HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
                      b"Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n")
    chunk = b"100000\r\n" + b" " * (1 << 20) + b"\r\n"
    for _ in range(100):
        sock.sendall(chunk)
    sock.sendall(b"0\r\n\r\n")
    data = read_reply(sock)
    sock.close()
    assert statuses(data) == [413]
    daemon.contract.check_named("Error", json.loads(data.partition(b"\r\n\r\n")[2]))


def test_a_chunked_body_is_accepted(daemon):
    sock = daemon.raw(b"POST /v1/runs HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
                      b"Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n")
    text = b'{"command": "echo chunks"}'
    for byte in text:
        sock.sendall(b"1\r\n%c\r\n" % byte)
    sock.sendall(b"0\r\n\r\n")
    data = read_reply(sock)
    sock.close()
    assert statuses(data) == [200] and b"chunks" in data


@pytest.mark.parametrize("limit", [2000])
def test_the_largest_body_can_be_configured(serve, limit):
    daemon = serve({"http": {"body_bytes": limit}})
    text = json.dumps(GOOD).encode()
    assert daemon.post(text.ljust(limit)).status == 200
    reply = daemon.post(text.ljust(limit + 1))
    assert (reply.status, reply.error["code"]) == (413, "too_large")
    assert str(limit) in reply.error["message"]


@pytest.mark.parametrize("head", [
    b"GARBAGE\r\n\r\n", b"\0\0\0\0\r\n\r\n", b"GET /healthz\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n",
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\0" * 50 + b"\r\n\r\n",
    b"GET /healthz HTTP/1.1\r\nHost\r\n\r\n", b"GET /healthz HTTP/1.1\r\n: x\r\n\r\n",
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"GET /healthz HTTP/1.1\r\n\r\n",
    b"GET /healthz HTTP/1.1\r\nHost: a\r\nHost: localhost\r\n\r\n",
    b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n",
    b"POST /v1/runs HTTP/1.1\r\nHost: localhost\r\nContent-Length: x\r\n\r\n",
    b"POST /v1/runs HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
    b"POST /v1/runs HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999999999999999\r\n\r\n",
    b"POST /v1/runs HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\nContent-Length: 5\r\n\r\n{}  ",
    b"POST /v1/runs HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\n"
    b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    b"POST /v1/runs HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: gzip\r\n\r\nxx",
    b"POST /v1/runs HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    b"POST /v1/runs HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
    b"fffffffffffffffff\r\n",
    b"GET /" + b"a" * 100000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: " + b"a" * 100000 + b"\r\n\r\n",
    b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n" + b"X: y\r\n" * 20000 + b"\r\n",
], ids=lambda head: repr(head[:60]) + str(len(head)))
def test_invalid_http_never_runs_anything(daemon, head):
    """Refused or disconnected, but never run, and the daemon does not wait for more."""
    sock = daemon.raw()
    try:
        sock.sendall(head)
        sock.shutdown(socket.SHUT_WR)
    except OSError:
        pass  # the daemon disconnected before everything was sent
    data = read_reply(sock)
    sock.close()
    assert all(400 <= status < 600 for status in statuses(data)), data[:500]


def test_pipelined_requests_are_answered_in_order(daemon):
    sock = daemon.raw(b"".join(request_bytes(b'{"command": "echo %d-"}' % i) for i in range(10)) +
                      b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    data = read_reply(sock)
    sock.close()
    assert statuses(data) == [200] * 11
    places = [data.index(b'"%d-\\n"' % i) for i in range(10)]
    assert places == sorted(places)


@pytest.mark.parametrize("garbage", [b"\0" * 1000, b"GARBAGE\r\n\r\n", b"\r\n" * 10 + b"x y z\r\n\r\n",
                                     b"{" * 1000 + b"\r\n\r\n", b"GET\r\n\r\n"],
                         ids=lambda text: repr(text[:20]))
def test_garbage_after_a_pipelined_request_is_refused(daemon, garbage):
    """The request before it is answered; the garbage is refused or the connection is closed."""
    sock = daemon.raw(request_bytes(b'{"command": "echo before"}') + garbage)
    sock.settimeout(PATIENCE_S)
    data = sock.recv(1)
    try:
        sock.shutdown(socket.SHUT_WR)  # only now: the run of a client that left is cancelled
    except OSError:
        pass
    data += read_reply(sock)
    sock.close()
    found = statuses(data)
    assert found[:1] == [200], data[:500]
    assert all(status >= 400 for status in found[1:]), data[:500]


def test_a_smuggled_request_is_not_answered(daemon):
    """Two lengths: a proxy in front of the daemon may use the other one."""
    inner = b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n"
    sock = daemon.raw(b"POST /v1/runs HTTP/1.1\r\nHost: localhost\r\n"
                      b"Content-Type: application/json\r\nContent-Length: %d\r\n"
                      b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n" % (5 + len(inner)) + inner)
    try:
        sock.shutdown(socket.SHUT_WR)
    except OSError:
        pass
    data = read_reply(sock)
    sock.close()
    assert b'"openapi"' not in data
    assert b'"openapi"' in daemon.get("/openapi.json").body
    assert all(status >= 400 for status in statuses(data)), data[:500]
