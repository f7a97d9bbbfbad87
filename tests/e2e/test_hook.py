# SPDX-License-Identifier: Apache-2.0
"""The operator's check, a program or a URL: every failure of it is a denial."""

import http.server
import json
import os
import pathlib
import shutil
import socket
import ssl
import subprocess
import sys
import threading
import time
import urllib.request

import pytest

pytestmark = pytest.mark.cold

ALLOW = '{"decision": "allow"}'
SLOW_MS = 300      # the timeout that slow hooks exceed
PATIENCE_MS = 30000


@pytest.fixture
def ask_hook(dewar):
    return str(pathlib.Path(dewar).parent / "ask-hook")


@pytest.fixture
def ask(ask_hook):
    """ask(*hook): the answer of a hook to a request."""

    def ask_about(*hook, request='{"code": "1"}', timeout_ms=PATIENCE_MS, **kwargs):
        done = subprocess.run([ask_hook, str(timeout_ms), *map(str, hook)],
                              input=request.encode(), stdout=subprocess.PIPE, check=True,
                              timeout=120, **kwargs)
        return json.loads(done.stdout)

    return ask_about


@pytest.fixture
def script(tmp_path):
    """script(text): the operator's program."""

    def write(text):
        path = tmp_path / "hook"
        path.write_text("#!%s\nimport json, os, signal, sys, time\n%s\n"
                        % (sys.executable, text))
        path.chmod(0o755)
        return path

    return write


def assert_denied(answer, *words):
    assert answer["decision"] == "deny" and answer["failed"], answer
    assert answer["reason"].startswith("the operator's check failed: ")
    for word in words:
        assert word in answer["reason"]


# ---- a program ----

@pytest.mark.parametrize("decision", ["allow", "deny", "ask"])
def test_a_program_decides(ask, script, decision):
    hook = script("request = json.load(sys.stdin)\n"
                  "print(json.dumps({'decision': request['code'], 'reason': 'said so'}))")
    assert ask(hook, request=json.dumps({"code": decision})) == \
        {"decision": decision, "failed": False, "reason": "said so", "detail": ""}


def test_a_large_request_arrives_whole(ask, script):
    hook = script("n = len(json.load(sys.stdin)['code'])\n"
                  "print(json.dumps({'decision': 'ask', 'reason': str(n)}))")
    assert ask(hook, request=json.dumps({"code": "x" * 10000000}))["reason"] == "10000000"
    # A program that does not read its input is not delayed.
    assert ask(script("print('%s')" % ALLOW),
               request=json.dumps({"code": "x" * 10000000}))["decision"] == "allow"


def test_no_shell_interprets_the_arguments(ask, script):
    hook = script("print(json.dumps({'decision': 'ask', 'reason': ' '.join(sys.argv[1:])}))")
    assert ask(hook, "$(id)", "a;b", "*")["reason"] == "$(id) a;b *"


def test_the_program_inherits_nothing_from_dewar(ask, script, tmp_path):
    hook = script("print(json.dumps({'decision': 'ask', 'reason': '%s %s %s %d' % (\n"
                  "    sorted(os.environ), sorted(map(int, os.listdir('/proc/self/fd'))),\n"
                  "    os.getcwd(), os.getsid(0) == os.getpid())}))")
    leak = os.open(tmp_path, os.O_RDONLY)
    os.set_inheritable(leak, True)
    try:
        said = ask(hook, env={**os.environ, "SECRET": "x"}, close_fds=False)["reason"]
    finally:
        os.close(leak)
    # Descriptor 3 is that of listdir() itself. Python adds LC_CTYPE in some environments.
    assert said.replace("'LC_CTYPE', ", "") == "['LANG', 'PATH'] [0, 1, 2, 3] / 1"


@pytest.mark.parametrize("text, words", [
    ("", "its answer is empty"),
    ("print('yes')", "not JSON"),
    ("print('%s' * 2)" % ALLOW, "not JSON"),
    ("print('{\"decision\": \"maybe\"}')", "allow, deny or ask"),
    ("print('{\"decision\": 1}')", "must be a string"),
    ("print('{\"decision\": \"allow\", \"x\": 1}')", "unknown key"),
    ("print('%s'); sys.exit(3)" % ALLOW, "exit status 3"),
    ("print('%s', flush=True); os.kill(os.getpid(), signal.SIGSEGV)" % ALLOW, "signal 11"),
    ("print('%s' + ' ' * 100000)" % ALLOW, "longer than 65536 bytes"),
    ("while True: print('x' * 65536)", "longer than 65536 bytes"),
])
def test_an_invalid_answer_of_a_program_is_a_denial(ask, script, text, words):
    assert_denied(ask(script(text)), words)


def test_stderr_of_the_program_is_only_for_the_operator(ask, script):
    answer = ask(script("sys.stderr.write('x' * 9000 + '\\nlast \\x1b words\\n\\n'); sys.exit(1)"))
    assert_denied(answer, "exit status 1")
    assert "words" not in answer["reason"]
    answer = ask(script("sys.stderr.write('one\\nlast \\x1b words\\n\\n'); sys.exit(1)"))
    assert answer["detail"] == "last   words"
    assert "words" not in answer["reason"]


def test_a_program_may_write_much_to_stderr(ask, script):
    noisy = "for i in range(99): print('.' * 9000, '\\nline', i, file=sys.stderr)\n"
    assert ask(script(noisy + "print('%s')" % ALLOW))["decision"] == "allow"
    answer = ask(script(noisy + "sys.exit(3)"))
    assert_denied(answer, "exit status 3")
    assert answer["detail"] == "line 98"


def test_a_program_that_floods_stderr_is_killed_in_time(ask, script):
    # Four writers: the pipe is never empty for long.
    answer = ask(script("os.fork(), os.fork()\nwhile True: os.write(2, b'x' * 65536)"),
                 timeout_ms=SLOW_MS)
    assert_denied(answer, "did not end in time")


def test_a_missing_program_is_a_denial(ask, tmp_path):
    assert_denied(ask(tmp_path / "none"), "cannot be started")
    (tmp_path / "plain").write_text("x")
    assert_denied(ask(tmp_path / "plain"), "cannot be started")
    assert_denied(ask("true"), "absolute path")


def gone(pid):
    """Wait until there is no such process, or only a zombie."""
    for _ in range(600):
        try:
            with open("/proc/%d/stat" % pid, encoding="ascii") as file:
                if file.read().rsplit(")", 1)[1].split()[0] == "Z":
                    return True
        except (FileNotFoundError, ProcessLookupError):
            return True
        time.sleep(0.05)
    return False


@pytest.mark.parametrize("how", [
    "time.sleep(1000)",
    "print('%s', flush=True); time.sleep(1000)" % ALLOW,
    "signal.signal(signal.SIGTERM, signal.SIG_IGN); os.close(1); time.sleep(1000)",
])
def test_a_program_that_exceeds_its_time_is_a_denial_and_is_killed(ask, script, tmp_path, how):
    hook = script("child = os.fork()\n"
                  "open(%r + str(os.getpid()), 'w').close()\n" % str(tmp_path / "pid-") + how)
    assert_denied(ask(hook, timeout_ms=4000), "in time")
    pids = [int(file.name[4:]) for file in tmp_path.glob("pid-*")]
    assert len(pids) == 2
    assert all(gone(pid) for pid in pids)


def test_a_child_that_outlives_the_program_delays_nothing(ask, script, tmp_path):
    note = tmp_path / "pid"
    hook = script("child = os.fork()\n"
                  "if child == 0: time.sleep(1000)\n"
                  "open(%r, 'w').write(str(child))\n"
                  "print('%s')" % (str(note), ALLOW))
    assert ask(hook)["decision"] == "allow"
    assert gone(int(note.read_text()))


# ---- a URL ----

class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True


@pytest.fixture
def serve():
    """serve(answer): the URL of a server that answers with answer(handler, body).

    With serve(answer, context) it speaks TLS.
    """
    servers = []

    def start(answer, context=None):
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                answer(self, self.rfile.read(int(self.headers["Content-Length"])))

            def do_GET(self):
                answer(self, None)

            def log_message(self, *args):
                pass

        server = Server(("127.0.0.1", 0), Handler)
        if context:
            server.socket = context.wrap_socket(server.socket, server_side=True,
                                                do_handshake_on_connect=False)
        servers.append(server)
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        return "http%s://127.0.0.1:%d/check" % ("s" if context else "", server.server_port)

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


def reply(handler, status, body, **headers):
    handler.send_response(status)
    handler.send_header("Content-Length", str(len(body)))
    for name, value in headers.items():
        handler.send_header(name, value)
    handler.end_headers()
    try:
        handler.wfile.write(body)
    except OSError:  # the client has disconnected
        pass


def test_a_url_decides(ask, serve):
    heard = []

    def answer(handler, body):
        heard.append((handler.command, handler.path, handler.headers["Content-Type"], body))
        reply(handler, 200, b'{"decision": "ask", "reason": "said so"}')

    assert ask(serve(answer), request='{"code": "1"}') == \
        {"decision": "ask", "failed": False, "reason": "said so", "detail": ""}
    assert heard == [("POST", "/check", "application/json", b'{"code": "1"}')]


def test_a_url_receives_a_large_request_whole(ask, serve):
    sizes = []

    def answer(handler, body):
        sizes.append(len(body))
        reply(handler, 200, ALLOW.encode())

    assert ask(serve(answer), request="x" * 10000000)["decision"] == "allow"
    assert sizes == [10000000]


@pytest.mark.parametrize("status, body, words", [
    (200, b"", "its answer is empty"),
    (200, b"<html>", "not JSON"),
    (200, b'{"decision": true}', "must be a string"),
    (500, ALLOW.encode(), "HTTP status 500"),
    (404, ALLOW.encode(), "HTTP status 404"),
    (200, b'{"decision": "allow"}' + b" " * 100000, "too long"),
], ids=["empty", "html", "type", "500", "404", "long"])
def test_an_invalid_answer_of_a_url_is_a_denial(ask, serve, status, body, words):
    assert_denied(ask(serve(lambda handler, _: reply(handler, status, body))), words)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirects_are_not_followed(ask, serve, status):
    followed = []

    def there(handler, _):
        followed.append(handler.path)
        reply(handler, 200, ALLOW.encode())

    target = serve(there)
    url = serve(lambda handler, _: reply(handler, status, ALLOW.encode(), Location=target))
    assert_denied(ask(url), "HTTP status %d" % status, "not followed")
    assert followed == []


def test_a_slow_url_is_a_denial(ask, serve):
    done = threading.Event()

    def silent(handler, _):
        done.wait(60)

    def dripping(handler, _):
        handler.send_response(200)
        handler.end_headers()
        try:
            while not done.wait(0.05):
                handler.wfile.write(b" ")
        except OSError:
            pass

    try:
        for how in (silent, dripping):
            assert_denied(ask(serve(how), timeout_ms=SLOW_MS), "in time")
    finally:
        done.set()


def test_a_truncated_answer_is_a_denial(ask, serve):
    def answer(handler, _):
        handler.send_response(200)
        handler.send_header("Content-Length", "1000")
        handler.end_headers()
        handler.wfile.write(ALLOW.encode())
        handler.close_connection = True

    assert_denied(ask(serve(answer)), "was cut off")


def test_an_answer_that_is_too_large_is_a_denial(ask, serve):
    def answer(handler, _):
        handler.send_response(200)
        handler.end_headers()
        try:
            while True:
                handler.wfile.write(b"x" * 65536)
        except OSError:
            pass

    assert_denied(ask(serve(answer)), "too long")


def test_a_refused_connection_is_a_denial_that_hides_the_url(ask):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # and does not listen
        answer = ask("http://127.0.0.1:%d/secret" % taken.getsockname()[1])
    assert_denied(answer, "cannot be reached")
    assert "127.0.0.1" not in str(answer) and "secret" not in str(answer)


def test_other_protocols_are_a_denial(ask, tmp_path):
    (tmp_path / "answer").write_text(ALLOW)
    assert_denied(ask("file://%s" % (tmp_path / "answer")), "http:// or https://")


def test_a_server_without_tls_is_a_denial(ask, serve):
    heard = []

    def answer(handler, _):
        heard.append(handler.path)
        reply(handler, 200, ALLOW.encode())

    url = serve(answer)
    assert_denied(ask(url.replace("http:", "https:")), "certificate")
    assert heard == []
    assert ask(url)["decision"] == "allow"


def test_an_untrusted_certificate_is_a_denial(ask, serve, tmp_path, must):
    must(shutil.which("openssl"), "openssl is not installed")
    key, certificate = tmp_path / "key", tmp_path / "certificate"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
                    "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1",
                    "-keyout", key, "-out", certificate], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    heard = []

    def answer(handler, body):
        heard.append(body)
        reply(handler, 200, ALLOW.encode())

    url = serve(answer, context)
    assert_denied(ask(url), "certificate")
    assert heard == []
    # The control: a client that trusts this certificate gets an answer.
    trusting = ssl.create_default_context(cafile=certificate)
    with urllib.request.urlopen(url, b"{}", context=trusting, timeout=60) as got:
        assert got.read() == ALLOW.encode()
    assert heard == [b"{}"]


def test_the_url_is_not_on_the_command_line(ask, serve):
    seen = []

    def answer(handler, _):
        for folder in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                words = (folder / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if words[0] == b"dewar-hook":
                seen.append(words)
        reply(handler, 200, ALLOW.encode())

    assert ask(serve(answer))["decision"] == "allow"
    assert [b"dewar-hook", b""] in seen
    assert all(len(words) == 2 for words in seen)


# ---- notifications: sent without waiting ----

def notify(ask_hook, n, *hook, timeout_ms=PATIENCE_MS):
    return subprocess.Popen([ask_hook, "notify", str(n), str(timeout_ms), *map(str, hook)],
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def test_each_notification_arrives_in_order(ask_hook, serve):
    heard, all_heard = [], threading.Event()

    def answer(handler, body):
        heard.append(json.loads(body)["n"])
        reply(handler, 204, b"")
        if len(heard) == 5:
            all_heard.set()

    with notify(ask_hook, 5, serve(answer)) as process:
        assert process.stdout.readline() == "told\n"
        assert all_heard.wait(60)
        process.stdin.close()
        assert process.stdout.read() == ""
    assert process.returncode == 0
    assert heard == [0, 1, 2, 3, 4]


def test_a_notification_that_fails_is_only_reported(ask_hook, serve):
    url = serve(lambda handler, _: reply(handler, 500, b""))
    with notify(ask_hook, 2, url) as process:
        assert process.stdout.readline() == "told\n"
        for _ in range(2):
            assert "HTTP status 500" in process.stdout.readline()
        process.stdin.close()
    assert process.returncode == 0


def test_sending_notifications_never_blocks_and_the_queue_is_bounded(ask_hook, serve):
    done = threading.Event()
    url = serve(lambda handler, _: done.wait(60))
    with notify(ask_hook, 100, url) as process:
        lines = []
        while not lines or lines[-1] != "told\n":
            lines.append(process.stdout.readline())
        # 64 are queued, and one more may be being sent.
        assert all("dropped" in line for line in lines[:-1])
        assert len(lines) - 1 in (35, 36)
        done.set()
        process.stdin.close()
        assert process.wait(60) == 0
