# SPDX-License-Identifier: Apache-2.0
"""How the daemon starts, reloads its configuration, and stops."""

import json
import os
import signal
import socket
import subprocess
import threading

import pytest

from daemon import PATIENCE_S, clean_env, wait_until
from e2e.helpers import alive, fresh_mark
from wire import read_reply, request_bytes, statuses

pytestmark = pytest.mark.privilege

TRUE = {"command": "true"}


class Waiting(threading.Thread):
    """A thread that sends a request; result() returns its reply."""

    def __init__(self, ask):
        super().__init__(daemon=True)
        self.ask = ask
        self.reply = self.error = None
        self.start()

    def run(self):
        try:
            self.reply = self.ask()
        except Exception as error:  # noqa: B902: the test asks for it
            self.error = error

    def result(self):
        self.join(2 * PATIENCE_S)
        assert not self.is_alive(), "no answer"
        assert self.error is None, self.error
        return self.reply


def wait_running(daemon, n):
    wait_until(lambda: "dewar_running %d\n" % n in daemon.get("/metrics").body.decode(),
               "%d to run" % n)


def test_sigterm_lets_a_run_finish_and_takes_no_other(serve):
    daemon = serve({"runs": {"drain": 120}})
    conn = daemon.connect()
    assert daemon.exchange(conn, "GET", "/readyz").status == 200
    mark = fresh_mark()
    body = {"language": "python", "args": [mark], "code": "import time; time.sleep(9); print('done')"}
    waiting = Waiting(lambda: daemon.post(body))
    streaming = Waiting(lambda: list(daemon.stream(body)))
    wait_until(lambda: len(alive(mark)) >= 2, "both to run")
    daemon.kill(signal.SIGTERM)
    daemon.wait_logged("daemon.stopping")

    reply = daemon.exchange(conn, "POST", "/v1/runs", TRUE)
    assert (reply.status, reply.error["code"]) == (503, "unavailable")
    assert reply.headers["Connection"] == "close"
    conn.close()
    # A new connection is refused and does not wait.
    with pytest.raises(ConnectionRefusedError):
        daemon.connect()

    reply = waiting.result()
    assert reply.status == 200 and reply.json["stdout"] == "done\n", reply
    assert streaming.result()[-1][1]["stdout"] == "done\n"
    assert daemon.wait_end() == 0
    assert daemon.audit("verify")["sound"]


def test_readyz_reports_that_the_daemon_stops(serve):
    daemon = serve({"runs": {"drain": 120}})
    run = daemon.start({"command": "sleep 100"})
    daemon.wait_state(run, "running")
    conn, other = daemon.connect(), daemon.connect()
    assert daemon.exchange(conn, "GET", "/readyz").status == 200
    assert daemon.exchange(other, "GET", "/readyz").status == 200
    daemon.kill(signal.SIGTERM)
    daemon.wait_logged("daemon.stopping")
    reply = daemon.exchange(conn, "GET", "/readyz")
    assert reply.status == 503 and "stop" in reply.error["message"]
    assert daemon.exchange(other, "DELETE", "/v1/runs/" + run).status == 202
    assert daemon.wait_end() == 0


def test_the_drain_deadline_ends_running_and_queued_runs(serve):
    """No queued run starts in place of a run that was ended."""
    daemon = serve({"runs": {"drain": 1, "concurrent": 2}})
    body = {"command": "sleep 500", "limits": {"timeout_s": 400}}
    running = [Waiting(lambda: daemon.post(body)) for _ in range(2)]
    wait_running(daemon, 2)
    queued = [Waiting(lambda: daemon.post(body)) for _ in range(20)]
    wait_until(lambda: "dewar_queue_length 20\n" in daemon.get("/metrics").body.decode(),
               "the queue")
    daemon.kill(signal.SIGTERM)
    for thread in running:
        reply = thread.result()
        assert reply.status == 200 and reply.json["reason"] == "cancelled"
    ends = []
    for thread in queued:
        reply = thread.result()
        ends.append(reply.status)
        assert reply.error["code"] == "unavailable", reply
    assert ends == [503] * 20
    assert daemon.wait_end() == 0


def test_a_second_signal_ends_all_runs_at_once(serve):
    daemon = serve({"runs": {"drain": 3600}})
    running = Waiting(lambda: daemon.post({"command": "sleep 500", "limits": {"timeout_s": 400}}))
    wait_running(daemon, 1)
    daemon.kill(signal.SIGTERM)
    daemon.wait_logged("daemon.stopping")
    daemon.kill(signal.SIGTERM)
    assert running.result().json["reason"] == "cancelled"
    assert daemon.wait_end() == 0


def test_the_daemon_stops_while_it_answers_requests(serve):
    """With connections open and requests for languages and levels in progress."""
    daemon = serve()
    asking = [Waiting(lambda path=path: daemon.get(path))
              for path in ("/v1/languages", "/v1/levels", "/v1/audit") * 3]
    idle = [daemon.raw(), daemon.raw(b"GET / HT"), daemon.raw(request_bytes()[:-3])]
    daemon.kill(signal.SIGTERM)
    assert daemon.wait_end() == 0, daemon.log[-5:]
    for thread in asking:
        thread.join(PATIENCE_S)
        assert thread.reply is None or thread.reply.status in (200, 429)
    for sock in idle:
        sock.close()


def test_sigint_stops_the_daemon(serve):
    daemon = serve()
    daemon.kill(signal.SIGINT)
    assert daemon.wait_end() == 0


def test_many_replies_are_sent_before_the_daemon_ends(serve):
    daemon = serve({"runs": {"drain": 60, "concurrent": 4}})
    waiting = [Waiting(lambda: daemon.post({"command": "sleep 1; head -c 300000 /dev/zero"}))
               for _ in range(8)]
    wait_until(lambda: "dewar_running 4\n" in (m := daemon.get("/metrics").body.decode()) and
               "dewar_queue_length 4\n" in m, "all of them to be taken")
    daemon.kill(signal.SIGTERM)
    for thread in waiting:
        reply = thread.result()
        assert reply.status == 200 and len(reply.json["stdout"]) == 300000
    assert daemon.wait_end() == 0


# ---- configuration ----

def test_sighup_reloads_the_configuration(serve):
    daemon = serve({"runs": {"max": {"timeout": 5}}})
    ask = {**TRUE, "limits": {"timeout_s": 20}}
    assert daemon.post(ask).status == 403
    daemon.configure({"runs": {"max": {"timeout": 60}}, "pool": {"disabled": True}})
    daemon.kill(signal.SIGHUP)
    daemon.wait_logged("config.reloaded")
    assert daemon.post(ask).status == 200


@pytest.mark.parametrize("text, word", [
    ("runs: {queues: 3}", "queues"), ("runs: [", ""), ("runs:\n  max:\n    timeout: soon\n", "timeout"),
    ("\0", "")])
def test_an_invalid_configuration_changes_nothing(serve, text, word):
    daemon = serve({"runs": {"max": {"timeout": 5}}})
    daemon.configure(text)
    daemon.kill(signal.SIGHUP)
    entry = daemon.wait_logged("config.rejected")
    assert word in entry["error"] and str(daemon.config_path) in entry["error"]
    assert daemon.post({**TRUE, "limits": {"timeout_s": 20}}).status == 403
    assert daemon.post({**TRUE, "limits": {"timeout_s": 5}}).status == 200


def test_a_reload_does_not_disturb_running_work(serve):
    daemon = serve({"runs": {"concurrent": 2}})
    waiting = [Waiting(lambda i=i: daemon.post({"command": "sleep 1; echo %d" % i}))
               for i in range(6)]
    for n in (1, 8, 2, 4):
        daemon.configure({"runs": {"concurrent": n, "drain": 1}, "pool": {"disabled": True}})
        seen = len(daemon.logged("config.reloaded"))
        daemon.kill(signal.SIGHUP)
        wait_until(lambda seen=seen: len(daemon.logged("config.reloaded")) > seen,
                   "a reload")
    for i, thread in enumerate(waiting):
        assert thread.result().json["stdout"] == "%d\n" % i


def check_config(dewar, path):
    return subprocess.run([dewar, "serve", "--check-config", "--config", path],
                          env=clean_env(), stdin=subprocess.DEVNULL, capture_output=True,
                          timeout=PATIENCE_S, check=False)


def test_check_config_starts_nothing(dewar, tmp_path):
    path = tmp_path / "dewar.yaml"
    path.write_text("state: %s/state\nruns:\n  queue: 3\n" % tmp_path, encoding="utf-8")
    assert check_config(dewar, path).returncode == 0
    assert not (tmp_path / "state").exists()


@pytest.mark.parametrize("text, line, key", [
    ("runs:\n  queue: 3\n  queues: 4\n", 3, "queues"), ("http:\n  idle: never\n", 2, "idle"),
    ("listen: nowhere\n", 1, "listen"), ("runs:\n  queue: 1\n  queue: 2\n", 3, "queue"),
    ("runs:\n  levels: [fortress]\n", 2, "levels")])
def test_check_config_names_line_and_key(dewar, tmp_path, text, line, key):
    path = tmp_path / "dewar.yaml"
    path.write_text(text, encoding="utf-8")
    done = check_config(dewar, path)
    assert done.returncode == 125
    assert b"%s:%d" % (os.fsencode(path), line) in done.stderr and key.encode() in done.stderr


def test_check_config_of_a_missing_file(dewar, tmp_path):
    done = check_config(dewar, tmp_path / "none.yaml")
    assert done.returncode == 125 and b"none.yaml" in done.stderr


def test_a_port_in_use_is_an_error(serve, dewar, tmp_path):
    daemon = serve()
    done = subprocess.run([dewar, "serve", "--listen", "127.0.0.1:%d" % daemon.port, "--state",
                           tmp_path / "state"], env=clean_env(), stdin=subprocess.DEVNULL,
                          capture_output=True, timeout=PATIENCE_S, check=False)
    assert done.returncode == 125 and str(daemon.port).encode() in done.stderr


# ---- systemd ----

class Manager:
    """Stands in for systemd: receives the messages of sd_notify()."""

    def __init__(self, path):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.sock.bind(path)
        self.sock.settimeout(PATIENCE_S)

    def hear(self, word):
        """Wait for that message."""
        heard = []
        while word not in heard:
            heard += self.sock.recv(4096).decode().splitlines()
        return heard


@pytest.mark.parametrize("abstract", [False, True])
def test_systemd_is_notified(serve, abstract):
    name = str(serve.folder / "notify")
    manager = Manager("\0" + name if abstract else name)
    daemon = serve(env={"NOTIFY_SOCKET": "@" + name if abstract else name})
    manager.hear("READY=1")
    assert daemon.get("/readyz").status == 200
    daemon.kill(signal.SIGHUP)
    manager.hear("RELOADING=1")
    manager.hear("READY=1")
    daemon.kill(signal.SIGTERM)
    manager.hear("STOPPING=1")
    assert daemon.wait_end() == 0


def activated(serve, socks, words=()):
    """A daemon that inherits these sockets; a shell sets LISTEN_PID, as exec keeps its pid."""
    script = 'LISTEN_PID=$$; export LISTEN_PID; exec "$@"'
    fds = tuple(sock.fileno() for sock in socks)
    moves = "".join(" %d<&%d" % (3 + i, fd) for i, fd in enumerate(fds))
    return serve(listen=False, pass_fds=fds, env={"LISTEN_FDS": str(len(fds))}, args=words,
                 prefix=["bash", "-c", "exec" + moves + "; " + script, "sh"])


def test_sockets_from_systemd_are_used(serve):
    tcp = socket.create_server(("127.0.0.1", 0))
    unix = socket.socket(socket.AF_UNIX)
    path = str(serve.folder / "given")
    unix.bind(path)
    unix.listen()
    # A client that connects before the daemon runs waits and is served.
    early = socket.create_connection(tcp.getsockname())
    early.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    daemon = activated(serve, [tcp, unix])
    assert daemon.port == tcp.getsockname()[1]
    assert statuses(read_reply(early)) == [200]
    early.close()
    assert daemon.run({"command": "echo hi"})["stdout"] == "hi\n"
    daemon.via = path
    result = daemon.run({"command": "env; ls -l /proc/self/fd"})
    assert result["exit_code"] == 0 and "PATH=" in result["stdout"] and " -> " in result["stdout"]
    assert "LISTEN" not in result["stdout"] and "socket" not in result["stdout"]
    daemon.stop()
    assert os.path.exists(path), "the socket belongs to the manager"
    # The manager still listens on both sockets: the next daemon answers.
    late = socket.create_connection(tcp.getsockname())
    with socket.socket(socket.AF_UNIX) as other:
        other.connect(path)
    late.close()
    tcp.close()
    unix.close()


def test_sockets_for_another_pid_are_ignored(serve):
    daemon = serve(env={"LISTEN_FDS": "3", "LISTEN_PID": "1"})
    assert daemon.run(TRUE)["status"] == "success"


def test_a_program_inherits_no_ignored_signal(serve):
    """It inherits no descriptor, no blocked signal and no environment either."""
    daemon = serve({"pool": {"disabled": False}}, env={"SECRET_OF_THE_DAEMON": "hush"})
    for _ in range(3):
        result = daemon.run({"language": "python", "code":
                             "import os\nprint(open('/proc/self/status').read())\n"
                             "print(dict(os.environ))\nprint(sorted(os.listdir('/proc/self/fd')))"})
        lines = dict(line.split(":\t", 1) for line in result["stdout"].splitlines() if ":\t" in line)
        assert int(lines["SigBlk"], 16) == 0
        # Python itself ignores SIGPIPE and SIGXFSZ; 32 and 33 are glibc's.
        assert int(lines["SigIgn"], 16) & ~(1 << 12 | 1 << 24 | 1 << 31 | 1 << 32) == 0
        assert "SECRET_OF_THE_DAEMON" not in result["stdout"]
        fds = json.loads(result["stdout"].splitlines()[-1].replace("'", '"'))
        assert set(fds) <= {"0", "1", "2", "3", "4"}, fds
    result = daemon.run({"command": "yes | head -c 2 >/dev/null; kill -TERM $$; echo on"})
    assert (result["reason"], result["signal"]) == ("signal", signal.SIGTERM), result
