# SPDX-License-Identifier: Apache-2.0
"""On unusual hosts the doctor agrees with a run, and its remedy works."""

import errno
import json
import os
import shlex
import subprocess

import pytest

import surroundings
from e2e.conftest import merged_env

pytestmark = [pytest.mark.slow, pytest.mark.heavy, pytest.mark.cold]  # the doctor takes seconds

EPERM, ENOSYS = errno.EPERM, errno.ENOSYS


@pytest.fixture
def there(dewar, must):
    """there(start): the doctor's findings and the result of a run, both after that prefix."""

    def look(start, env=None, level="container"):
        def run(*args):
            return subprocess.run([*start, *args], stdin=subprocess.DEVNULL, timeout=120,
                                  capture_output=True, env=merged_env(env), check=False)

        trial = run("true")
        must(trial.returncode == 0, "cannot make that host: %r" % trial.stderr)
        doctor = run(dewar, "doctor", "--json")
        answer = json.loads(run(dewar, "run", "--json", "--level", level, "sh", "-c",
                                "echo ran").stdout)
        findings = {f["area"]: f for f in json.loads(doctor.stdout)}
        check_alike(doctor, findings["level " + level], answer, level)
        return findings, answer

    return look


def check_alike(doctor, finding, answer, level):
    if level == "container":
        assert doctor.returncode == (finding["state"] == "missing"), doctor
    if finding["state"] == "missing":
        assert answer["reason"] == "unavailable" and answer["stdout"] == "", answer
        assert answer["proof"]["achieved"] is None
        assert finding["detail"] in answer["hint"]
        assert finding["remedy"] and finding["detail"].endswith("try: " + finding["remedy"])
    else:
        assert answer["stdout"] == "ran\n", answer
        assert answer["proof"]["achieved"] == level


def refused(look, remedy, words=""):
    finding = look[0]["level container"]
    assert finding["state"] == "missing", finding
    assert remedy in finding["remedy"] and words in finding["detail"], finding
    return finding["remedy"]


# ---- limits ----

@pytest.mark.parametrize("kind", ["user", "net", "cgroup"])
def test_a_namespace_limit_of_zero_is_named_and_raising_it_helps(there, kind):
    name = "max_%s_namespaces" % kind
    start = surroundings.limited(name)
    remedy = refused(there(start), "sysctl -w user.%s=" % name)
    assert remedy.split()[:2] == ["sysctl", "-w"]
    raised = remedy.split("=")[1]
    cure = ["sh", "-ec", 'echo %s > /proc/sys/user/%s; exec "$@"' % (raised, name), "sh"]
    findings, _ = there([*start, *cure])
    assert findings["level container"]["state"] == "ok"


# ---- filters ----

# The filters of Docker and systemd refuse clone3 with ENOSYS: they cannot inspect its arguments.
@pytest.mark.parametrize("calls", [
    {"unshare": EPERM, "clone3": ENOSYS, "clone": EPERM},
    {"unshare": EPERM, "clone3": EPERM},
    {"open_tree": EPERM},
    {"fsopen": EPERM},
], ids=",".join)
def test_a_seccomp_filter_is_not_mistaken_for_an_old_kernel(there, must, calls):
    must(bool(surroundings.CALLS), "no numbers of system calls for this machine")
    refused(there(surroundings.filtered(**calls)), "outside of that filter",
            "a seccomp filter around dewar")


def test_a_seccomp_filter_that_refuses_nothing_needed_is_not_blamed(there, must):
    must(bool(surroundings.CALLS), "no numbers of system calls for this machine")
    findings, _ = there(surroundings.filtered(swapon=EPERM))
    assert findings["level container"]["state"] == "ok"
    # Such a filter does not prevent warm cells: it is the host's and not the cell's own.
    assert findings["warm sh"]["state"] == "ok", findings["warm sh"]


# ---- /proc ----

@pytest.fixture
def mounts(is_root, must):
    must(is_root, "only root can make these mounts")


MASK = "mount --bind /dev/null /proc/timer_list"


def test_a_masked_proc_is_named_and_unmasking_helps(there, mounts):
    remedy = refused(there(surroundings.mounted(MASK)), "umount /proc/timer_list",
                     "other mounts cover parts of /proc")
    assert there(surroundings.mounted(MASK, remedy))[0]["level container"]["state"] == "ok"


def test_a_proc_that_is_read_only_is_named_and_remounting_helps(there, mounts):
    lines = ["mount --bind /proc /proc", "mount -o remount,bind,ro /proc"]
    remedy = refused(there(surroundings.mounted(*lines)), "mount -o remount,rw /proc",
                     "/proc is read-only")
    cured, _ = there(surroundings.mounted(*lines, remedy))
    assert cured["level container"]["state"] == "ok"


@pytest.mark.parametrize("level", ["container", "process"])
def test_without_proc_the_doctor_says_so_and_mounting_it_helps(there, mounts, level):
    findings, _ = there(surroundings.mounted("umount -l /proc"), level=level)
    finding = findings["level " + level]
    assert finding["remedy"] == "mount -t proc proc /proc", finding
    cured, _ = there(surroundings.mounted("umount -l /proc", finding["remedy"]), level=level)
    assert cured["level " + level]["state"] == "ok"


# ---- chroot ----

@pytest.fixture
def root_lines(dewar, tmp_path):
    """Lines that make a root to change to, with dewar and its audit record in it."""
    (tmp_path / "mnt").mkdir()
    return [*surroundings.make_root(str(tmp_path / "mnt")),
            *surroundings.bind(os.path.dirname(dewar)),
            *surroundings.bind(os.environ["XDG_STATE_HOME"])]


def test_a_chroot_is_not_mistaken_for_a_kernel_setting(there, mounts, root_lines):
    start = [*surroundings.mounted(*root_lines), "chroot", "."]
    refused(there(start), "pivot_root", "dewar runs in a chroot")


def test_a_chroot_into_a_mount_is_detected(there, mounts, tmp_path):
    start = [*surroundings.mounted("mount --rbind / %s" % shlex.quote(str(tmp_path))),
             "chroot", str(tmp_path)]
    refused(there(start), "pivot_root", "chroot")


def test_the_remedy_for_a_chroot_helps(there, mounts, root_lines):
    start = [*surroundings.mounted(*root_lines), "chroot", "."]
    remedy = refused(there(start), "unshare -m sh -c ")
    # The user has to fill in DIR and the arguments of dewar.
    words = shlex.split(remedy)
    assert words[:4] == ["unshare", "-m", "sh", "-c"] and len(words) == 5
    script = words[4].replace("DIR", '"$DIR"').replace("exec dewar ...", 'exec \\"\\$@\\"')
    script += ' sh "$@"'
    cure = [*surroundings.mounted(*root_lines, "DIR=$PWD; export DIR; cd /"), *words[:4], script,
            "sh"]
    assert there(cure)[0]["level container"]["state"] == "ok"


# ---- the working folder ----

def test_a_folder_without_exec_is_weak_and_another_helps(there, mounts, dewar):
    short = "/mnt"
    start = surroundings.mounted("mount -t tmpfs -o noexec,mode=1777 none " + short)
    findings, _ = there(start, env={"TMPDIR": short}, level="process")
    assert findings["working folder"]["state"] == "weak"
    assert "noexec" in findings["working folder"]["detail"]

    program = ["run", "--json", "--level", "process", "c", "-c",
               '#include <stdio.h>\nint main(void){puts("ran");}']
    for folder, ran in ((short, False), ("/var/tmp", True)):
        done = subprocess.run([*start, dewar, *program], stdin=subprocess.DEVNULL, timeout=120,
                              capture_output=True, env=merged_env({"TMPDIR": folder}), check=False)
        assert (json.loads(done.stdout)["stdout"] == "ran\n") == ran, done
    assert findings["working folder"]["remedy"] == "TMPDIR=/var/tmp dewar ..."


def test_a_folder_that_cannot_be_written_is_missing(there, mounts):
    start = surroundings.mounted("mount -t tmpfs -o ro none /mnt")
    findings, _ = there(start, env={"TMPDIR": "/mnt"}, level="process")
    assert findings["working folder"]["state"] == "missing"
    assert findings["level process"]["state"] == "missing"
    assert findings["level container"]["state"] == "ok"
    cured, _ = there(start, env={"TMPDIR": "/var/tmp"}, level="process")
    assert cured["level process"]["state"] == "ok"


# ---- the network ----

def test_without_tun_the_doctor_says_how_to_make_it(there, mounts):
    lines = ["mount -t tmpfs -o dev none /dev/net"]
    findings, _ = there(surroundings.mounted(*lines))
    finding = findings["network full"]
    assert finding["state"] == "missing" and "/dev/net/tun" in finding["detail"]
    if finding["remedy"].startswith("mkdir"):
        cured, _ = there(surroundings.mounted(*lines, finding["remedy"]))
        assert cured["network full"]["state"] == "ok"


# ---- versions ----

def test_versions_are_reported_and_never_missing(run):
    findings = json.loads(run("doctor", "--json").stdout)
    known = [f for f in findings if f["area"].split()[0] in ("kernel", "runc", "containerd", "qemu")]
    assert [f for f in known if f["area"].startswith("kernel")]
    for finding in known:
        assert finding["state"] in ("ok", "weak"), finding
        assert (" CVE-" in finding["area"]) == (finding["state"] == "weak"), finding
        if finding["state"] == "weak":
            assert finding["area"].split()[1] in finding["remedy"]
            assert "distribution" in finding["detail"] and "fixed in" in finding["detail"]
