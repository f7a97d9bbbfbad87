# SPDX-License-Identifier: Apache-2.0
"""HTTP as bytes, for messages that no HTTP library would send."""


def read_reply(sock):
    """All bytes until the other side closes the connection."""
    data = b""
    while True:
        try:
            more = sock.recv(65536)
        except ConnectionResetError:
            break
        if not more:
            break
        data += more
    return data


def statuses(data):
    """The status of each reply in data."""
    return [int(part.split(b" ", 1)[0]) for part in data.split(b"HTTP/1.1 ")[1:]]


def request_bytes(body=b'{"command": "true"}', extra=b""):
    """A request for a run; extra: more header lines."""
    return (b"POST /v1/runs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            b"Content-Length: %d\r\n%s\r\n" % (len(body), extra)) + body
