# SPDX-License-Identifier: Apache-2.0
"""Every front door knows every row of include/dewar/limits.def.

The last test adds a row to a copy of the sources, builds it, and tests the same there.
"""

import contextlib
import http.client
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import time
import types

import pytest

pytestmark = [pytest.mark.once, pytest.mark.cold]

ROOT = pathlib.Path(__file__).resolve().parents[2]
TABLE = pathlib.Path("include") / "dewar" / "limits.def"
NEW_ROW = ('DW_LIMIT(LOCKS, locks, COUNT, "locks", "DEWAR_LOCKS", "locks", 1, "", 7, 2, 999, '
           '"locks", "locks", "7", "Locks of one process")\n')
COLUMNS = ("id member kind option variable key scale unit normal least most name word fallback "
           "what").split()
TIMEOUT_S = 60


def rows(text):
    """The rows of the table, by the names of its columns; numbers are C expressions."""
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    for row in re.findall(r"^DW_LIMIT\((.*?)\)$", text, re.M | re.S):
        values = [v.strip() for v in re.findall(r'"[^"]*"|[^,"]+', row) if v.strip()]
        found = types.SimpleNamespace(**dict(zip(COLUMNS, values, strict=True)))
        for name, value in vars(found).items():
            if value.startswith('"'):
                setattr(found, name, value[1:-1])
        for name in ("scale", "normal", "least", "most"):
            value = getattr(found, name).replace("LL", "")
            setattr(found, name, eval(value, {"__builtins__": {}}))  # pylint: disable=eval-used
        yield found


def written(row, value):
    """The value as a command line or a configuration file writes it."""
    return {"TIME": "%dms", "SIZE": "%d", "CPUS": "%d%%", "COUNT": "%d"}[row.kind] % value


def in_json(row, value):
    """The value as a request writes it: only a time can have a fraction."""
    return value / row.scale if row.kind == "TIME" else -(-value // row.scale)


def argument(row):
    """The name of a tool's argument; `files` is taken by the files of the request."""
    return "open_files" if row.key == "files" else row.key


class Place:
    """A build of dewar and a folder to work in."""

    def __init__(self, dewar, tmp):
        self.dewar = str(dewar)
        self.tmp = tmp
        self.state = tmp / "state"
        self.state.mkdir(mode=0o700)

    def run(self, *args, input=None, env=None):
        return subprocess.run(
            [self.dewar, *map(str, args)], capture_output=True, text=True, timeout=TIMEOUT_S,
            check=False, env={**os.environ, **(env or {})},
            **({"input": input} if input else {"stdin": subprocess.DEVNULL}))

    def refused(self, *args, **kwargs):
        done = self.run(*args, **kwargs)
        assert done.returncode == 125 and done.stdout == "", done
        return done.stderr

    def file(self, name, text):
        path = self.tmp / name
        path.write_text(text, encoding="utf-8")
        return path

    @contextlib.contextmanager
    def daemon(self, config):
        """request(method, path, body, key): the status and the parsed body of the answer."""
        path = self.tmp / "socket"
        process = subprocess.Popen(
            [self.dewar, "serve", "--socket", path, "--state", self.state, "--config",
             self.file("dewar.yaml", config)],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

        def request(method, where, body=None, key=None):
            conn = http.client.HTTPConnection("localhost", timeout=TIMEOUT_S)
            conn.sock = socket.socket(socket.AF_UNIX)
            conn.sock.connect(str(path))
            headers = {"Content-Type": "application/json", "Accept": "application/json"}
            if key:
                headers["Authorization"] = "Bearer " + key
            conn.request(method, where, json.dumps(body) if body else None, headers)
            answer = conn.getresponse()
            found = answer.status, json.loads(answer.read())
            conn.close()
            return found

        try:
            for _ in range(TIMEOUT_S * 20):
                with contextlib.suppress(OSError):
                    request("GET", "/healthz")
                    break
                assert process.poll() is None, "the daemon has ended"
                time.sleep(0.05)
            yield request
        finally:
            process.terminate()
            process.wait(TIMEOUT_S)
            path.unlink(missing_ok=True)


@pytest.fixture
def place(dewar, tmp_path):
    return Place(dewar, tmp_path)


# ---- the doors: each takes a Place and the rows to look for ----

def door_help_and_completion(place, table):
    for row in table:
        for command, option in (("run", row.option), ("exec", row.option),
                                ("keys", "max-" + row.option)):
            line = re.search(r"^ +--%s \w.*$" % option, place.run(command, "--help").stdout, re.M)
            assert line and row.what in line.group(), (command, option)
            if command != "keys":
                assert line.group().endswith("(default %s)" % row.fallback)
    for shell, form in (("bash", "--%s"), ("zsh", "--%s"), ("fish", "-l %s")):
        words = place.run("completion", shell).stdout
        for row in table:
            for option in (row.option, "max-" + row.option):
                assert re.search(re.escape(form % option) + r"\b", words), (shell, option)


def door_command_line_and_environment(place, table):
    for row in table:
        far = written(row, row.most + 1)
        assert "--%s must be at most" % row.option in place.refused(
            "run", "--" + row.option, far, "python", "-c", "1")
        assert "%s must be at most" % row.variable in place.refused(
            "run", "python", "-c", "1", env={row.variable: far})
        if row.least > 1:
            assert "--%s must be at least" % row.option in place.refused(
                "exec", "--" + row.option, written(row, row.least - 1), "true")


def door_requests(place, table):
    for row in table:
        body = {"command": "true", "limits": {row.key: in_json(row, row.most) + 1}}
        assert "limits.%s must be at most" % row.key in place.refused(
            "run", "--request", "-", input=json.dumps(body))
        body["limits"] = {row.key + "x": 1}
        assert "did you mean %s?" % row.key in place.refused(
            "run", "--request", "-", input=json.dumps(body))


def door_config(place, table):
    for row in table:
        for section in ("runs: {limits: {%s: %s}}", "runs: {max: {%s: %s}}",
                        "local: {max: {%s: %s}}"):
            good = place.file("good.yaml", section % (row.option, written(row, row.most)))
            done = place.run("serve", "--check-config", "--config", good)
            assert done.returncode == 0, done
            bad = place.file("bad.yaml", section % (row.option, written(row, row.most + 1)))
            assert "%s must be at most" % row.option in place.refused(
                "serve", "--check-config", "--config", bad)


def door_keys(place, table):
    for row in table:
        made = place.run("keys", "add", row.name, "--state", place.state, "--json",
                         "--max-" + row.option, written(row, row.least))
        assert json.loads(made.stdout)["max"][row.member] == row.least
        assert "--max-%s must be at most" % row.option in place.refused(
            "keys", "add", "x", "--state", place.state, "--max-" + row.option,
            written(row, row.most + 1))
    kept = {key["name"]: key for key in
            json.loads(place.run("keys", "list", "--state", place.state, "--json").stdout)}
    for row in table:
        assert kept[row.name]["max"][row.member] == row.least


def door_policy(place, table):
    for row in table:
        than = max(1, in_json(row, row.least))
        policy = place.file("policy.yaml", (
            "version: 1\ndefault: allow\nrules:\n- name: too-much\n  decision: deny\n"
            "  when: {limits: {%s: '> %d'}}\n") % (row.key, than))
        for value, verdict in ((than * row.scale, "allow"), (row.most, "deny")):
            done = place.run("policy", "explain", "--json", "--policy", policy, "--" + row.option,
                             written(row, value), "python", "-c", "1")
            assert json.loads(done.stdout)["decision"] == verdict, (row.key, value, done)
        if row.normal == 0:  # unlimited: above every number
            done = place.run("policy", "explain", "--json", "--policy", policy, "python", "-c", "1")
            assert json.loads(done.stdout)["decision"] == "deny", done


def door_tools(place, table):
    for tool in json.loads(place.run("tool-schema").stdout):
        for row in table:
            described = tool["inputSchema"]["properties"][argument(row)]
            assert described["maximum"] == in_json(row, row.most)
            assert described["description"] == row.what
    calls = "".join(json.dumps({
        "jsonrpc": "2.0", "id": i, "method": "tools/call", "params": {
            "name": "command_execute",
            "arguments": {"command": "true", argument(row): in_json(row, row.most) + 1}},
    }) + "\n" for i, row in enumerate(table))
    hello = json.dumps({"jsonrpc": "2.0", "id": "hello", "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"}}})
    said = place.run("mcp", input=hello + "\n" + calls)
    answers = {answer.get("id"): answer for answer in map(json.loads, said.stdout.splitlines())}
    for i, row in enumerate(table):
        result = answers[i]["result"]
        assert result["isError"]
        assert "%s must be at most" % row.key in result["content"][0]["text"]


def door_http(place, table):
    """The OpenAPI document, the check of a request, and the ceilings of a daemon and of a key."""
    ceilings = {row.key: row.least * 4 for row in table}
    config = "pool: {disabled: true}\nruns:\n  max: {%s}\n" % ", ".join(
        "%s: %s" % (row.option, written(row, ceilings[row.key])) for row in table)
    keys = {row.key: place.run("keys", "add", row.name, "--state", place.state, "--max-" +
                               row.option, written(row, row.least)).stdout.strip()
            for row in table}
    with place.daemon(config) as request:
        document = request("GET", "/openapi.json")[1]
        limits = document["components"]["schemas"]["Request"]["properties"]["limits"]
        for row in table:
            described = limits["properties"][row.key]
            assert described["maximum"] == in_json(row, row.most)
            assert described["description"] == row.what

            def ask(value, row=row):
                status, answer = request("POST", "/v1/runs", {
                    "command": "true", "limits": {row.key: value}}, keys[row.key])
                return status, answer["error"]["message"]

            far = in_json(row, row.most) + 1
            assert ask(far) == (400, "limits.%s must be at most %.10g" % (row.key, far - 1))
            status, message = ask(in_json(row, max(row.least, row.scale) * 4) + 1)
            assert status == 403 and "limits.%s must be at most" % row.key in message
            assert "here" in message and " %.10g" % (row.least / row.scale) in message, message


def door_proof(place, table):
    for row in table:
        value = row.normal or row.least
        done = place.run("run", "--json", "--no-audit", "--" + row.option, written(row, value),
                         "sh", "-c", "exit 0")
        result = json.loads(done.stdout)
        if result["reason"] == "unavailable":  # a limit that only some hosts can enforce
            assert row.normal == 0 and row.key in result["hint"], result
        else:
            assert result["proof"]["limits"][row.name]["asked"] == value


DOORS = [door_help_and_completion, door_command_line_and_environment, door_requests, door_config,
         door_keys, door_policy, door_tools, door_http, door_proof]


@pytest.mark.parametrize("door", DOORS, ids=lambda door: door.__name__)
def test_every_interface_knows_every_limit(door, place):
    table = list(rows((ROOT / TABLE).read_text(encoding="utf-8")))
    assert len(table) == 8
    door(place, table)


def test_an_older_database_of_keys_gets_a_new_limit(place):
    """Keys that an earlier version created have no ceiling for a limit that was added later."""
    database = place.state / "keys.db"
    place.run("keys", "add", "old", "--state", place.state, "--max-memory", "64M")
    script = ("import sqlite3, sys; db = sqlite3.connect(sys.argv[1]); "
              "db.execute('ALTER TABLE key DROP COLUMN io_bytes'); db.commit()")
    subprocess.run(["/usr/bin/python3", "-c", script, database], check=True, timeout=TIMEOUT_S)
    place.run("keys", "add", "new", "--state", place.state, "--max-io", "1M")
    listed = json.loads(place.run("keys", "list", "--state", place.state, "--json").stdout)
    assert [(key["name"], key["max"]["io_bytes"], key["max"]["memory_bytes"])
            for key in listed] == [("old", None, 64 << 20), ("new", 1 << 20, None)]


@pytest.mark.slow
@pytest.mark.heavy
@pytest.mark.exclusive
def test_a_new_row_of_the_table_is_a_complete_limit(tmp_path):
    """Builds everything but the parts that use no limits."""
    source = tmp_path / "source"
    shutil.copytree(ROOT, source, symlinks=True, ignore=shutil.ignore_patterns(
        ".git", "build", "build-*", "node_modules", "__pycache__"))
    table = source / TABLE
    text = table.read_text(encoding="utf-8")
    table.write_text(text.replace("#undef DW_LIMIT\n", NEW_ROW + "#undef DW_LIMIT\n"),
                     encoding="utf-8")
    for command in (["meson", "setup", "--optimization=0", "-Danalysis=disabled", "-Dman=disabled",
                     "-Dexamples=false", "build"],
                    ["ninja", "-C", "build", "dewar", "dewar-launch", "dewar-serve"]):
        done = subprocess.run(command, cwd=source, capture_output=True, text=True, timeout=900,
                              check=False)
        assert done.returncode == 0, done.stdout[-4000:] + done.stderr

    (new,) = rows(NEW_ROW)
    for door in DOORS:
        folder = tmp_path / door.__name__
        folder.mkdir()
        door(Place(source / "build" / "dewar", folder), [new])
