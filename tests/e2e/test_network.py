# SPDX-License-Identifier: Apache-2.0
"""No network unless it is requested, and never the host's own loopback.

Nothing here sends a packet to a real address: the tests of network full run in two
network namespaces that are connected only with each other.
"""

import contextlib
import ctypes
import json
import os
import pathlib
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import threading
import time

import pytest

from e2e.helpers import (MARGIN_S, assert_nothing_left, children_of, descendants, is_live,
                         name_of, ours_or_orphaned, wait_until)

pytestmark = pytest.mark.privilege

# Connects to each address of argv (HOST PORT) and prints one result a line.
CONNECT = """
import errno, socket, sys
for host, port in zip(sys.argv[1::2], sys.argv[2::2]):
    family = socket.AF_INET6 if ':' in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as s:
        s.settimeout(10)
        try:
            s.connect((host, int(port)))
            print('got', s.recv(100).decode())
        except OSError as e:
            print(errno.errorcode.get(e.errno, type(e).__name__))
"""

# The same over TCP and UDP, with every way in which an unprivileged program can choose the
# interface for its packets. Its output does not matter, only what the witnesses receive.
SNEAK = """
import itertools, socket, struct, sys
indexes = [i for i, name in socket.if_nameindex() if name != 'lo']
targets = zip(sys.argv[1::2], sys.argv[2::2])
def plain(s, index): pass
def device(s, index):
    s.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE,
                 socket.if_indextoname(index).encode())
def unicast(s, index):
    level, name = ((socket.IPPROTO_IP, 50) if s.family == socket.AF_INET
                   else (socket.IPPROTO_IPV6, 76))
    s.setsockopt(level, name, struct.pack('!I', index))
for (host, port), index, way, kind in itertools.product(
        targets, indexes, (plain, device, unicast), (socket.SOCK_STREAM, socket.SOCK_DGRAM)):
    family = socket.AF_INET6 if ':' in host else socket.AF_INET
    scope = (0, index) if host.startswith('fe80') else ()
    with socket.socket(family, kind) as s:
        s.settimeout(0.05)
        try:
            way(s, index)
            s.connect((host, int(port), *scope))
            s.send(b'sneak')
            s.recv(100)
        except OSError:
            pass
    # The interface beside the packet, instead of on the socket.
    if kind == socket.SOCK_DGRAM and way is plain:
        with socket.socket(family, kind) as s:
            s.settimeout(0.05)
            info = ((socket.IPPROTO_IP, 8, struct.pack('=I4s4s', index, b'', b''))
                    if family == socket.AF_INET
                    else (socket.IPPROTO_IPV6, 50, struct.pack('=16sI', b'', index)))
            try:
                s.sendmsg([b'sneak'], [info], 0, (host, int(port), *scope))
            except OSError:
                pass
print('done')
"""


class Witness:
    """Listens over TCP and UDP, and stores the addresses of its clients."""

    def __init__(self, host, port=0, netns=None):
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self.seen = []
        with inside(netns):
            self.sockets = [socket.socket(family, socket.SOCK_STREAM),
                            socket.socket(family, socket.SOCK_DGRAM)]
        for sock in self.sockets:
            if family == socket.AF_INET6:
                sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            sock.bind((host, port))
            port = sock.getsockname()[1]
        self.port = port
        self.sockets[0].listen(64)
        self.threads = [threading.Thread(target=self.serve_tcp, daemon=True),
                        threading.Thread(target=self.serve_udp, daemon=True)]
        for thread in self.threads:
            thread.start()

    def serve_tcp(self):
        with contextlib.suppress(OSError):
            while True:
                peer, address = self.sockets[0].accept()
                self.seen.append(("tcp", address))
                with peer, contextlib.suppress(OSError):
                    peer.sendall(b"witness")

    def serve_udp(self):
        with contextlib.suppress(OSError):
            while True:
                data, address = self.sockets[1].recvfrom(2048)
                if not data:
                    break  # it was shut down
                self.seen.append(("udp", address, data))

    def close(self):
        for sock in self.sockets:
            with contextlib.suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)
            sock.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


@contextlib.contextmanager
def inside(netns):
    """Within this context the thread creates sockets in that network namespace."""
    if netns is None:
        yield
        return
    libc = ctypes.CDLL(None, use_errno=True)
    with open("/proc/thread-self/ns/net", "rb") as home:
        with open("/run/netns/" + netns, "rb") as there:
            assert libc.setns(there.fileno(), 0x40000000) == 0
        try:
            yield
        finally:
            assert libc.setns(home.fileno(), 0x40000000) == 0


def helpers():
    """Pids of the processes that forward the packets of our cells."""
    # passt executes itself as passt.avx2 if the processor supports that.
    names = {"pasta", "passt", "passt.avx2", "pasta.avx2", "dewar-pasta"}
    return {pid for pid in ours_or_orphaned(names) if name_of(pid) in names}


def assert_no_helper_left(before):
    """An orphan may belong to another test, and then ends soon."""
    wait_until(lambda: not helpers() - before, "what carries packets to end")


# ---- none, the default ----

@pytest.mark.core
def test_a_cell_has_no_interface_and_no_route(run_json):
    done = run_json("python", "-c", "import socket\n"
                    "print([name for _, name in socket.if_nameindex()])\n"
                    "print(len(open('/proc/self/net/route').readlines()) - 1)")
    assert done["stdout"] == "['lo']\n0\n"
    assert done["proof"]["walls"]["namespaces"]["net"] is True
    assert done["proof"]["walls"]["network"] == {"interfaces": 0, "routes": 0}
    assert done["metadata"]["sandbox_network"] is False


@pytest.mark.core
@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_the_hosts_loopback_is_out_of_reach(run, host):
    with Witness(host) as witness:
        done = run("run", "python", "-c", CONNECT, "--", host, str(witness.port))
        assert done.stdout == b"ECONNREFUSED\n", done
        assert witness.seen == []
        # The same program, without walls, reaches it.
        done = run("run", "--level", "none", "python", "-c", CONNECT, "--", host,
                   str(witness.port))
        assert done.stdout == b"got witness\n", done
        assert [kind for kind, *_ in witness.seen] == ["tcp"]


# Addresses reserved for documentation: no host would receive a packet that got out.
@pytest.mark.parametrize("host", ["192.0.2.1", "203.0.113.7", "2001:db8::1"])
def test_every_other_address_is_unreachable_at_once(run, host):
    # A timeout would take a second; a slow start does not count.
    code = "import time\nstart = time.monotonic()" + CONNECT + "print(time.monotonic() - start < 1)"
    done = run("run", "python", "-c", code, "--", host, "80")
    assert done.stdout == b"ENETUNREACH\nTrue\n", done


def test_the_cells_own_loopback_works(run):
    done = run("run", "python", "-c", """
import socket, threading
for family, host in (socket.AF_INET, '127.0.0.1'), (socket.AF_INET6, '::1'):
    server = socket.socket(family)
    server.bind((host, 0))
    server.listen(1)
    def serve():
        peer, _ = server.accept()
        peer.sendall(peer.recv(100).upper())
        peer.close()
    threading.Thread(target=serve).start()
    with socket.create_connection(server.getsockname()[:2], 10) as s:
        s.sendall(b'hello')
        print(s.recv(100).decode())
print(socket.gethostbyname('localhost'))
""")
    assert done.stdout == b"HELLO\nHELLO\n127.0.0.1\n", done


def test_two_cells_do_not_share_a_loopback(dewar, run):
    code = ("import socket, sys; s = socket.create_server(('127.0.0.1', 18765));"
            "print('up', flush=True); sys.stdin.read()")
    with subprocess.Popen([dewar, "run", "python", "-c", code], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE) as first:
        assert first.stdout.readline() == b"up\n"
        done = run("run", "python", "-c", CONNECT, "--", "127.0.0.1", "18765")
        assert done.stdout == b"ECONNREFUSED\n"
        first.stdin.close()
        assert first.wait(MARGIN_S) == 0


def test_a_name_that_cannot_be_looked_up_fails_fast(run):
    done = run("run", "python", "-c", "import socket, time\n"
               "start = time.monotonic()\n"
               "try: socket.getaddrinfo('dewar.example', 80)\n"
               "except socket.gaierror as e: print(e.errno in (socket.EAI_AGAIN,"
               " socket.EAI_NONAME), time.monotonic() - start < 3)")
    assert done.stdout == b"True True\n", done


def test_an_abstract_unix_socket_of_the_host_is_out_of_reach(run):
    name = "dewar-test-%d" % os.getpid()
    code = ("import socket, sys\ns = socket.socket(socket.AF_UNIX)\n"
            "try: s.connect('\\0' + sys.argv[1]); print('reached')\n"
            "except OSError as e: print(e.strerror)")
    with socket.socket(socket.AF_UNIX) as sock:
        sock.bind("\0" + name)
        sock.listen(4)
        done = run("run", "python", "-c", code, "--", name)
        assert done.stdout == b"Connection refused\n", done
        done = run("run", "--level", "none", "python", "-c", code, "--", name)
        assert done.stdout == b"reached\n", done


# Opens a socket for each FAMILY TYPE PROTOCOL of argv and prints one result a line.
OPEN = """
import errno, socket, sys
for family, kind, protocol in zip(*[map(int, sys.argv[1:])] * 3):
    try:
        socket.socket(family, kind, protocol).close()
        print('opened')
    except OSError as e:
        print(errno.errorcode[e.errno])
"""


@pytest.mark.parametrize("family, kind, listed_as", [
    (17, socket.SOCK_RAW, "PACKET"), (40, socket.SOCK_STREAM, "AF_VSOCK"),
    (38, socket.SOCK_SEQPACKET, "ALG")], ids=["AF_PACKET", "AF_VSOCK", "AF_ALG"])
def test_socket_families_that_bypass_the_namespace_are_refused(run, is_root, family, kind, listed_as):
    args = ("python", "-c", OPEN, "--", str(family), str(kind), "0")
    done = run("run", *args)
    assert done.stdout == b"EAFNOSUPPORT\n", done
    # Without walls the kernel decides. Families that it lacks are not tried: that would load a
    # module.
    listed = [line.split()[0] for line in open("/proc/net/protocols", encoding="ascii")]
    if listed_as in listed:
        done = run("run", "--level", "none", *args)
        is_allowed = is_root or listed_as != "PACKET"
        assert done.stdout == (b"opened\n" if is_allowed else b"EPERM\n"), done


def test_only_netlink_route_can_be_opened(run):
    def ask(protocols, *options):
        triples = [str(n) for p in protocols for n in (socket.AF_NETLINK, socket.SOCK_RAW, p)]
        done = run("run", *options, "python", "-c", OPEN, "--", *triples)
        return dict(zip(protocols, done.stdout.decode().split(), strict=True))

    # MAX_LINKS of linux/netlink.h; protocol 0 is NETLINK_ROUTE.
    assert ask(range(32)) == {0: "opened", **{p: "EPERM" for p in range(1, 32)}}
    # The kernel's own sockets have port 0; they list the available protocols without loading a
    # module.
    sockets = [line.split() for line in open("/proc/net/netlink", encoding="ascii")][1:]
    there = sorted({int(protocol) for _, protocol, port, *_ in sockets if port == "0"})
    assert {0, 15, 16} <= set(there)  # routes, NETLINK_KOBJECT_UEVENT, NETLINK_GENERIC
    assert ask(there, "--level", "none") == {p: "opened" for p in there}


# Reads links, addresses and routes from the kernel, and tries to alter each. Outside of a cell
# this must run in a network namespace of its own.
RTNETLINK = r"""
import errno, json, socket, struct
s = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
s.bind((0, 0))
s.settimeout(10)
LO = 1  # index of lo in every namespace
NEWLINK, GETLINK, NEWADDR, DELADDR, GETADDR, NEWROUTE, DELROUTE, GETROUTE = (
    16, 18, 20, 21, 22, 24, 25, 26)
REQUEST, ACK, DUMP, CREATE = 1, 4, 0x300, 0x600  # CREATE is exclusive

def attr(kind, value):
    return struct.pack('=HH', len(value) + 4, kind) + value + b'\0' * (-len(value) % 4)

def send(kind, flags, body):
    s.send(struct.pack('=IHHII', 16 + len(body), kind, flags | REQUEST, 1, 0) + body)

def messages():
    while True:
        data = s.recv(1 << 20)
        while data:
            size, kind = struct.unpack_from('=IH', data)
            yield kind, data[16:size]
            data = data[(size + 3) & ~3:]

def dump(kind, header):
    send(kind, DUMP, header)
    found = []
    for answer, body in messages():
        if answer == 3:  # NLMSG_DONE
            return found
        assert answer != 2, body  # NLMSG_ERROR
        rest, attrs = body[len(header):], {}
        while rest:
            size, number = struct.unpack_from('=HH', rest)
            attrs[number] = rest[4:size]
            rest = rest[(size + 3) & ~3:]
        found.append((body, attrs))

def alter(kind, flags, body):
    send(kind, flags | ACK, body)
    _, answer = next(messages())
    number = -struct.unpack_from('=i', answer)[0]
    return errno.errorcode[number] if number else 'done'

def listen_everywhere():
    try:
        s.setsockopt(270, 8, 1)  # SOL_NETLINK, NETLINK_LISTEN_ALL_NSID
        return 'done'
    except OSError as e:
        return errno.errorcode[e.errno]

def link(index, flags, change, *attrs):
    return struct.pack('=BxHiII', 0, 0, index, flags, change) + b''.join(attrs)

own, target = socket.inet_aton('192.0.2.1'), socket.inet_aton('198.51.100.0')
address = struct.pack('=BBBBi', 2, 32, 0, 0, LO) + attr(2, own)
route = (struct.pack('=8BI', 2, 24, 0, 0, 254, 4, 253, 1, 0)
         + attr(1, target) + attr(4, struct.pack('=i', LO)))
veth = attr(3, b'probe\0') + attr(18, attr(1, b'veth'))  # its name, and its kind
altered = {
    'take lo down': alter(NEWLINK, 0, link(LO, 0, 1)),
    'bring lo up': alter(NEWLINK, 0, link(LO, 1, 1)),
    'add a link': alter(NEWLINK, CREATE, link(0, 0, 0, veth)),
    'add an address': alter(NEWADDR, CREATE, address),
    'add a route': alter(NEWROUTE, CREATE, route),
    'listen to every namespace': listen_everywhere(),
}
links = [attrs[3].rstrip(b'\0').decode() for _, attrs in dump(GETLINK, link(0, 0, 0))]
addresses = [attrs[1] for _, attrs in dump(GETADDR, struct.pack('=BBBBi', 0, 0, 0, 0, 0))]
routes = dump(GETROUTE, struct.pack('=8BI', 0, 0, 0, 0, 0, 0, 0, 0, 0))
removed = {
    'remove the address': alter(DELADDR, 0, address),
    'remove the route': alter(DELROUTE, 0, route),
}
def text(packed):
    return socket.inet_ntop(socket.AF_INET if len(packed) == 4 else socket.AF_INET6, packed)

print(json.dumps({
    'altered': {**altered, **removed}, 'links': links, 'addresses': [text(a) for a in addresses],
    'routes': [text(attrs[1]) if 1 in attrs else 'default' for _, attrs in routes]}))
"""


def test_netlink_shows_an_empty_network_and_alters_nothing(dewar, run, is_root):
    done = run("run", "python", "-c", RTNETLINK)
    assert done.returncode == 0, done
    seen = json.loads(done.stdout)
    assert set(seen["altered"].values()) == {"EPERM"}, seen
    assert seen["links"] == ["lo"]
    assert sorted(seen["addresses"]) == ["127.0.0.1", "::1"]
    assert [r for r in seen["routes"] if r != "::1" and not r.startswith("127.")] == [], seen

    # The control: without walls it can alter all of them, in a namespace that ends with it.
    done = subprocess.run(["unshare", "-n" if is_root else "-rn", dewar, "run", "--level", "none",
                           "python", "-c", RTNETLINK], stdin=subprocess.DEVNULL,
                          capture_output=True, timeout=60, check=False)
    assert done.returncode == 0, done
    control = json.loads(done.stdout)
    assert control["altered"] == dict.fromkeys(seen["altered"], "done")
    assert "probe" in control["links"]
    assert "192.0.2.1" in control["addresses"]
    assert "198.51.100.0" in control["routes"]


def test_level_process_reports_that_it_uses_the_hosts_network(run_json):
    done = run_json("--level", "process", "python", "-c", "print(1)")
    assert done["metadata"]["sandbox_network"] is True
    assert done["proof"]["walls"]["namespaces"]["net"] is False


# ---- full, where it cannot be ----

def test_a_plain_user_is_told_what_network_full_lacks(run, run_json, is_root, must):
    must(not is_root, "root may open /dev/net/tun")
    if os.access("/dev/net/tun", os.R_OK | os.W_OK):
        must(False, "this user may open /dev/net/tun")
    done = run_json("--network", "full", "python", "-c", "print(1)")
    assert done["status"] == "error" and done["reason"] == "unavailable"
    assert done["metadata"]["ok"] is False and done["exit_code"] is None
    assert "/dev/net/tun" in done["hint"]
    assert run("run", "--network", "full", "python", "-c", "1").returncode == 125


# ---- full, where it works ----

class Lab:
    """Two connected network namespaces: dewar runs in a, and b is the outside world."""

    def __init__(self):
        self.a = "dewar-test-a%d" % os.getpid()
        self.b = "dewar-test-b%d" % os.getpid()
        net = "10.213.%d" % (os.getpid() % 250 + 1)
        self.a4, self.b4 = net + ".1", net + ".2"
        self.a6, self.b6 = "fd13:%x::1" % (os.getpid() % 65536), \
                           "fd13:%x::2" % (os.getpid() % 65536)
        self.etc = pathlib.Path("/etc/netns") / self.a
        self.made_etc = False

    def up(self):
        short = "dwt%d" % os.getpid()
        for name in self.a, self.b:
            ip("netns", "add", name)
            ip("-n", name, "link", "set", "lo", "up")
            # Duplicate address detection would take a second.
            subprocess.run(["nsenter", "--net=/run/netns/" + name, "sh", "-c", "echo 0 >"
                            " /proc/sys/net/ipv6/conf/default/accept_dad"], check=True)
        ip("link", "add", short + "a", "netns", self.a, "type", "veth",
           "peer", "name", short + "b", "netns", self.b)
        for name, end, v4, v6 in ((self.a, short + "a", self.a4, self.a6),
                                  (self.b, short + "b", self.b4, self.b6)):
            ip("-n", name, "addr", "add", v4 + "/24", "dev", end)
            ip("-n", name, "addr", "add", v6 + "/64", "dev", end, "nodad")
            ip("-n", name, "link", "set", end, "up")
        ip("-n", self.a, "route", "add", "default", "via", self.b4)
        ip("-n", self.a, "-6", "route", "add", "default", "via", self.b6)
        for host in self.b4, self.b6:
            wait_until(lambda h=host: self.is_there(h), "the cable carries " + host)

    def is_there(self, host):
        """No process listens there, so a refused connection shows that the host was reached."""
        with inside(self.a):
            try:
                socket.create_connection((host, 9), 0.2).close()
            except ConnectionRefusedError:
                return True
            except OSError:
                pass
        return False

    def use_resolver(self, address):
        """Write the file that `ip netns exec` shows as /etc/resolv.conf in a."""
        self.made_etc = not self.etc.parent.exists()
        self.etc.mkdir(parents=True)
        (self.etc / "resolv.conf").write_text("nameserver %s\n" % address)

    def down(self):
        for name in self.a, self.b:
            subprocess.run(["ip", "netns", "del", name], check=False,
                           stderr=subprocess.DEVNULL)
        with contextlib.suppress(OSError):
            (self.etc / "resolv.conf").unlink()
        with contextlib.suppress(OSError):
            self.etc.rmdir()
        if self.made_etc:
            with contextlib.suppress(OSError):
                self.etc.parent.rmdir()


def ip(*args):
    subprocess.run(["ip", *args], check=True, timeout=20)


@pytest.fixture(scope="module")
def made_lab():
    lab = Lab()
    try:
        lab.up()
        yield lab
    finally:
        lab.down()


@pytest.fixture
def lab(request, must, is_root):
    must(is_root, "needs root: network namespaces, and /dev/net/tun is root's")
    must(os.path.exists("/usr/bin/pasta"), "needs pasta: apt-get install passt")
    must(os.path.exists("/dev/net/tun"), "needs /dev/net/tun")
    return request.getfixturevalue("made_lab")


@pytest.fixture
def full(dewar, lab):
    """full(*args): dewar run --network full --json, in the namespace a."""

    def run_full(*args, before=(), **kwargs):
        done = subprocess.run(
            [*before, "nsenter", "--net=/run/netns/" + lab.a, dewar, "run", "--json",
             "--network", "full", *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, timeout=60, check=False, **kwargs)
        assert done.stdout, done.stderr
        return json.loads(done.stdout)

    return run_full


def test_full_reaches_the_world(full, lab):
    with Witness("0.0.0.0", netns=lab.b) as v4, Witness("::", netns=lab.b) as v6:
        done = full("python", "-c", CONNECT, "--", lab.b4, str(v4.port), lab.b6, str(v6.port))
        assert done["stdout"] == "got witness\ngot witness\n", done
        # The connection comes from an address of the host, not from one of the cell.
        assert [address[0] for _, address in v4.seen] == [lab.a4]
        assert len(v6.seen) == 1
    assert done["metadata"]["sandbox_network"] is True
    assert done["proof"]["achieved"] == "container"
    assert done["proof"]["walls"]["network"]["interfaces"] > 0
    assert done["proof"]["walls"]["network"]["routes"] > 0
    assert done["proof"]["walls"]["namespaces"]["net"] is True
    assert int(done["proof"]["walls"]["capabilities"]["effective"], 16) == 0


@pytest.mark.cold
def test_full_has_no_duplicate_address_detection(dewar, lab):
    """The probe's source is ::, which pasta takes for the cell's address and answers."""
    with subprocess.Popen(["nsenter", "--net=/run/netns/" + lab.a, dewar, "run", "--network",
                           "full", "python", "-c", "print('up', flush=True); input()"],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE) as cell:
        assert cell.stdout.readline() == b"up\n"
        networks = {os.stat("/proc/%d/ns/net" % pid).st_ino: pid
                    for pid in [cell.pid, *descendants(cell.pid)] if is_live(pid)}
        del networks[os.stat("/run/netns/" + lab.a).st_ino]
        (inside_pid,) = networks.values()
        shown = subprocess.run(["nsenter", "--net=/proc/%d/ns/net" % inside_pid, "cat",
                                "/proc/sys/net/ipv6/conf/eth0/accept_dad"], check=True,
                               stdout=subprocess.PIPE)
        cell.stdin.write(b"\n")
        cell.stdin.close()
    assert shown.stdout == b"0\n"


def test_full_hides_the_name_of_the_hosts_interface(full):
    done = full("python", "-c", "import socket; print(socket.if_nameindex())")
    assert "dwt" not in done["stdout"] and "lo" in done["stdout"]


def test_full_does_not_reach_the_hosts_loopback(full, lab):
    hosts = ["127.0.0.1", "127.0.0.2", "0.0.0.0", lab.a4, lab.b4, "::1", "::", lab.a6, lab.b6,
             "169.254.1.53", "::ffff:127.0.0.1"]
    with contextlib.ExitStack() as stack:
        loop4 = stack.enter_context(Witness("127.0.0.1", netns=lab.a))
        loop6 = stack.enter_context(Witness("::1", netns=lab.a))
        any4 = stack.enter_context(Witness("0.0.0.0", netns=lab.a))
        world = stack.enter_context(Witness("0.0.0.0", netns=lab.b))
        witnesses = (loop4, loop6, any4)

        # The control: outside of the cell each witness can be reached.
        with inside(lab.a):
            for host, witness in (("127.0.0.1", loop4), ("::1", loop6), (lab.a4, any4)):
                socket.create_connection((host, witness.port), 10).close()
        for witness in witnesses:
            wait_until(lambda w=witness: w.seen, "the control is seen")
            witness.seen.clear()

        targets = [str(x) for w in witnesses for host in hosts for x in (host, w.port)]
        done = full("python", "-c", SNEAK, "--", *targets, lab.b4, str(world.port))
        assert done["stdout"] == "done\n", done
        # The last target is reached, so the ones before had enough time.
        wait_until(lambda: len(world.seen) >= 4, "the world is reached in every way")
        for witness in witnesses:
            assert witness.seen == []


def test_full_has_its_own_loopback(full):
    done = full("python", "-c", """
import socket
for family, host in (socket.AF_INET, '127.0.0.1'), (socket.AF_INET6, '::1'):
    server = socket.socket(family)
    server.bind((host, 0))
    server.listen(1)
    client = socket.create_connection(server.getsockname()[:2], 10)
    peer, address = server.accept()
    peer.sendall(b'hello')
    print(client.recv(100), address[0])
""")
    assert done["stdout"] == "b'hello' 127.0.0.1\nb'hello' ::1\n", done


def test_no_port_of_the_cell_is_open_outside(dewar, lab):
    code = ("import socket, sys; s = socket.create_server(('0.0.0.0', 18766));"
            "print('up', flush=True); sys.stdin.read()")
    with subprocess.Popen(["nsenter", "--net=/run/netns/" + lab.a, dewar, "run", "--network",
                           "full", "python", "-c", code], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE) as cell:
        assert cell.stdout.readline() == b"up\n"
        for netns, host in (lab.a, "127.0.0.1"), (lab.a, lab.a4), (lab.b, lab.a4):
            with inside(netns), pytest.raises(ConnectionRefusedError):
                socket.create_connection((host, 18766), 10).close()
        cell.stdin.close()
        assert cell.wait(MARGIN_S) == 0


def dns_answer(query):
    """The answer to a query for any address: 10.213.0.53."""
    end = query.index(b"\0", 12) + 5
    kind = struct.unpack("!H", query[end - 4:end - 2])[0]
    answer = (b"\xc0\x0c" + struct.pack("!HHIH", 1, 1, 5, 4)
              + socket.inet_aton("10.213.0.53")) if kind == 1 else b""
    return (query[:2] + struct.pack("!HHHHH", 0x8180, 1, 1 if answer else 0, 0, 0)
            + query[12:end] + answer)


def test_full_uses_the_hosts_resolver(dewar, lab):
    asked = []
    with inside(lab.b):
        server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    server.bind((lab.b4, 53))

    def serve():
        with contextlib.suppress(OSError):
            while True:
                query, address = server.recvfrom(2048)
                if not query:
                    break  # it was shut down
                asked.append(query)
                server.sendto(dns_answer(query), address)

    threading.Thread(target=serve, daemon=True).start()
    try:
        lab.use_resolver(lab.b4)
        done = subprocess.run(
            ["ip", "netns", "exec", lab.a, dewar, "run", "--network", "full", "python", "-c",
             "import socket; print(socket.gethostbyname('dewar.example'));"
             "print(open('/etc/resolv.conf').read())"],
            stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False)
    finally:
        with contextlib.suppress(OSError):
            server.shutdown(socket.SHUT_RDWR)
        server.close()
    assert done.stdout == b"10.213.0.53\nnameserver 169.254.1.53\n\n", done
    assert any(b"\x05dewar\x07example" in query for query in asked)


def test_full_leaves_nothing_behind(full, host_snapshot):
    def namespaces():
        return {name for name in os.listdir("/run/netns") if str(os.getpid()) in name}

    spaces, before, host = namespaces(), helpers(), host_snapshot()
    for code in "print(1)", "raise SystemExit(3)", "import os; os.kill(os.getpid(), 9)":
        full("python", "-c", code)
    done = full("--timeout", "300ms", "python", "-c", "while True: pass")
    assert done["reason"] == "timeout_wall"
    assert namespaces() == spaces
    assert_no_helper_left(before)
    assert_nothing_left(host_snapshot, host)


def test_a_killed_dewar_leaves_no_pasta_behind(dewar, lab):
    cell = subprocess.Popen(["nsenter", "--net=/run/netns/" + lab.a, dewar, "run",
                             "--network", "full", "python", "-c",
                             "print('up', flush=True)\nwhile True: pass"],
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    try:
        assert cell.stdout.readline() == b"up\n"
        family = children_of(cell.pid)  # the cell's init, and the process that holds pasta
        family |= {pid for child in family for pid in children_of(child)}
        assert len(family) >= 4 and family & helpers()
    finally:
        cell.kill()
        cell.wait(MARGIN_S)
        cell.stdout.close()
    wait_until(lambda: not any(map(is_live, family)), "the cell and pasta are gone")


def test_full_ends_on_ctrl_c(dewar, lab):
    before = helpers()
    with subprocess.Popen(["nsenter", "--net=/run/netns/" + lab.a, dewar, "run",
                           "--network", "full", "python", "-c",
                           "print('up', flush=True)\nwhile True: pass"],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE) as cell:
        assert cell.stdout.readline() == b"up\n"
        cell.send_signal(signal.SIGINT)
        assert cell.wait(MARGIN_S) == 130
    assert_no_helper_left(before)


def test_full_can_run_side_by_side(dewar, lab):
    with Witness("0.0.0.0", netns=lab.b) as witness:
        cells = [subprocess.Popen(["nsenter", "--net=/run/netns/" + lab.a, dewar, "run",
                                   "--network", "full", "python", "-c", CONNECT, "--", lab.b4,
                                   str(witness.port)], stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE) for _ in range(8)]
        outputs = [cell.communicate(timeout=60)[0] for cell in cells]
    assert outputs == [b"got witness\n"] * len(cells)


def test_full_works_for_a_plain_user_who_may_open_tun(dewar, lab, must, tmp_path_factory):
    tun = tmp_path_factory.mktemp("tun") / "tun"
    os.mknod(tun, 0o666 | 0o020000, os.makedev(10, 200))
    tun.chmod(0o666)
    start = ["nsenter", "--net=/run/netns/" + lab.a, "unshare", "--mount", "sh", "-c",
             'mount --bind "$0" /dev/net/tun && exec "$@"', str(tun),
             "setpriv", "--reuid=12345", "--regid=12345", "--clear-groups"]
    # A copy, because the checkout may be in a folder that only root can enter.
    folder = tempfile.mkdtemp()
    os.chmod(folder, 0o755)
    for name in ("dewar", "dewar-launch"):
        shutil.copy(pathlib.Path(dewar).with_name(name), folder)
    dewar = os.path.join(folder, "dewar")
    must(subprocess.run([*start, "test", "-x", dewar], check=False).returncode == 0,
         "another user cannot reach " + dewar)
    with Witness("127.0.0.1", netns=lab.a) as near, Witness("0.0.0.0", netns=lab.b) as far:
        done = subprocess.run([*start, dewar, "run", "--no-audit", "--network", "full", "python",
                               "-c", SNEAK, "--", "127.0.0.1", str(near.port), lab.b4,
                               str(far.port)], stdin=subprocess.DEVNULL, capture_output=True,
                              timeout=60, check=False, cwd="/")
        assert done.stdout == b"done\n", done
        wait_until(lambda: len(far.seen) >= 4, "the world is reached")
        assert near.seen == []


@pytest.mark.parametrize("script, wanted", [
    ("echo 'No routable interface, says pasta' >&2; exit 1", "No routable interface"),
    ("exit 0", "pasta"),
    ("kill -SEGV $$", "pasta"),
    ("exec sleep 600", "was not ready in time"),
    ("echo garbage > /proc/self/fd/3; exec sleep 600", "pasta"),
    ("yes noise >&2", "pasta"),
], ids=["fails", "ends", "crashes", "hangs", "garbage", "floods"])
def test_a_failing_pasta_makes_the_run_unavailable(full, tmp_path, script, wanted):
    fake = tmp_path / "pasta"
    fake.write_text("#!/bin/sh\n%s\n" % script)
    fake.chmod(0o755)
    before = helpers()
    start = time.monotonic()
    # In a mount namespace of its own, so that no other test uses this pasta.
    done = full("python", "-c", "print('ran')", "--timeout", "30s",
                before=["unshare", "--mount", "sh", "-c",
                        'mount --bind "$0" /usr/bin/pasta && exec "$@"', str(fake)])
    assert time.monotonic() - start < 30  # the run's own deadline
    assert done["reason"] == "unavailable" and done["metadata"]["ok"] is False, done
    assert wanted in done["hint"] and "\n" not in done["hint"]
    assert done["stdout"] == ""
    assert_no_helper_left(before)


def test_a_host_without_any_route_gets_a_result(dewar, lab):
    name = "dewar-test-c%d" % os.getpid()
    ip("netns", "add", name)
    try:
        done = subprocess.run(["nsenter", "--net=/run/netns/" + name, dewar, "run", "--json",
                               "--network", "full", "python", "-c", "print(1)"],
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=60,
                              check=False)
    finally:
        subprocess.run(["ip", "netns", "del", name], check=False)
    done = json.loads(done.stdout)
    # Some versions of pasta fail without an interface to copy; others work.
    if done["metadata"]["ok"]:
        assert (done["reason"], done["stdout"]) == ("exit", "1\n")
    else:
        assert (done["reason"], done["stdout"]) == ("unavailable", "")
        assert "pasta" in done["hint"]
