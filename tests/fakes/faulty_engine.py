# SPDX-License-Identifier: Apache-2.0
"""An engine that fails where it is told to.

A proxy before a real engine that forwards every request except those with a fault, so that the
answers before the fault are real ones. Without an engine behind it, every request needs a fault.
"""

import contextlib
import re
import socket
import threading

HEAD_MAX = 1 << 16


class FaultyEngine:
    """With FaultyEngine(folder, engine's socket) as faulty: faulty.host is for DOCKER_HOST."""

    def __init__(self, folder, behind=None):
        self.socket = str(folder / "faulty.sock")
        self.host = "unix://" + self.socket
        self.behind = behind
        self.faults = []
        self.requests = []  # "METHOD path", as they came
        self.open = []
        self.listener = None

    def fault(self, pattern, what):
        """what(client, ask) answers each request whose "METHOD path" the pattern is found in.

        client is the connection; ask() brings the answer that the engine behind gives, whole.
        """
        self.faults.append((re.compile(pattern), what))

    def saw(self, pattern):
        return [r for r in self.requests if re.search(pattern, r)]

    def __enter__(self):
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.listener.bind(self.socket)
        self.listener.listen(64)
        threading.Thread(target=self.accept, daemon=True).start()
        return self

    def __exit__(self, *exc):
        for one in [self.listener, *self.open]:
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()

    def accept(self):
        with contextlib.suppress(OSError):
            while True:
                client, _ = self.listener.accept()
                self.open.append(client)
                threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def serve(self, client):
        with contextlib.suppress(OSError, ValueError):
            head, rest = read_head(client)
            request = b" ".join(head.split(b"\r\n", 1)[0].split()[:2]).decode("latin-1")
            self.requests.append(request)
            for pattern, what in self.faults:
                if pattern.search(request):
                    what(client, lambda: self.ask(client, head, rest))
                    break
            else:
                self.hand_on(client, head, rest)
        with contextlib.suppress(OSError):
            client.shutdown(socket.SHUT_RDWR)
        client.close()

    def connect(self, head, rest):
        engine = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        engine.connect(self.behind)
        self.open.append(engine)
        engine.sendall(last_on_connection(head) + rest)
        return engine

    def hand_on(self, client, head, rest):
        engine = self.connect(head, rest)
        up = threading.Thread(target=pump, args=(client, engine), daemon=True)
        up.start()
        pump(engine, client)
        engine.close()

    def ask(self, client, head, rest):
        engine = self.connect(head, rest)
        threading.Thread(target=pump, args=(client, engine), daemon=True).start()
        answer = b""
        while True:
            data = engine.recv(1 << 16)
            if not data:
                return answer
            answer += data


def read_head(sock):
    """The head of a request, and what came with it of the rest."""
    data = b""
    while b"\r\n\r\n" not in data:
        more = sock.recv(4096)
        if not more or len(data) > HEAD_MAX:
            raise ValueError("no request")
        data += more
    head, rest = data.split(b"\r\n\r\n", 1)
    return head + b"\r\n\r\n", rest


def last_on_connection(head):
    """One request a connection, so that the end of the answer is seen; but for an upgrade."""
    if re.search(rb"(?im)^connection:[^\r\n]*upgrade", head):
        return head
    head = re.sub(rb"(?im)^connection:[^\r\n]*\r\n", b"", head)
    return head[:-2] + b"Connection: close\r\n\r\n"


def pump(source, sink):
    with contextlib.suppress(OSError):
        while True:
            data = source.recv(1 << 16)
            if not data:
                break
            sink.sendall(data)
    with contextlib.suppress(OSError):
        sink.shutdown(socket.SHUT_WR)


# ---- what can go wrong ----

def hang(client, ask):
    """Never answers; also does not hang up."""
    while client.recv(1 << 16):
        pass


def hang_up(client, ask):
    """Nothing at all."""


def garbage(client, ask):
    client.sendall(bytes(range(256)) * 16)


def cut(client, ask):
    """The first half of the true answer."""
    answer = ask()
    client.sendall(answer[:len(answer) // 2])


def cut_body(client, ask):
    """The true head, and half of what it promises."""
    head, body = ask().split(b"\r\n\r\n", 1)
    client.sendall(head + b"\r\n\r\n" + body[:len(body) // 2])


def endless_head(client, ask):
    """Headers, for as long as the client listens; 64 MB at most."""
    client.sendall(b"HTTP/1.1 200 OK\r\n")
    for n in range(1 << 10):
        client.sendall(b"X-%d: %s\r\n" % (n, b"x" * (1 << 16)))


def endless_body(client, ask):
    """A string without an end; 256 MB at most."""
    client.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
                   b"Connection: close\r\n\r\n{\"Id\":\"")
    for _ in range(1 << 8):
        client.sendall(b"x" * (1 << 20))


def says(status, body, kind="application/json"):
    """An answer of our own."""
    body = body if isinstance(body, bytes) else body.encode()

    def answer(client, ask):
        client.sendall(b"HTTP/1.1 %d Said\r\nContent-Type: %s\r\nContent-Length: %d\r\n"
                       b"Connection: close\r\n\r\n%s" % (status, kind.encode(), len(body), body))

    return answer


def upgrades_and_sends(data):
    """To an attach: whatever data is, in place of the program's output."""

    def answer(client, ask):
        client.sendall(b"HTTP/1.1 101 UPGRADED\r\nContent-Type: application/vnd.docker.raw-stream"
                       b"\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n" + data)
        while client.recv(1 << 16):
            pass

    return answer
