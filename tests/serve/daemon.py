# SPDX-License-Identifier: Apache-2.0
"""A daemon for one test, and a client that checks every reply against the OpenAPI document."""

import ctypes
import http.client
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import threading
import time

from contract import STREAMS, Contract

PATIENCE_S = 60  # the timeout of each wait; long enough for a busy host


def wait_until(condition, what, bound_s=PATIENCE_S):
    """Wait until condition() returns something true, and return that; what: a text or a function
    that returns one."""
    deadline = time.monotonic() + bound_s
    while True:
        value = condition()
        if value:
            return value
        assert time.monotonic() < deadline, "waited %g s in vain for %s" % (
            bound_s, what() if callable(what) else what)
        time.sleep(0.02)


def clean_env(changes=None):
    """Our environment without variables that affect tests; a value of None removes a variable."""
    env = {name: value for name, value in os.environ.items()
           if name not in ("CODE_EXEC_SANDBOX", "DOCKER_HOST", "NOTIFY_SOCKET", "LISTEN_FDS",
                           "LISTEN_PID") and not name.startswith("DEWAR_")}
    for name, value in (changes or {}).items():
        if value is None:
            env.pop(name, None)
        else:
            env[name] = value
    return env


def end_with_parent():
    """For preexec_fn: the daemon is killed when the tests end for any reason."""
    ctypes.CDLL(None, use_errno=True).prctl(1, signal.SIGKILL)


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path, timeout):
        super().__init__("localhost", timeout=timeout)
        self.path = str(path)

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


class Reply:
    def __init__(self, status, headers, body):
        self.status = status
        self.headers = headers
        self.body = body

    @property
    def json(self):
        return json.loads(self.body.decode("utf-8"))

    @property
    def error(self):
        return self.json["error"]

    def __repr__(self):
        return "%d %r" % (self.status, self.body[:1500])


class Stream:
    """A streamed reply; iterates over (event, data)."""

    def __init__(self, daemon, conn, response):
        self.daemon = daemon
        self.conn = conn
        self.response = response
        self.id = response.headers["X-Request-Id"]
        self.lines = response.headers["Content-Type"] == "application/x-ndjson"

    def __iter__(self):
        while True:
            event = self.next()
            if event is None:
                return
            yield event

    def next(self):
        """The next event, or None at the end."""
        line = self.response.readline()
        if line == b"":
            return None
        if self.lines:
            assert line.endswith(b"\n")
            value = json.loads(line.decode("utf-8"))
            event, data = value["event"], value["data"]
        else:
            assert line.startswith(b"event: "), line
            event = line[len(b"event: "):].decode("utf-8").rstrip("\n")
            line = self.response.readline()
            assert line.startswith(b"data: "), line
            data = json.loads(line[len(b"data: "):].decode("utf-8"))
            assert self.response.readline() == b"\n"
        self.daemon.contract.check_event(event, data)
        return event, data

    def close(self):
        """Disconnect."""
        self.response.close()
        self.conn.close()


class Daemon:
    """`dewar serve`, once it is ready."""

    def __init__(self, dewar, state, config=None, args=(), env=None, listen=True, preexec=None,
                 pass_fds=(), prefix=(), via=None, wait=True):
        self.dewar = dewar
        self.state = pathlib.Path(state)
        self.log = []
        self.port = None
        self.via = via  # a Unix socket to use instead of the port
        self.contract = None
        self.key = None
        self.state.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.config_path = self.state / "config.yaml"
        argv = [*prefix, dewar, "serve", "--state", str(self.state), *map(os.fspath, args)]
        if listen:
            argv += ["--listen", "127.0.0.1:0"]
        if config is not None:
            self.configure(config)
            argv += ["--config", str(self.config_path)]

        def before_exec():
            end_with_parent()
            if preexec:
                preexec()

        self.process = subprocess.Popen(argv, env=clean_env(env), stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                        preexec_fn=before_exec, pass_fds=pass_fds)
        self.pid = self.process.pid
        self.listen = listen
        self.reader = threading.Thread(target=self._read_log, daemon=True)
        self.reader.start()
        if wait:
            self.wait_ready()

    def configure(self, config):
        """Write the configuration file; JSON is YAML."""
        self.config_path.write_text(config if isinstance(config, str) else json.dumps(config),
                                    encoding="utf-8")

    def _read_log(self):
        for line in self.process.stderr:
            self.log.append(line.decode("utf-8").rstrip("\n"))

    def logged(self, message, **fields):
        """The log entries with that message and those fields."""
        found = []
        for line in list(self.log):
            if not line.startswith("{"):
                continue
            entry = json.loads(line)
            if entry["message"] == message and fields.items() <= entry.items():
                found.append(entry)
        return found

    def wait_logged(self, message, **fields):
        return wait_until(lambda: self.logged(message, **fields),
                          "the log to say %r %r: it has %r" % (message, fields, self.log[-5:]))[0]

    def is_ready(self):
        """Returns true once the listener that clients use has logged its line, with the port."""
        for entry in self.logged("daemon.ready"):
            port = re.fullmatch(r"127\.0\.0\.1:(\d+)", entry["listen"])
            if port:
                self.port = int(port.group(1))
        return bool(self.port if self.listen else self.logged("daemon.ready"))

    def wait_ready(self):
        wait_until(lambda: self.is_ready() or self.process.poll() is not None,
                   "the daemon to be ready")
        if self.process.poll() is not None:
            self.reader.join(PATIENCE_S)
        assert self.is_ready(), self.log
        if self.port or self.via:
            self.contract = Contract(self._plain_get("/openapi.json"))

    def _plain_get(self, path):
        conn = self.connect()
        try:
            conn.request("GET", path)
            return json.loads(conn.getresponse().read())
        finally:
            conn.close()

    def connect(self, timeout=PATIENCE_S):
        if self.via:
            conn = UnixConnection(self.via, timeout)
        else:
            conn = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        conn.connect()
        return conn

    def raw(self, data=b"", timeout=PATIENCE_S):
        """A connected socket on which these bytes were sent."""
        sock = socket.create_connection(("127.0.0.1", self.port), timeout=timeout)
        if data:
            sock.sendall(data)
        return sock

    def _headers(self, headers, key):
        given = {} if key is None else {"Authorization": "Bearer " + key}
        given.update(headers or {})
        return {name: value for name, value in given.items() if value is not None}

    def exchange(self, conn, method, path, body=None, headers=None, key=None):
        """Send one request over that connection and return its Reply."""
        if isinstance(body, (dict, list)):
            body = json.dumps(body).encode()
        headers = self._headers(headers, key if key is not None else self.key)
        if body is not None:
            headers = {"Content-Type": "application/json", **headers}
        conn.request(method, path, body=body,
                     headers={k: v for k, v in headers.items() if v != ""})
        response = conn.getresponse()
        got = response.read()
        self.contract.check(method, path, body, response.status, response.headers, got)
        return Reply(response.status, response.headers, got)

    def request(self, method, path, body=None, headers=None, key=None, timeout=PATIENCE_S):
        conn = self.connect(timeout)
        try:
            return self.exchange(conn, method, path, body, headers, key)
        finally:
            conn.close()

    def get(self, path, **kwargs):
        return self.request("GET", path, **kwargs)

    def delete(self, path, **kwargs):
        return self.request("DELETE", path, **kwargs)

    def post(self, body, **kwargs):
        return self.request("POST", "/v1/runs", body, **kwargs)

    def run(self, body, **kwargs):
        """The result of a run, which must be admitted."""
        reply = self.post(body, **kwargs)
        assert reply.status == 200, reply
        assert reply.headers["X-Request-Id"] == reply.json["id"]
        return reply.json

    def start(self, body, **kwargs):
        """Start an async run and return its id."""
        reply = self.post({**body, "async": True}, **kwargs)
        assert reply.status == 202, reply
        assert reply.headers["Location"] == "/v1/runs/" + reply.json["id"]
        assert reply.headers["X-Request-Id"] == reply.json["id"]
        return reply.json["id"]

    def state_of(self, run, **kwargs):
        reply = self.get("/v1/runs/" + run, **kwargs)
        assert reply.status == 200, reply
        return reply.json["state"]

    def wait_state(self, run, state, **kwargs):
        wait_until(lambda: self.state_of(run, **kwargs) == state,
                   "run %s to be %s" % (run, state))
        return self.get("/v1/runs/" + run, **kwargs).json

    def stream(self, body, accept="text/event-stream", headers=None, timeout=PATIENCE_S):
        assert accept in STREAMS
        conn = self.connect(timeout)
        text = json.dumps(body).encode()
        conn.request("POST", "/v1/runs", body=text,
                     headers={"Content-Type": "application/json", "Accept": accept,
                              **self._headers(headers, self.key)})
        response = conn.getresponse()
        if response.status != 200:
            got = response.read()
            conn.close()
            self.contract.check("POST", "/v1/runs", text, response.status, response.headers, got)
            return Reply(response.status, response.headers, got)
        self.contract.check_head("POST", "/v1/runs", 200, response.headers)
        self.contract.check_request(self.contract.operation("POST", "/v1/runs"), text)
        assert response.headers["Content-Type"] == accept
        return Stream(self, conn, response)

    def metrics(self, **kwargs):
        """{(name, labels): number}; fails if the text is malformed."""
        reply = self.get("/metrics", **kwargs)
        assert reply.status == 200, reply
        assert reply.headers["Content-Type"].startswith("text/plain; version=0.0.4")
        return read_metrics(reply.body.decode("utf-8"))

    def keys(self, *words):
        """The JSON output of `dewar keys`."""
        return keys(self.dewar, self.state, *words)

    def audit(self, *words):
        """The JSON output of `dewar audit` for this daemon's record."""
        done = subprocess.run([self.dewar, "audit", *words, "--json"],
                              env=clean_env({"DEWAR_AUDIT": str(self.state / "audit.db")}),
                              stdin=subprocess.DEVNULL, capture_output=True,
                              timeout=PATIENCE_S, check=False)
        assert done.returncode == 0, done
        return json.loads(done.stdout)

    def recorded(self, run, **kwargs):
        """The run in the reply of GET /v1/audit, or None."""
        reply = self.get("/v1/audit?id=" + run, **kwargs)
        assert reply.status == 200, reply
        runs = reply.json["runs"]
        assert len(runs) <= 1
        return runs[0] if runs else None

    def wait_recorded(self, run, **end):
        """Wait for the run's outcome with those values: it may be recorded after the reply."""
        def ended():
            record = self.recorded(run)
            return record if record and "end" in record and \
                end.items() <= record["end"].items() else None

        return wait_until(ended, "the record of %s to have %r; it is %r"
                          % (run, end, self.recorded(run)))

    def kill(self, sig):
        os.kill(self.pid, sig)

    def wait_end(self):
        status = self.process.wait(PATIENCE_S)
        self.reader.join(PATIENCE_S)
        return status

    def stop(self):
        """Stop the daemon with SIGTERM; its exit status must be 0."""
        if self.process.poll() is None:
            self.kill(signal.SIGTERM)
        status = self.wait_end()
        assert status == 0, "the daemon ended with %d: %r" % (status, self.log[-10:])

    def finish(self):
        """End the daemon if it still runs; no sanitizer may have reported an error."""
        if self.process.poll() is None:
            self.kill(signal.SIGTERM)
            try:
                self.process.wait(PATIENCE_S)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.reader.join(PATIENCE_S)
        self.process.stderr.close()
        said = [line for line in self.log if "Sanitizer" in line or "runtime error" in line]
        assert not said and self.process.returncode in (0, 125, -signal.SIGKILL), self.log[-40:]


def write_policy(path, policy):
    """Replace the file atomically, as an editor does; JSON is YAML."""
    text = policy if isinstance(policy, str) else json.dumps(
        {"version": 1, "default": "allow", **policy}, indent=1)
    new = path.with_suffix(".new")
    new.write_text(text, encoding="utf-8")
    new.rename(path)


def keys(dewar, state, *words):
    done = subprocess.run([dewar, "keys", *words, "--state", str(state), "--json"],
                          env=clean_env(), stdin=subprocess.DEVNULL, capture_output=True,
                          timeout=PATIENCE_S, check=False)
    assert done.returncode == 0, done
    return json.loads(done.stdout or "null")


LINE = re.compile(r'([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? ([-+0-9.eEinfNa]+)')
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"')


def read_metrics(text):
    """Parse Prometheus' text format as strictly as its specification says."""
    found, kinds, done = {}, {}, set()
    current = None
    assert text.endswith("\n")
    for line in text.splitlines():
        if line.startswith("# "):
            _, what, name, rest = line.split(" ", 3)
            assert what in ("HELP", "TYPE") and rest, line
            if name != current:
                assert name not in done, "%s comes in two groups" % name
                done.add(name)
                current = name
            if what == "TYPE":
                assert rest in ("counter", "gauge", "histogram") and name not in kinds, line
                kinds[name] = rest
            continue
        match = LINE.fullmatch(line)
        assert match, "not a sample: %r" % line
        name, labels, value = match.groups()
        assert name == current or kinds[current] == "histogram" and name in (
            current + "_bucket", current + "_sum", current + "_count"), line
        pairs = LABEL.findall(labels or "")
        assert ",".join('%s="%s"' % pair for pair in pairs) == (labels or ""), line
        key = (name, tuple(sorted(pairs)))
        assert key not in found, "twice: %r" % line
        found[key] = float(value)
    for name, kind in kinds.items():
        if kind == "histogram":
            check_histogram(name, found)
    return found


def check_histogram(name, found):
    series = {}
    for (sample, labels), value in found.items():
        if sample == name + "_bucket":
            bound = float(dict(labels)["le"])
            rest = tuple(pair for pair in labels if pair[0] != "le")
            series.setdefault(rest, []).append((bound, value))
    assert series, name
    for labels, buckets in series.items():
        buckets.sort()
        counts = [count for _, count in buckets]
        assert counts == sorted(counts) and buckets[-1][0] == float("inf"), name
        assert found[name + "_count", labels] == counts[-1]
        assert (name + "_sum", labels) in found


def total(metrics, name, **labels):
    """The sum of a name's samples with these labels."""
    return sum(value for (sample, pairs), value in metrics.items()
               if sample == name and labels.items() <= dict(pairs).items())
