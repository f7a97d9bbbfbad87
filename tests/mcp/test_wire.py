# SPDX-License-Identifier: Apache-2.0
"""The wire protocol, and clients that misbehave."""

import http.client
import json
import os
import select
import signal
import subprocess
import threading

import pytest

from daemon import PATIENCE_S, clean_env, end_with_parent, wait_until
from served import Server
from test_clients import called_off

VERSION = "io.modelcontextprotocol/protocolVersion"
CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
META = {VERSION: "2026-07-28", CAPABILITIES: {}}
LONG = {"command": "echo called-off; sleep 600", "timeout_s": 600}
BOTH = "application/json, text/event-stream"


def request(number, method, params=None):
    message = {"jsonrpc": "2.0", "id": number, "method": method}
    return message if params is None else {**message, "params": params}


def call(number, arguments, tool="command_execute", meta=None):
    params = {"name": tool, "arguments": arguments}
    return request(number, "tools/call", {**params, "_meta": meta} if meta else params)


INITIALIZE = request(0, "initialize", {
    "protocolVersion": "2025-11-25", "capabilities": {},
    "clientInfo": {"name": "wire", "version": "1"}})


# ---- standard input and output ----


class Stdio:
    """`dewar mcp`, used without a client library."""

    def __init__(self, dewar, folder, *words):
        self.audit = str(folder / "audit.db")
        self.process = subprocess.Popen(
            [dewar, "mcp", "--audit", self.audit, *words], env=clean_env(), stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=end_with_parent)
        self.log = []
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        for line in self.process.stderr:
            self.log.append(line.decode("utf-8"))

    def send(self, message):
        data = message if isinstance(message, bytes) else json.dumps(message).encode() + b"\n"
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def receive(self):
        line = self.process.stdout.readline()
        assert line.endswith(b"\n"), (line, self.log)
        return json.loads(line)

    def ask(self, message):
        self.send(message)
        return self.receive()

    def wait_end(self):
        assert self.process.wait(PATIENCE_S) == 0, self.log
        self.reader.join(PATIENCE_S)
        return self.process.stdout.read()


@pytest.fixture
def stdio(dewar, tmp_path):
    it = Stdio(dewar, tmp_path)
    yield it
    if it.process.poll() is None:
        it.process.kill()
        it.process.wait()
    for file in (it.process.stdin, it.process.stdout, it.process.stderr):
        try:
            file.close()
        except OSError:
            pass


def started(stdio, number=1):
    """Start a call that runs for a long time, and wait until it runs."""
    stdio.send(call(number, LONG, meta={"progressToken": "t"}))
    while "output" not in stdio.receive()["params"].get("message", ""):
        pass


def test_standard_output_contains_only_messages(stdio):
    stdio.send(INITIALIZE)
    stdio.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
    stdio.send(b"\r\n\n")
    stdio.send(request(1, "ping"))
    stdio.process.stdin.close()
    lines = [json.loads(line) for line in stdio.wait_end().splitlines()]
    assert [line["id"] for line in lines] == [0, 1]


def test_a_last_line_without_a_newline_is_a_message(stdio):
    stdio.send(json.dumps(request("x", "ping")).encode())
    stdio.process.stdin.close()
    assert json.loads(stdio.wait_end())["id"] == "x"


def test_the_end_of_input_ends_running_calls(stdio, dewar):
    started(stdio)
    stdio.process.stdin.close()
    assert stdio.wait_end() == b""
    assert called_off(dewar, stdio.audit) == 1


def test_a_signal_ends_running_calls(stdio, dewar):
    started(stdio)
    stdio.process.send_signal(signal.SIGTERM)
    assert stdio.wait_end() == b""
    assert called_off(dewar, stdio.audit) == 1


def test_a_client_that_closes_its_input_ends_the_server(stdio, dewar):
    started(stdio)
    stdio.process.stdout.close()
    stdio.send(request(2, "ping"))
    assert stdio.process.wait(PATIENCE_S) == 0, stdio.log
    assert called_off(dewar, stdio.audit) == 1


def test_a_signal_ends_a_server_whose_client_reads_nothing(stdio):
    """The server stops reading when too many answers wait, and still notices the signal."""
    pipe = stdio.process.stdin.fileno()
    many = b"".join(json.dumps(request(i, "tools/list")).encode() + b"\n" for i in range(1000))
    os.set_blocking(pipe, False)
    while select.select([], [pipe], [], 2)[1]:
        os.write(pipe, many)
    stdio.process.send_signal(signal.SIGTERM)
    assert stdio.process.wait(PATIENCE_S) == 0, stdio.log


def test_garbage_is_answered_and_the_next_message_served(stdio):
    assert stdio.ask(b"garbage\n")["error"]["code"] == -32700
    assert stdio.ask(b"\xff\xfe\n")["error"]["code"] == -32700
    assert stdio.ask(b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]\n')["error"]["code"] == -32600
    assert stdio.ask(b'{"a":' * 100000 + b"\n")["error"]["code"] == -32700
    assert stdio.ask(request(1, "no/such"))["error"]["code"] == -32601
    assert stdio.ask(request(1, "ping")) == {"jsonrpc": "2.0", "id": 1, "result": {}}


@pytest.mark.slow
def test_a_message_that_is_too_long_is_refused_and_the_next_served(stdio):
    megabyte = b" " * (1 << 20)
    for _ in range(100):
        stdio.send(megabyte)
    assert "MB or less" in stdio.ask(b"\n")["error"]["message"]
    assert stdio.ask(request(1, "ping"))["result"] == {}


def test_a_client_that_reads_late_gets_every_answer(stdio):
    count = 2000
    writer = threading.Thread(target=lambda: [stdio.send(request(number, "tools/list"))
                                              for number in range(count)])
    writer.start()
    seen = [stdio.receive()["id"] for _ in range(count)]
    writer.join(PATIENCE_S)
    assert seen == list(range(count))


def test_a_cancelled_call_gets_no_answer(stdio):
    started(stdio)
    stdio.send({"jsonrpc": "2.0", "method": "notifications/cancelled",
                "params": {"requestId": 1, "reason": "no need"}})
    assert stdio.ask(request(2, "ping"))["id"] == 2
    stdio.process.stdin.close()
    assert stdio.wait_end() == b""


# ---- HTTP ----


class Wire:
    def __init__(self, server, key=None):
        self.host, self.port = server.address.split(":")
        self.key = key
        self.conn = http.client.HTTPConnection(self.host, int(self.port), timeout=PATIENCE_S)

    def open(self, method, body=None, **headers):
        """Send a request; returns when the head of the reply has arrived."""
        given = {"Content-Type": "application/json", "Accept": BOTH}
        if self.key:
            given["Authorization"] = "Bearer " + self.key
        given.update({name.replace("_", "-"): value for name, value in headers.items()})
        data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        self.conn.request(method, "/mcp", body=data, headers=given)
        return self.conn.getresponse()

    def ask(self, method, body=None, **headers):
        """Returns status, headers, and the body, which is JSON or empty."""
        response = self.open(method, body, **headers)
        got = response.read()
        return response.status, response.headers, json.loads(got) if got else None

    def post(self, body, **headers):
        status, _, answer = self.ask("POST", body, **headers)
        return status, answer

    def initialize(self):
        status, headers, _ = self.ask("POST", INITIALIZE)
        assert status == 200
        return headers["Mcp-Session-Id"]

    def hang_up(self):
        self.conn.close()


@pytest.fixture
def wire(server):
    it = Wire(server)
    yield it
    it.hang_up()


def modern(method, name=None):
    headers = {"MCP_Protocol_Version": "2026-07-28", "Mcp_Method": method}
    return {**headers, "Mcp_Name": name} if name else headers


def code(answer):
    return answer["error"]["code"]


def test_invalid_messages_are_refused(wire):
    assert wire.post(b"{")[0] == 400 and code(wire.post(b"{")[1]) == -32700
    status, answer = wire.post([INITIALIZE])
    assert (status, code(answer)) == (400, -32600)
    assert wire.post(INITIALIZE, Content_Type="text/plain")[0] == 415
    assert wire.post(INITIALIZE, Accept="text/html")[0] == 406


def test_there_is_no_stream_for_unsolicited_messages(wire):
    status, headers, _ = wire.ask("GET")
    assert status == 405
    assert headers["Allow"] == "POST, DELETE"


def test_a_session_begins_and_ends(wire):
    session = wire.initialize()
    assert wire.post({"jsonrpc": "2.0", "method": "notifications/initialized"},
                     Mcp_Session_Id=session) == (202, None)
    assert wire.post(request(1, "ping"), Mcp_Session_Id=session)[1]["result"] == {}
    assert wire.post(request(2, "ping"))[0] == 400
    assert wire.post(request(3, "ping"), Mcp_Session_Id="0" * 32)[0] == 404
    assert wire.ask("DELETE")[0] == 400
    assert wire.ask("DELETE", Mcp_Session_Id=session)[0] == 204
    assert wire.post(request(4, "ping"), Mcp_Session_Id=session)[0] == 404
    assert wire.ask("DELETE", Mcp_Session_Id=session)[0] == 404


def test_headers_must_match_the_message(wire):
    body = call(1, {"command": "echo hi"}, meta=META)
    assert wire.post(body, **modern("tools/call", "command_execute"))[0] == 200
    for headers in (modern("tools/list", "command_execute"), modern("tools/call"),
                    modern("tools/call", "code_execute"),
                    {"Mcp_Method": "tools/call", "Mcp_Name": "command_execute"},
                    modern("tools/call", "=?base64?Y29tbWFuZF9leGVjdXRl=?=")):
        status, answer = wire.post(body, **headers)
        assert (status, code(answer), answer["id"]) == (400, -32020, 1), headers
    encoded = modern("tools/call", "=?base64?Y29tbWFuZF9leGVjdXRl?=")
    assert wire.post(body, **encoded)[0] == 200
    status, answer = wire.post(request(2, "ping", {"_meta": META}), **modern("ping"))
    assert (status, code(answer)) == (404, -32601)
    future = {**META, VERSION: "2031-01-01"}
    status, answer = wire.post(request(3, "tools/list", {"_meta": future}),
                               MCP_Protocol_Version="2031-01-01", Mcp_Method="tools/list")
    assert (status, code(answer)) == (400, -32022)
    assert answer["error"]["data"]["supported"] == ["2026-07-28"]


def events(response):
    while True:
        line = response.readline()
        if not line:
            return
        if line.startswith(b"data: "):
            yield json.loads(line[len(b"data: "):])


def test_a_notification_before_the_answer_makes_it_a_stream(wire):
    body = call(7, {"command": "echo hi"}, meta={**META, "progressToken": 0})
    response = wire.open("POST", body, **modern("tools/call", "command_execute"))
    assert response.headers["Content-Type"] == "text/event-stream"
    said = list(events(response))
    assert [message.get("method") for message in said[:2]] == ["notifications/progress"] * 2
    assert said[-1]["id"] == 7 and said[-1]["result"]["structuredContent"]["stdout"] == "hi\n"
    status, answer = wire.post(body, Accept="application/json",
                               **modern("tools/call", "command_execute"))
    assert (status, answer["id"]) == (200, 7)


@pytest.mark.parametrize("era", ["legacy", "modern"])
@pytest.mark.parametrize("streaming", [False, True])
def test_disconnecting_ends_the_run(server, dewar, wire, era, streaming):
    audit = server.state + "/audit.db"
    before = called_off(dewar, audit)
    runs = len(running(dewar, audit))
    headers = ({"Mcp_Session_Id": wire.initialize()} if era == "legacy"
               else modern("tools/call", "command_execute"))
    meta = {**(META if era == "modern" else {}), **({"progressToken": 1} if streaming else {})}
    body = call(5, LONG, meta=meta or None)
    if streaming:
        said = events(wire.open("POST", body, **headers))
        while "output" not in next(said)["params"]["message"]:
            pass
    else:
        thread = threading.Thread(target=lambda: ignore(wire.open, "POST", body, **headers))
        thread.start()
        wait_until(lambda: len(running(dewar, audit)) > runs, "the run to begin")
        wire.conn.sock.shutdown(2)
        thread.join(PATIENCE_S)
    wire.hang_up()
    wait_until(lambda: called_off(dewar, audit) == before + 1, "the run to end")


def ignore(fn, *args, **kwargs):
    try:
        fn(*args, **kwargs)
    except (OSError, http.client.HTTPException):
        pass


def running(dewar, audit):
    done = subprocess.run([dewar, "audit", "list", "--file", audit, "--status", "running",
                           "--limit", "1000", "--json"], env=clean_env(),
                          stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE_S,
                          check=False)
    assert done.returncode == 0, done
    return json.loads(done.stdout)


def test_a_cancel_reaches_the_call_of_its_own_session_only(server, dewar):
    audit = server.state + "/audit.db"
    before = called_off(dewar, audit)
    one, two, other = Wire(server), Wire(server), Wire(server)
    mine, theirs = one.initialize(), two.initialize()
    said = events(one.open("POST", call(5, LONG, meta={"progressToken": 1}),
                           Mcp_Session_Id=mine))
    while "output" not in next(said)["params"]["message"]:
        pass
    cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 5}}
    assert other.post(cancel, Mcp_Session_Id=theirs)[0] == 202
    assert called_off(dewar, audit) == before
    assert other.post(cancel, Mcp_Session_Id=mine)[0] == 202
    # The stream ends without an answer.
    assert all("id" not in message for message in said)
    wait_until(lambda: called_off(dewar, audit) == before + 1, "the run to end")
    for it in (one, two, other):
        it.hang_up()


def test_a_session_belongs_to_the_key_that_opened_it(dewar, config):
    server = Server(os.path.join(os.path.dirname(dewar), "dewar-serve"), config)
    try:
        keys = [make_key(dewar, server, name) for name in ("one", "two")]
        one, two = (Wire(server, key) for key in keys)
        session = one.initialize()
        assert one.post(request(1, "ping"), Mcp_Session_Id=session)[0] == 200
        assert two.post(request(1, "ping"), Mcp_Session_Id=session)[0] == 404
        assert Wire(server).post(request(1, "ping"), Mcp_Session_Id=session)[0] == 401
        assert two.ask("DELETE", Mcp_Session_Id=session)[0] == 404
        # Another key cannot read its runs either.
        answer = one.post(call(2, {"command": "echo mine"}), Mcp_Session_Id=session)[1]
        uri = "dewar://runs/" + answer["result"]["structuredContent"]["id"]
        read = request(3, "resources/read", {"uri": uri})
        assert "result" in one.post(read, Mcp_Session_Id=session)[1]
        assert code(two.post(read, Mcp_Session_Id=two.initialize())[1]) == -32002
        for it in (one, two):
            it.hang_up()
    finally:
        assert server.finish() == 0, server.log[-10:]


def make_key(dewar, server, name):
    done = subprocess.run([dewar, "keys", "add", name, "--scope", "run", "--state", server.state,
                           "--json"], env=clean_env(), stdin=subprocess.DEVNULL,
                          capture_output=True, timeout=PATIENCE_S, check=False)
    assert done.returncode == 0, done
    return json.loads(done.stdout)["key"]


# ---- schemas for other programs ----


def test_schemas_are_printed_in_three_forms(dewar):
    def printed(*words):
        done = subprocess.run([dewar, "tool-schema", *words], env=clean_env(),
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE_S,
                              check=False)
        return done.returncode, json.loads(done.stdout) if done.stdout else None, done.stderr

    names = ["code_execute", "command_execute"]
    assert [tool["name"] for tool in printed()[1]] == names
    assert all(tool["outputSchema"] for tool in printed("--format", "mcp")[1])
    functions = printed("--format", "openai")[1]
    assert [tool["function"]["name"] for tool in functions] == names
    assert all(tool["function"]["parameters"]["additionalProperties"] is False
               for tool in functions)
    assert [tool["input_schema"]["required"] for tool in printed("--format", "anthropic")[1]] == [
        ["language", "code"], ["command"]]
    status, _, error = printed("--format", "xml")
    assert status == 125 and b"mcp, openai or anthropic" in error
