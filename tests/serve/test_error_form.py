# SPDX-License-Identifier: Apache-2.0
"""One mistake gets the same error at every front door: HTTP, streams, MCP and the command line."""

import json
import subprocess

import pytest

from daemon import PATIENCE_S, clean_env

REVISION = "2026-07-28"
META = {"io.modelcontextprotocol/protocolVersion": REVISION,
        "io.modelcontextprotocol/clientCapabilities": {}}
ERROR_KEY = "dewar/error"

# A request, the code of its error, and a word of the message.
MISTAKES = {
    "unknown key": ({"command": "true", "comand": "x"}, "invalid", "comand"),
    "unknown language": ({"language": "klingon", "code": "1"}, "invalid", "klingon"),
    "no code": ({"language": "python"}, "invalid", "code"),
    "wrong type": ({"command": 1}, "invalid", "command"),
    "limit out of range": ({"command": "true", "limits": {"timeout_s": 0}}, "invalid", "timeout_s"),
    "limit of a wrong type": ({"command": "true", "limits": {"pids": "x"}}, "invalid", "pids"),
    "unknown network": ({"command": "true", "network": "lan"}, "invalid", "network"),
}


def http_error(daemon, request):
    return daemon.post(request).json


def stream_error(daemon, request):
    """The reply itself, or the last event if the run was queued before the mistake was found."""
    reply = daemon.post(request, headers={"Accept": "text/event-stream"})
    if reply.status != 200:
        return reply.json
    event, data = reply.body.decode("utf-8").rstrip("\n").split("\n")[-2:]
    assert event == "event: error" and data.startswith("data: "), reply
    return json.loads(data[len("data: "):])


def cli_error(daemon, request):
    done = subprocess.run([daemon.dewar, "run", "--json", "--no-audit", "--request", "-"],
                          input=json.dumps(request).encode(), env=clean_env(),
                          capture_output=True, timeout=PATIENCE_S, check=False)
    assert done.returncode == 125, done
    answer = json.loads(done.stdout)
    # The command line also names the option.
    answer["error"]["message"] = answer["error"]["message"].removeprefix("--request: ")
    return answer


def mcp_error(daemon, request):
    """The answer of a tool, whose arguments are the keys of a request and of its limits."""
    tool = "code_execute" if "language" in request else "command_execute"
    arguments = {**request, **request.get("limits", {})}
    arguments.pop("limits", None)
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call",
               "params": {"_meta": META, "name": tool, "arguments": arguments}}
    conn = daemon.connect()
    try:
        conn.request("POST", "/mcp", body=json.dumps(message), headers={
            "Content-Type": "application/json", "MCP-Protocol-Version": REVISION,
            "Mcp-Method": "tools/call", "Mcp-Name": tool})
        result = json.loads(conn.getresponse().read())["result"]
    finally:
        conn.close()
    assert result["isError"] is True and "structuredContent" not in result
    error = result["_meta"][ERROR_KEY]
    assert error["message"] in result["content"][0]["text"]
    return {"error": error}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_gets_the_same_error_at_every_front_door(daemon, mistake):
    request, code, word = MISTAKES[mistake]
    answers = {ask.__name__: ask(daemon, request)
               for ask in (http_error, stream_error, cli_error, mcp_error)}
    for door, answer in answers.items():
        assert set(answer) == {"error"}, (door, answer)
        assert set(answer["error"]) == {"code", "message", "hint"}, (door, answer)
        assert answer["error"]["code"] == code, (door, answer)
        assert word in answer["error"]["message"], (door, answer)
        assert answer["error"]["hint"] is None or answer["error"]["hint"], (door, answer)
    assert answers["http_error"] == answers["stream_error"] == answers["cli_error"]


def test_a_denial_has_the_same_code_over_http_and_mcp(daemon):
    request = {"command": "true", "level": "none"}
    errors = [ask(daemon, request)["error"] for ask in (http_error, stream_error, mcp_error)]
    assert errors[0]["code"] == "denied" and errors[0]["hint"]
    assert errors[0] == errors[1] == errors[2]
