# SPDX-License-Identifier: Apache-2.0
"""Streams: a client gets output as the program prints it."""

import json
import subprocess

import pytest

from contract import STREAMS
from daemon import clean_env

TALK = """
import sys, time
for word in sys.stdin.read().split():
    print(word, flush=True)
    time.sleep(0.05)
"""


def texts(events, name):
    return "".join(data["text"] for event, data in events if event == name)


@pytest.mark.parametrize("accept", STREAMS)
def test_start_output_and_result_in_order(daemon, accept):
    stream = daemon.stream({"language": "python", "stdin": "one two three", "code": TALK}, accept)
    events = list(stream)
    stream.close()
    assert events[0] == ("start", {"id": stream.id})
    assert [event for event, _ in events[1:-1]] == ["stdout"] * (len(events) - 2)
    assert texts(events, "stdout") == "one\ntwo\nthree\n"
    event, result = events[-1]
    assert event == "result" and result["id"] == stream.id
    assert result["stdout"] == "one\ntwo\nthree\n"


@pytest.mark.parametrize("accept", STREAMS)
def test_output_comes_before_the_end(daemon, accept):
    """The program runs until it is ended, after its output was read."""
    stream = daemon.stream({"language": "python", "code":
                            "import os, time; os.write(1, b'first\\n'); time.sleep(100)"}, accept)
    assert stream.next()[0] == "start"
    text = ""
    while text != "first\n":  # print() writes twice: one or two events
        event, data = stream.next()
        text += data["text"]
        assert event == "stdout" and "first\n".startswith(text)
    assert daemon.state_of(stream.id) == "running"
    assert daemon.delete("/v1/runs/" + stream.id).status == 202
    event, result = stream.next()
    assert (event, result["reason"], result["stdout"]) == ("result", "cancelled", "first\n")
    assert stream.next() is None
    stream.close()


def test_stdout_and_stderr_are_separate_events(daemon):
    events = list(daemon.stream({"command": "echo out; echo err >&2; echo more"}))
    assert texts(events, "stdout") == "out\nmore\n"
    assert texts(events, "stderr") == "err\n"
    assert events[-1][1]["stderr"] == "err\n"


@pytest.mark.parametrize("accept", STREAMS)
def test_a_character_written_in_pieces_is_one_character(daemon, accept):
    code = """
import os, time
for stream, text in (1, "\\u00e9\\u20ac\\U0001f600!"), (2, "\\U0001f600"):
    for byte in text.encode():
        os.write(stream, bytes([byte]))
        time.sleep(0.05)
"""
    events = list(daemon.stream({"language": "python", "code": code}, accept))
    assert texts(events, "stdout") == "\u00e9\u20ac\U0001f600!"
    assert texts(events, "stderr") == "\U0001f600"
    assert "\ufffd" not in "".join(data.get("text", "") for _, data in events)


@pytest.mark.parametrize("data", [b"\xff\xfe", b"a\xc3", b"\xe2\x82", b"\xf0\x9f\x98", b"\x80\x80b",
                                  b"\xed\xa0\x80", b"\xc0\xaf.", b"nul \0 nul", b"\r\n\x1b[31m",
                                  b"event: result\ndata: {}\n\n"])
def test_any_bytes_become_valid_text(daemon, data):
    """The events contain the same text as the result, and no output can forge an event."""
    for code in ("import os; os.write(1, %r)" % data,
                 "import os, time\nfor b in %r: os.write(1, bytes([b])); time.sleep(0.02)" % data):
        events = list(daemon.stream({"language": "python", "code": code}))
        assert [event for event, _ in events if event != "stdout"] == ["start", "result"]
        assert texts(events, "stdout") == events[-1][1]["stdout"]
        assert events[-1][1]["stdout"] == data.decode("utf-8", errors="replace")


def test_a_large_output_is_streamed_completely(daemon):
    events = list(daemon.stream({"command": "yes 0123456789 | head -c 900000"}))
    assert texts(events, "stdout") == events[-1][1]["stdout"]
    assert len(events[-1][1]["stdout"]) == 900000


def test_output_above_the_limit_ends_the_stream(daemon):
    events = list(daemon.stream({"command": "yes", "limits": {"output_bytes": 1000}}))
    event, result = events[-1]
    assert (event, result["reason"]) == ("result", "output")
    assert len(texts(events, "stdout")) <= 1000


def test_a_stream_without_output(daemon):
    events = list(daemon.stream({"command": "true"}))
    assert [event for event, _ in events] == ["start", "result"]


@pytest.mark.parametrize("accept", STREAMS)
def test_a_refusal_is_not_a_stream(daemon, accept):
    reply = daemon.stream({"command": "true", "level": "none"}, accept)
    assert reply.status == 403 and reply.headers["Content-Type"] == "application/json"


@pytest.mark.parametrize("accept, kind", [
    ("text/event-stream;q=0.9, */*;q=0.1", "text/event-stream"),
    ("application/x-ndjson", "application/x-ndjson"),
    ("application/json", "application/json"),
    ("*/*", "application/json"),
    ("text/event-streams", "application/json"),
    ("text/html, application/json", "application/json"),
])
def test_accept_selects_the_form_of_the_stream(daemon, accept, kind):
    reply = daemon.post({"command": "true"}, headers={"Accept": accept})
    assert (reply.status, reply.headers["Content-Type"]) == (200, kind)


def test_curl_reads_a_stream(daemon):
    done = subprocess.run(
        ["curl", "-sSN", "-H", "Content-Type: application/json",
         "-H", "Accept: application/x-ndjson", "-d", json.dumps({"command": "echo 1; echo 2 >&2"}),
         "http://127.0.0.1:%d/v1/runs" % daemon.port],
        env=clean_env({"no_proxy": "*"}), capture_output=True, timeout=60, check=False)
    assert done.returncode == 0, done
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert {event["event"] for event in events} == {"start", "stdout", "stderr", "result"}


def test_async_overrides_a_stream(daemon):
    """An async client does not wait, so there is no stream to read."""
    reply = daemon.post({"command": "true", "async": True}, headers={"Accept": STREAMS[0]})
    assert reply.status == 202 and reply.headers["Content-Type"] == "application/json"
