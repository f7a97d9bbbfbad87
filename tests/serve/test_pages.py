# SPDX-License-Identifier: Apache-2.0
"""Neither a web page in a browser nor a program in a cell can call the daemon."""

import json
import os
import shutil
import subprocess

import pytest

from daemon import PATIENCE_S, clean_env

pytestmark = pytest.mark.privilege

TRUE = {"command": "true"}


@pytest.mark.parametrize("host", [
    "evil.example", "evil.example:{port}", "localhost.evil.example", "127.0.0.1.evil.example",
    "localhost@evil.example", "127.0.0.1:{port}@evil.example", "[::1]evil.example", "[::1", "::1",
    "", "localhost.", "127.1", "2130706433", "0x7f.1", "local host", "*"])
def test_a_foreign_host_header_is_refused(daemon, host):
    host = host.format(port=daemon.port)
    for path in "/healthz", "/v1/levels":
        reply = daemon.get(path, headers={"Host": host + " " if host == "" else host})
        assert reply.status in (400, 421), (host, reply)
        if reply.status == 421:
            assert reply.error["code"] == "misdirected"


@pytest.mark.parametrize("host", ["localhost", "LocalHost:{port}", "127.0.0.1", "127.0.0.1:{port}",
                                  "[::1]:{port}", "[::1]", "192.0.2.7", "localhost:1"])
def test_the_daemons_own_host_header_is_accepted(daemon, host):
    assert daemon.get("/healthz", headers={"Host": host.format(port=daemon.port)}).status == 200


@pytest.mark.parametrize("origin", [
    "null", "http://evil.example", "https://evil.example", "http://127.0.0.1:1", "http://localhost",
    "http://127.0.0.1", "http://127.0.0.1:{port}.evil.example", "file://", "", "*",
    "http://127.0.0.1:{port}@evil.example", "http://evil.example/127.0.0.1:{port}",
    "chrome-extension://127.0.0.1:{port}", "httpx://127.0.0.1:{port}", "ftp://127.0.0.1:{port}",
    "http://evil.example://127.0.0.1:{port}", "http://127.0.0.1:{port}/", "127.0.0.1:{port}"])
def test_a_foreign_origin_is_refused(daemon, origin):
    headers = {"Origin": origin.format(port=daemon.port) or " "}
    for reply in (daemon.get("/healthz", headers=headers), daemon.post(TRUE, headers=headers)):
        assert (reply.status, reply.error["code"]) == (403, "denied")
        assert "Access-Control-Allow-Origin" not in reply.headers


def test_the_daemons_own_origin_is_accepted(daemon):
    headers = {"Origin": "http://127.0.0.1:%d" % daemon.port}
    assert daemon.post(TRUE, headers=headers).status == 200
    assert daemon.post(TRUE, headers={"Origin": headers["Origin"].upper()}).status == 200


def test_a_cors_preflight_is_refused(daemon):
    reply = daemon.request("OPTIONS", "/v1/runs", headers={
        "Origin": "http://evil.example", "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "content-type"})
    assert reply.status == 403
    assert not [name for name in reply.headers if name.lower().startswith("access-control")]


def test_configured_hosts_and_origins_are_accepted(serve):
    daemon = serve({"http": {"hosts": ["dewar.example.org"],
                             "origins": ["https://app.example.org"]}})
    for name in "dewar.example.org", "Dewar.Example.Org:8443":
        assert daemon.get("/healthz", headers={"Host": name}).status == 200
    assert daemon.get("/healthz", headers={"Host": "x.dewar.example.org"}).status == 421
    for origin, status in (("https://app.example.org", 200), ("http://app.example.org", 403),
                           ("https://app.example.org.evil.example", 403),
                           ("https://app.example.org:444", 403)):
        assert daemon.post(TRUE, headers={"Origin": origin}).status == status, origin


def test_a_refused_origin_learns_nothing_about_keys(serve):
    daemon = serve()
    key = daemon.keys("add", "it")["key"]
    headers = {"Origin": "http://evil.example"}
    good = daemon.post(TRUE, headers=headers, key=key)
    wrong = daemon.post(TRUE, headers=headers, key="dewar_wrong")
    assert good.status == wrong.status == 403 and good.body == wrong.body


# ---- cells ----

# Tries to connect to each HOST PORT and each path of a socket, and prints the results.
REACH = """
import json, socket, sys
addresses, paths = json.loads(sys.argv[1])
tried = []
def ask(family, where):
    try:
        with socket.socket(family) as s:
            s.settimeout(1)
            s.connect(where)
            s.sendall(b'GET /healthz HTTP/1.1\\r\\nHost: localhost\\r\\n\\r\\n')
            return s.recv(1000).decode('latin-1').partition('\\r\\n')[0] or 'closed'
    except OSError as error:
        return type(error).__name__
with open('/proc/self/net/route') as file:
    for line in file.read().splitlines()[1:]:
        word = line.split()[2]
        gateway = '.'.join(str(int(word[i:i + 2], 16)) for i in (6, 4, 2, 0))
        addresses += [[gateway, addresses[0][1]]]
for host, port in addresses:
    print(host, ask(socket.AF_INET6 if ':' in host else socket.AF_INET, (host, port)))
for path in paths:
    print(path, ask(socket.AF_UNIX, path))
"""


def reach(daemon, addresses, paths, **more):
    result = daemon.run({"language": "python", "code": REACH, "limits": {"timeout_s": 50},
                         "args": [json.dumps([addresses, [str(path) for path in paths]])], **more})
    assert result["status"] == "success", result
    return result["stdout"].splitlines()


def test_a_cell_cannot_reach_the_daemon(serve):
    path = serve.folder / "sock"
    daemon = serve(args=["--socket", path])
    addresses = [["127.0.0.1", daemon.port], ["0.0.0.0", daemon.port], ["::1", daemon.port],
                 ["::ffff:127.0.0.1", daemon.port], ["127.0.0.2", daemon.port]]
    arg = json.dumps([addresses, [str(path)]])
    outside = subprocess.run(["/usr/bin/python3", "-c", REACH, arg], capture_output=True, text=True,
                             env=clean_env(), timeout=60, check=True).stdout.splitlines()
    assert "127.0.0.1 HTTP/1.1 200 OK" in outside and "%s HTTP/1.1 200 OK" % path in outside, \
        "the control: a program outside of a cell can connect"
    inside = reach(daemon, addresses, [path])
    assert len(inside) >= len(addresses) + 1
    assert not [line for line in inside if "HTTP" in line or "closed" in line], inside
    result = daemon.run({"command": "ls -la %s /proc/net; cd /proc/self/net && cat unix tcp"
                         % serve.folder})
    assert "Inode Path" in result["stdout"] and "local_address" in result["stdout"]
    assert str(path) not in result["stdout"] and ":%04X " % daemon.port not in result["stdout"]


def test_a_cell_with_the_full_network_cannot_reach_the_daemon(serve, must, is_root):
    """In a private network namespace, so that no packet leaves the host."""
    must(is_root and os.path.exists("/dev/net/tun") and shutil.which("pasta"),
         "needs root, /dev/net/tun and pasta")
    path = serve.folder / "sock"
    setup = ("ip link set lo up; ip link add d0 type veth peer name d1; ip link set d1 up; "
             "ip addr add 192.0.2.1/24 dev d0; ip link set d0 up; ip route add default via 192.0.2.254; exec \"$@\"")
    daemon = serve({"runs": {"network": True}}, args=["--socket", path], via=path,
                   prefix=["unshare", "-n", "--", "sh", "-c", setup, "sh"])
    addresses = [["127.0.0.1", daemon.port], ["192.0.2.1", daemon.port],
                 ["192.0.2.254", daemon.port], ["::1", daemon.port]]
    outside = subprocess.run(["nsenter", "-t", str(daemon.pid), "-n", "/usr/bin/python3", "-c", REACH,
                              json.dumps([addresses, []])], capture_output=True, text=True,
                             env=clean_env(), timeout=PATIENCE_S, check=True).stdout.splitlines()
    assert "127.0.0.1 HTTP/1.1 200 OK" in outside, "the control"
    inside = reach(daemon, addresses, [path], network="full")
    assert len(inside) > len(addresses) + 1, "no gateway was tried"
    assert not [line for line in inside if "HTTP" in line], inside


@pytest.mark.parametrize("level", ["process", "none"])
def test_a_daemon_with_weak_levels_requires_a_key_of_every_client(serve, dewar, level):
    """A program at such a level can connect to the daemon, but without a key it is refused."""
    config = {"runs": {"levels": ["container", level]}}
    refused = serve(config, wait=False)
    assert refused.wait_end() == 125
    assert any("dewar keys add" in line for line in refused.log), refused.log

    keys = subprocess.run([dewar, "keys", "add", "it", "--json", "--state", refused.state],
                          env=clean_env(), capture_output=True, timeout=60, check=True).stdout
    daemon = serve(config)
    daemon.key = json.loads(keys)["key"]
    code = REACH.replace("GET /healthz", "GET /v1/levels")
    result = daemon.run({"language": "python", "code": code, "level": level,
                         "args": [json.dumps([[["127.0.0.1", daemon.port]], []])]})
    assert "127.0.0.1 HTTP/1.1 401 Unauthorized" in result["stdout"].splitlines(), result
