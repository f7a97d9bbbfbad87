# SPDX-License-Identifier: Apache-2.0
"""`dewar verify`: the attacks themselves, and the command."""

import collections
import concurrent.futures
import html.parser
import json
import os
import pathlib
import shutil
import signal
import subprocess
import time

import pytest

import surroundings
from e2e.helpers import assert_nothing_left, descendants, has_cgroups, name_of, wait_until

pytestmark = [pytest.mark.cold, pytest.mark.privilege]

ROOT = pathlib.Path(__file__).resolve().parents[2]
DEWAR = os.environ.get("DEWAR") or str(ROOT / "build" / "dewar")
PLACES = (("process", "cold"), ("container", "cold"), ("container", "standby"))
WALLS = {"namespace", "mount", "seccomp", "landlock", "capability", "cgroup", "rlimit", "absent",
         "supervisor"}
FAMILIES = {"file system", "process and privilege", "kernel surface", "network", "resources",
            "cross-cell", "identity", "output"}
SECONDS = 1200  # the timeout of the whole suite on a busy host


def listed():
    done = subprocess.run([DEWAR, "verify", "--list"], stdout=subprocess.PIPE, check=True)
    return [line.split()[0] for line in done.stdout.decode().splitlines()]


ATTACKS = listed()

# Quick attacks for each class of wall at each level: the part that the default tier runs.
CORE = ("allow-new-privileges", "ask-for-the-login", "ask-ps", "busy-past-the-deadline",
        "chmod-workspace-file", "clone-bomb", "clone-into-new-users", "collect-a-link",
        "connect-to-loopback", "copy-descriptors", "fill-a-list", "hold-an-io-uring",
        "kill-the-supervisor", "lease-workspace-file", "leave-a-daemon", "meet-by-posix-message",
        "meet-by-sysv-shm", "open-memory-of-init", "open-sockets", "read-boot-id",
        "read-flag-by-path", "read-leaked-descriptor", "signal-the-witness")
# The fixtures below take long and are created once for all tests of a group.
core_group = pytest.mark.xdist_group("verify-core")
whole_group = pytest.mark.xdist_group("verify-whole")


Part = collections.namedtuple("Part", "attacks status answer page")


def by_place(answer):
    return {(row["attack"], row["level"], row["way"]): row for row in answer["rows"]}


@pytest.fixture(scope="module")
def core_rows(run):
    done = run("verify", "--json", "--only", ",".join(CORE), timeout=SECONDS)
    assert done.returncode in (0, 1), done.stderr
    return by_place(json.loads(done.stdout))


@core_group
@pytest.mark.nproc
@pytest.mark.parametrize("level, way", PLACES)
@pytest.mark.parametrize("attack", CORE)
def test_the_core_of_the_walls_holds(core_rows, must, attack, level, way):
    assert_holds(core_rows[attack, level, way], must)


@core_group
@pytest.mark.nproc
@pytest.mark.parametrize("level, way", PLACES)
def test_the_core_tries_each_class_of_wall(core_rows, level, way):
    stopped_by = {row["wall"] for (_, *place), row in core_rows.items()
                  if place == [level, way] and row["verdict"] == "contained"}
    missing = set() if has_cgroups() else {"cgroup"}
    if level == "process":  # has neither
        missing |= {"namespace", "mount"}
    assert stopped_by == WALLS - missing


@pytest.fixture(scope="module")
def parts(run, tmp_path_factory):
    """All attacks, run once in several parts: exit status, answer and page of each part.

    Parts run in parallel where cgroups count processes; elsewhere the fork bombs of one part would
    use up the processes of another.
    """
    folder = tmp_path_factory.mktemp("verify")
    count = 3 if has_cgroups() else 1

    def verify(number):
        page = folder / ("walls-%d.html" % number)
        done = run("verify", "--json", "--html", page, "--only", ",".join(ATTACKS[number::count]),
                   timeout=SECONDS)
        assert done.returncode in (0, 1), done.stderr
        return Part(ATTACKS[number::count], done.returncode, json.loads(done.stdout),
                    page.read_text(encoding="utf-8"))

    with concurrent.futures.ThreadPoolExecutor(count) as pool:
        return list(pool.map(verify, range(count)))


@pytest.fixture(scope="module")
def rows(parts):
    return {place: row for part in parts for place, row in by_place(part.answer).items()}


@pytest.mark.slow
@pytest.mark.heavy
@whole_group
@pytest.mark.nproc
@pytest.mark.parametrize("level, way", PLACES)
@pytest.mark.parametrize("attack", ATTACKS)
def test_the_wall_holds(rows, must, attack, level, way):
    assert_holds(rows[attack, level, way], must)


def assert_holds(row, must):
    assert row["verdict"] != "escaped", row["detail"]
    must(row["verdict"] != "cannot_tell", row["detail"])
    if row["verdict"] == "contained":
        assert row["control"] == "escaped", row
        assert row["wall"] in WALLS
    else:
        assert row["wall"] is None
        # The reason is a sentence of the threat model.
        model = ROOT / "docs" / "THREAT_MODEL.md"
        if model.exists():
            assert row["detail"] in " ".join(model.read_text(encoding="utf-8").split())


@pytest.fixture
def group():
    """A cgroup for the test itself."""
    tops = [pathlib.Path(path) for path in ("/sys/fs/cgroup/pids", "/sys/fs/cgroup")]
    top = next(path for path in tops if (path / "cgroup.procs").exists())
    path = top / ("test-dead-groups-%d" % os.getpid())
    path.mkdir()
    yield path
    path.rmdir()


# The groups of ended processes are plain folders in a private mount namespace: real groups would
# be visible to every other `dewar verify` that runs at the same time.
WITH_DEAD_GROUPS = """
set -e
mount -t tmpfs none "$1"
number=$(unshare --pid --fork readlink /proc/self/ns/pid | tr -dc 0-9)
for i in $(seq $((number - 150)) $((number + 150))); do
    mkdir "$1/dewar-$i-1369-0123456789abcdef"
done
shift
exec "$@"
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can leave groups anywhere")
def test_groups_of_an_ended_process_are_not_taken_for_our_own(dewar, group):
    """Groups are named after a pid namespace, whose number the kernel may reuse."""
    done = subprocess.run(["unshare", "--mount", "sh", "-c", WITH_DEAD_GROUPS, "sh", group, dewar,
                           "verify", "--json", "--level", "process", "--only", "leave-a-daemon"],
                          stdout=subprocess.PIPE, check=False, timeout=SECONDS)
    rows = json.loads(done.stdout)["rows"]
    assert [row["verdict"] for row in rows] == ["contained"], rows


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can replace /etc/shadow")
def test_a_new_user_does_not_uncover_the_passwords(dewar, tmp_path):
    """useradd replaces /etc/shadow, which takes away the mount that covers it in the range."""
    # Seven attacks come before read-shadow: the file is replaced during one of them.
    own_etc = ('mount -t tmpfs none "%s"' % tmp_path, 'cp -a /etc/. "%s"' % tmp_path,
               'mount --bind "%s" /etc' % tmp_path)
    command = [*surroundings.mounted(*own_etc), dewar, "verify", "--json", "--level", "process",
               "--only", "leave-a-device*,leave-a-setuid-file,leave-w*,link-*,read-shadow"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as child:
        wait_until(lambda: is_covered(child.pid, "/etc/shadow"), "the range")
        etc = pathlib.Path("/proc/%d/root/etc" % child.pid)
        shutil.copy(etc / "shadow", etc / "shadow+")
        os.rename(etc / "shadow+", etc / "shadow")
        stdout, _ = child.communicate(timeout=SECONDS)
    row = next(row for row in json.loads(stdout)["rows"] if row["attack"] == "read-shadow")
    assert row["control"] == "escaped", row


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount without a user namespace")
def test_a_mount_that_the_host_removes_is_no_leftover(dewar, tmp_path):
    """`ip netns del` does this: it removes a folder on which the range still has a mount."""
    folders = [tmp_path / str(i) for i in range(400)]
    for folder in folders:
        folder.mkdir()
    command = [*surroundings.mounted('for i in $(seq 0 399); do mount -t tmpfs none "%s/$i"; done'
                                     % tmp_path),
               dewar, "verify", "--json", "--level", "process", "--only", "leave-*"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as child:
        wait_until(lambda: is_covered(child.pid, folders[-1]), "the range")
        for folder in folders:
            if child.poll() is not None:
                break
            folder.rmdir()
            time.sleep(0.01)
        stdout, _ = child.communicate(timeout=SECONDS)
    found = json.loads(stdout)["rows"]
    assert len(found) > 5
    assert [row for row in found if row["verdict"] == "escaped"] == []


def is_covered(pid, path):
    """Returns true if a child of pid sees a mount at path."""
    return any(" %s " % path in mounts_of(child) for child in descendants(pid))


def mounts_of(pid):
    try:
        return pathlib.Path("/proc/%d/mountinfo" % pid).read_text(encoding="utf-8")
    except OSError:
        return ""  # it has ended


@pytest.mark.slow
@pytest.mark.heavy
@whole_group
@pytest.mark.nproc
def test_the_summary_matches_the_rows(parts):
    for part in parts:
        summary, found = part.answer["summary"], part.answer["rows"]
        counted = collections.Counter(row["verdict"] for row in found)
        assert summary == {"attacks": len(part.attacks), "contained": counted["contained"],
                           "escaped": counted["escaped"], "not_promised": counted["not_promised"],
                           "cannot_tell": counted["cannot_tell"]}
        assert len(by_place(part.answer)) == len(found) == len(part.attacks) * len(PLACES)
        assert part.status == (1 if summary["escaped"] else 0)


# Attacks whose verdict differs between a warm and a cold cell, with the reason.
DIFFERENT = {
    # For a plain user, the id map of a cold cell shows the caller's uid; that of a warm cell shows
    # the uid inside the zygote's namespace, which is the same for every caller.
    "tell-the-caller-by-id-map": ("not_promised", "contained"),
    # An interpreter chooses its hash seed when it starts, and a zygote starts once for all cells.
    "have-the-same-hash-seed": ("contained", "not_promised"),
}


@pytest.mark.slow
@pytest.mark.heavy
@whole_group
@pytest.mark.nproc
@pytest.mark.parametrize("attack", ATTACKS)
def test_a_warm_cell_has_the_walls_of_a_cold_one(rows, attack):
    cold, warm = rows[attack, "container", "cold"], rows[attack, "container", "standby"]
    if DIFFERENT.get(attack) == (cold["verdict"], warm["verdict"]):
        return
    assert (warm["verdict"], warm["wall"]) == (cold["verdict"], cold["wall"]), \
        (cold["detail"], warm["detail"])


@pytest.mark.slow
@pytest.mark.heavy
@whole_group
@pytest.mark.nproc
def test_there_are_attacks_in_each_family(rows):
    families = collections.Counter(row["family"] for row in rows.values())
    assert set(families) == FAMILIES
    assert len(ATTACKS) >= 120


@pytest.mark.slow
@pytest.mark.heavy
@whole_group
@pytest.mark.nproc
@pytest.mark.parametrize("way", ["cold", "standby"])
def test_level_container_promises_nearly_everything(rows, way):
    """At the default level only a few attacks are not promised to be contained."""
    here = [row for row in rows.values() if (row["level"], row["way"]) == ("container", way)]
    excused = [row["attack"] for row in here if row["verdict"] == "not_promised"]
    assert len(here) == len(ATTACKS)
    assert len(excused) <= len(here) // 12, excused


class Page(html.parser.HTMLParser):
    """Collects what a page loads and the text that it shows."""

    def __init__(self):
        super().__init__()
        self.asks, self.tags, self.text = [], collections.Counter(), []

    def handle_starttag(self, tag, attrs):
        self.tags[tag] += 1
        self.asks += [value for name, value in attrs if name in ("src", "href", "action")]

    def handle_data(self, data):
        self.text.append(data)


@pytest.mark.slow
@pytest.mark.heavy
@whole_group
@pytest.mark.nproc
def test_the_page_loads_nothing_else(parts):
    for part in parts:
        page = Page()
        page.feed(part.page)
        assert page.asks == []
        assert page.tags["details"] == len(part.attacks)
        text = "".join(page.text)
        for attack in part.attacks:
            assert attack in text


@pytest.mark.exclusive
def test_nothing_is_left_behind(run, host_snapshot):
    before = host_snapshot()
    done = run("verify", "--only", "read-flag-by-path,signal-the-witness", "--level", "container")
    assert done.returncode == 0, done.stderr
    assert_nothing_left(host_snapshot, before)


def test_the_table_names_the_wall(run):
    done = run("verify", "--only", "read-flag-by-path")
    assert done.returncode == 0
    lines = done.stdout.decode().splitlines()
    assert lines[0].split() == ["file", "system", "process", "container", "container,", "warm"]
    assert lines[1].split() == ["read-flag-by-path", "landlock", "mount", "mount"]
    assert b"\033" not in done.stdout, "no colour unless it is a terminal"
    assert done.stderr == b"", "no progress unless it is a terminal"


def test_every_way_to_start_a_cell_can_be_requested(run):
    """Attacks with one cell and with two, in C, Python and another language."""
    done = run("verify", "--json", "--level", "container", "--way", "all", "--only",
               "read-flag-by-path,connect-to-loopback,ask-ps,meet-by-sysv-shm,leave-a-file-in-tmp")
    rows = json.loads(done.stdout)["rows"]
    assert [row["way"] for row in rows] == ["cold", "standby", "fork"] * 5
    assert {row["verdict"] for row in rows} == {"contained"}, rows


def test_level_none_promises_nothing(run):
    done = run("verify", "--json", "--level", "none", "--only", "read-flag-by-path")
    assert done.returncode == 0
    row, = json.loads(done.stdout)["rows"]
    assert (row["verdict"], row["level"], row["way"]) == ("not_promised", "none", "cold")
    assert "no walls" in row["detail"]


def test_the_result_of_the_control_is_reported(run):
    done = run("verify", "--json", "--level", "none", "--only", "write-beside-flag")
    row, = json.loads(done.stdout)["rows"]
    assert row["control"] == "escaped"
    assert "home" in row["control_detail"]


@pytest.mark.parametrize("args, words", [
    (("--only", "mount-a-tmpf"), b"did you mean mount-a-tmpfs"),
    (("--only", "zzz"), b"verify --list"),
    (("--only", ""), b"no attack was selected"),
    (("--level", "zzz"), b'not "zzz"'),
    (("--level", "docker"), b"cannot attack level docker"),
    (("--way", "zzz"), b"must be cold, standby, fork or all"),
    (("--way", "fork", "--level", "process"), b"only level container has warm cells"),
    (("--html", "/no/such/folder/x.html"), b"/no/such/folder/x.html"),
    (("more",), b'unexpected argument "more"'),
])
def test_an_impossible_request_is_refused_with_a_reason(run, args, words):
    done = run("verify", *args, env={"DOCKER_HOST": "unix:///no/such.sock"})
    assert done.returncode == 125
    assert words in done.stderr
    assert done.stdout == b""


def test_an_error_is_json_too(run):
    done = run("verify", "--json", "--only", "zzz")
    assert done.returncode == 125
    answer = json.loads(done.stdout)
    assert set(answer) == {"error"} and answer["error"]["code"] == "invalid"
    assert set(answer["error"]) == {"code", "message", "hint"}


def is_at_it(pid):
    """Returns true once attacks run: the first child is verify itself in the range, the next ones
    are attacks."""
    return name_of(pid) == "dewar-verify" and len(descendants(pid)) > 1


@pytest.mark.exclusive
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_it_can_be_interrupted(dewar, host_snapshot, tmp_path, how):
    before = host_snapshot()
    page = tmp_path / "old.html"
    page.write_text("of an earlier run")
    with subprocess.Popen([dewar, "verify", "--html", page], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE) as child:
        wait_until(lambda: is_at_it(child.pid), "an attack")
        child.send_signal(how)
        _, stderr = child.communicate(timeout=30)
    assert child.returncode == 125
    assert b"stopped by a signal" in stderr
    assert page.read_text() == "of an earlier run"
    assert_nothing_left(host_snapshot, before)
