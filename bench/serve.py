#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""`dewar serve`: latency beside the C API, load, overload, a crash, a bad neighbour.

The table goes to bench/serve.md. Everything is over loopback, with full walls and the audit
record on, against a daemon of its own that is started and ended here.

usage: bench/serve.py [--quick]
"""

import collections
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
DEWAR = os.environ.get("DEWAR", os.path.join(ROOT, "build", "dewar"))
QUICK = "--quick" in sys.argv[1:]

HELLO = {"language": "python", "code": "print(1)"}
FORK_BOMB = {"language": "python", "limits": {"timeout_s": 2},
             "code": "import os\nwhile True:\n  try: os.fork()\n  except OSError: pass"}


class Daemon:
    """One of our own, with a state folder that outlives it."""

    def __init__(self, state, config=""):
        self.state = state
        path = os.path.join(state, "dewar.yaml")
        with open(path, "w", encoding="ascii") as file:
            file.write(config + "\n")
        # To a file: a process that reads a pipe would wake up with each line, during the measurement.
        log = os.path.join(state, "log")
        with open(log, "w", encoding="ascii") as file:
            self.process = subprocess.Popen(
                [DEWAR, "serve", "--listen", "127.0.0.1:0", "--state", state, "--config", path],
                stderr=file)
        for _ in range(300):
            with open(log, encoding="utf-8") as file:
                found = re.search(r'"daemon\.ready","listen":"127\.0\.0\.1:(\d+)"', file.read())
            if found or self.process.poll() is not None:
                break
            time.sleep(0.1)
        if not found:
            sys.exit("bench: the daemon did not start; see its standard error")
        self.port = int(found.group(1))
        self.wait()

    def wait(self):
        for _ in range(600):
            try:
                if Client(self).get("/readyz")[0] == 200:
                    return
            except OSError:
                pass
            time.sleep(0.1)
        sys.exit("bench: the daemon did not get ready")

    def rss_mb(self):
        with open(f"/proc/{self.process.pid}/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE") / 1e6

    def stop(self):
        self.process.terminate()
        return self.process.wait(60)


class Client:
    """One connection that stays. Nothing but a socket: what is measured is the daemon."""

    def __init__(self, daemon, key=None):
        self.sock = socket.create_connection(("127.0.0.1", daemon.port), timeout=60)
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.head = "Host: localhost\r\n" + (f"Authorization: Bearer {key}\r\n" if key else "")
        self.rest = b""

    def request(self, request):
        body = json.dumps(request).encode()
        return (f"POST /v1/runs HTTP/1.1\r\n{self.head}Content-Type: application/json\r\n"
                f"Content-Length: {len(body)}\r\n\r\n").encode() + body

    def ask(self, data):
        """The status, and the body."""
        self.sock.sendall(data)
        data = self.rest
        while b"\r\n\r\n" not in data:
            data += self.read()
        head, data = data.split(b"\r\n\r\n", 1)
        length = int(re.search(rb"Content-Length: (\d+)", head, re.I).group(1))
        while len(data) < length:
            data += self.read()
        self.rest = data[length:]
        return int(head.split(b" ", 2)[1]), data[:length]

    def read(self):
        data = self.sock.recv(65536)
        if not data:
            raise ConnectionError("the daemon hung up")
        return data

    def get(self, path):
        return self.ask(f"GET {path} HTTP/1.1\r\n{self.head}\r\n".encode())


def percentile(values, share):
    values = sorted(values)
    return values[min(len(values) - 1, int(len(values) * share))]


def c_api(rounds):
    """p50 in ms of a warm run through the C API, and of the daemon's process nothing."""
    out = subprocess.run([DEWAR, "bench", "--only", "standby", "--rounds", str(rounds), "--json"],
                         stdout=subprocess.PIPE, text=True, check=True).stdout
    row = next(r for r in json.loads(out)["rows"] if r["name"] == "standby")
    return row["p50_ms"]


def http_times(daemon, rounds):
    client = Client(daemon)
    data = client.request(HELLO)
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        status, body = client.ask(data)
        times.append((time.perf_counter() - start) * 1e3)
        if status != 200 or b'"warm":true' not in body or b'"stdout":"1\\n"' not in body:
            sys.exit(f"bench: {status} {body[:300]!r}")
        time.sleep(0.01)
    return times


def latency(rows):
    """In turns, so that a noisy moment meets both."""
    rounds, turns = (40, 2) if QUICK else (100, 5)
    http, api = [], []
    with tempfile.TemporaryDirectory() as state:
        # As many wait as `dewar bench` has waiting; both ask when one is ready.
        daemon = Daemon(state, "pool: {templates: [{name: python, language: python, "
                               "standby: 16}]}")
        for _ in range(50):
            if b'template="python"} 16' in Client(daemon).get("/metrics")[1]:
                break
            time.sleep(0.2)
        for _ in range(turns):
            http += http_times(daemon, rounds)
            api.append(c_api(rounds))
        daemon.stop()
    api = percentile(api, 0.5)
    p50 = percentile(http, 0.5)
    rows.append(("`POST /v1/runs` of print(1), p50",
                 f"{p50:.2f} ms; C API, warm: {api:.2f} ms; p99 {percentile(http, 0.99):.2f} ms",
                 f"{p50 / api:.2f} x", "1.6 x", p50 / api <= 1.6))


def load(rows):
    """16 clients, each as fast as it is answered."""
    seconds = 10 if QUICK else 60
    counts, times, lock = collections.Counter(), [], threading.Lock()

    def work(daemon, until):
        client = Client(daemon)
        data = client.request(HELLO)
        while time.monotonic() < until:
            start = time.perf_counter()
            try:
                status, body = client.ask(data)
                good = status == 200 and b'"status":"success"' in body
            except OSError:
                good = False
            with lock:
                counts[good] += 1
                times.append((time.perf_counter() - start) * 1e3)
            if not good:
                return

    with tempfile.TemporaryDirectory() as state:
        daemon = Daemon(state)
        run_threads(16, work, daemon, time.monotonic() + seconds)
        memory = daemon.rss_mb()
        daemon.stop()
    rows.append((f"16 clients for {seconds} s",
                 f"{counts[True]} runs, {counts[True] / seconds:.0f} a second, "
                 f"p50 {percentile(times, 0.5):.1f} ms, p99 {percentile(times, 0.99):.1f} ms, "
                 f"daemon {memory:.0f} MB",
                 f"{counts[False]} errors", "0", counts[False] == 0))


def overload(rows):
    """10,000 requests from 512 connections at once."""
    total, connections = (2000, 128) if QUICK else (10000, 512)
    counts, lock, left = collections.Counter(), threading.Lock(), [total]

    def work(daemon):
        client = Client(daemon)
        data = client.request(HELLO)
        while True:
            with lock:
                if left[0] == 0:
                    return
                left[0] -= 1
            try:
                status, _ = client.ask(data)
            except OSError:
                status = "lost"
                client = Client(daemon)
            with lock:
                counts[status] += 1

    with tempfile.TemporaryDirectory() as state:
        daemon = Daemon(state)
        before = daemon.rss_mb()
        run_threads(connections, work, daemon)
        after = daemon.rss_mb()
        daemon.stop()
    lost = total - counts[200] - counts[429]
    rows.append((f"{total} requests at once, {connections} connections",
                 f"{counts[200]} served, {counts[429]} refused (429); daemon {before:.0f} MB "
                 f"before, {after:.0f} MB after", f"{lost} lost", "0", lost == 0))


def crash(rows):
    """kill -9 in the middle of 200 runs, and another one in its place."""
    slow = dict(HELLO, code="import time; time.sleep(0.2); print(1)")

    def work(daemon, n):
        client = Client(daemon)
        try:
            for _ in range(n):
                client.ask(client.request(slow))
        except OSError:
            pass

    with tempfile.TemporaryDirectory() as state:
        daemon = Daemon(state)
        threads = start_threads(20, work, daemon, 10)
        time.sleep(0.6)
        pid = daemon.process.pid
        daemon.process.send_signal(signal.SIGKILL)
        daemon.process.wait()
        for thread in threads:
            thread.join()
        daemon = Daemon(state)
        daemon.stop()
        remains = left_over(pid)
        env = dict(os.environ, DEWAR_AUDIT=os.path.join(state, "audit.db"))
        verify = subprocess.run([DEWAR, "audit", "verify"], env=env, stdout=subprocess.PIPE,
                                text=True, check=False)
        runs = json.loads(subprocess.run([DEWAR, "audit", "list", "--json"], env=env, text=True,
                                         stdout=subprocess.PIPE, check=True).stdout)
        counts = collections.Counter(run["status"] for run in runs)
    good = verify.returncode == 0 and counts["running"] == 0 and not remains
    rows.append(("kill -9 in the middle of 200 runs, and restart",
                 ", ".join(f"{n} {status}" for status, n in sorted(counts.items())) +
                 f"; the record is {verify.stdout.split(':')[0]}",
                 f"{counts['running']} without an end, {len(remains)} left over", "0, 0", good))


def left_over(pid):
    """Groups, and with them processes, of a daemon that is gone; a moment is allowed."""
    mine = re.compile(rf"dewar-\d+-{pid}-")
    for _ in range(50):
        found = [name for _, names, _ in os.walk("/sys/fs/cgroup") for name in names
                 if mine.match(name)]
        if not found:
            return []
        time.sleep(0.2)
    return found


def neighbour(rows):
    """Another tenant's fork bombs, two at a time, beside ours."""
    rounds = 100 if QUICK else 400

    def bomb(daemon, stop):
        while not stop.is_set():
            client = Client(daemon, keys[1])
            client.ask(client.request(FORK_BOMB))

    def measure(daemon):
        client = Client(daemon, keys[0])
        times = []
        for _ in range(rounds):
            start = time.perf_counter()
            if client.ask(client.request(HELLO))[0] != 200:
                sys.exit("bench: a run beside fork bombs failed")
            times.append((time.perf_counter() - start) * 1e3)
            time.sleep(0.01)
        return percentile(times, 0.5), percentile(times, 0.99)

    with tempfile.TemporaryDirectory() as state:
        keys = [subprocess.run([DEWAR, "keys", "add", name, "--state", state, "--json"], text=True,
                               stdout=subprocess.PIPE, check=True).stdout
                for name in ("us", "them")]
        keys = [json.loads(text)["key"] for text in keys]
        daemon = Daemon(state)
        measure(daemon)
        alone = measure(daemon)
        stop = threading.Event()
        threads = start_threads(2, bomb, daemon, stop)
        time.sleep(1)
        beside = measure(daemon)
        stop.set()
        for thread in threads:
            thread.join()
        daemon.stop()
    rows.append(("beside two fork bombs of another key, p99",
                 f"alone p50 {alone[0]:.2f}, p99 {alone[1]:.2f} ms; beside p50 {beside[0]:.2f}, "
                 f"p99 {beside[1]:.2f} ms", f"{beside[1] / alone[1]:.2f} x", "2 x",
                 beside[1] / alone[1] <= 2))


def start_threads(n, work, *args):
    threads = [threading.Thread(target=work, args=args, daemon=True) for _ in range(n)]
    for thread in threads:
        thread.start()
    return threads


def run_threads(n, work, *args):
    for thread in start_threads(n, work, *args):
        thread.join()


def main():
    rows = []
    for part in (latency, load, overload, crash, neighbour):
        print(f"bench: {part.__name__} ...", file=sys.stderr)
        part(rows)
        print("  %s: %s: %s (bar %s)" % rows[-1][:4])
    with open(os.path.join(ROOT, "bench", "serve.md"), "w", encoding="utf-8") as file:
        file.write("# `dewar serve`\n\nMade by `bench/serve.py`, a part of `make bench`, on "
                   f"{time.strftime('%Y-%m-%d')}: {os.cpu_count()} cores, "
                   f"{'root' if os.getuid() == 0 else 'a plain user'}, Linux "
                   f"{os.uname().release}; full walls, audit on.\n\n"
                   "| what | measured | | bar | |\n|---|---|---|---|---|\n")
        for what, seen, value, bar, good in rows:
            file.write(f"| {what} | {seen} | {value} | {bar} | "
                       f"{'kept' if good else '**missed**'} |\n")


if __name__ == "__main__":
    main()
