# SPDX-License-Identifier: Apache-2.0
"""`dewar doctor` and `dewar languages` agree with what a run does."""

import json
import os
import re
import shutil
import subprocess
import tempfile
import time

import pytest

from e2e.conftest import merged_env
from e2e.helpers import wait_until

pytestmark = [pytest.mark.cold, pytest.mark.privilege, pytest.mark.xdist_group("doctor")]

AREAS = {"level none", "level process", "level container", "limit memory", "limit cpu",
         "limit pids", "network full", "languages", "landlock"}


@pytest.fixture(scope="module")
def findings(run):
    """Collected once, since the doctor takes seconds."""
    done = run("doctor", "--json")
    assert done.returncode == 0 and done.stderr == b"", done
    assert done.stdout.count(b"\n") == 1
    return {f["area"]: f for f in json.loads(done.stdout)}


def test_level_container_works_here(run, findings):
    assert findings["level container"]["state"] == "ok"
    assert findings["level process"]["state"] == "ok"
    assert run("doctor").returncode == 0


def test_a_finding_has_all_fields(findings):
    assert AREAS <= set(findings)
    for finding in findings.values():
        assert set(finding) == {"area", "state", "detail", "remedy"}
        assert finding["state"] in ("ok", "weak", "missing")
        assert finding["detail"]
        assert finding["remedy"] is None or finding["remedy"].strip()


def test_the_text_agrees_with_the_json(run, findings):
    text = run("doctor").stdout.decode()
    assert "\x1b" not in text
    for finding in findings.values():
        detail = re.escape(finding["detail"])
        if finding["area"].startswith("warm "):
            detail = re.sub(r"\d+\\\.\d", r"\\d+\\.\\d", detail)  # measured in each call
        assert re.search(r"^%s +%s +%s$" % (finding["state"], re.escape(finding["area"]), detail),
                         text, re.M), finding
        if finding["remedy"]:
            assert re.search(r"^ +%s$" % re.escape(finding["remedy"]), text, re.M), finding


def test_a_remedy_is_a_command_and_not_an_error_message(findings):
    for finding in findings.values():
        remedy = finding["remedy"] or ""
        assert "denied" not in remedy and "not permitted" not in remedy, finding


@pytest.mark.parametrize("limit", ["memory", "cpu", "pids"])
def test_a_limit_is_enforced_as_the_doctor_says(run_json, findings, limit):
    finding = findings["limit " + limit]
    held = run_json("sh", "-c", ":")["proof"]["limits"][limit]
    cgroup = re.search(r"cgroup version (\d)", finding["detail"])
    by_cgroup = finding["state"] == "ok" and finding["remedy"] is None and cgroup
    if by_cgroup:
        assert held["by"].replace("v", "") == "cgroup" + cgroup.group(1), (finding, held)
        assert held["kernel"] == held["asked"]
    else:
        assert not held["by"].startswith("cgroup"), (finding, held)
        assert finding["remedy"]
    assert held["enforced"] == (finding["state"] != "missing"), (finding, held)
    assert (held["note"] is None) == (finding["state"] == "ok"), (finding, held)


def test_strict_refuses_limits_that_the_doctor_reports_as_missing(run_json, findings):
    missing = [a for a, f in findings.items()
               if a.startswith("limit ") and f["state"] == "missing"]
    answer = run_json("--strict", "sh", "-c", "echo ran")
    if missing:
        assert answer["reason"] == "unavailable" and answer["stdout"] == "", answer
        assert missing[0].split()[1] in answer["hint"]
    else:
        assert answer["stdout"] == "ran\n", answer


def test_the_doctor_and_a_run_agree_about_landlock(run_json, findings):
    abi = re.search(r"ABI (\d+)", findings["landlock"]["detail"])
    walls = run_json("sh", "-c", ":")["proof"]["walls"]
    assert bool(abi) == (findings["landlock"]["state"] == "ok")
    if abi:
        assert walls["landlock"]["abi"] == int(abi.group(1))


def can_open(path):
    try:
        os.close(os.open(path, os.O_RDWR))
    except OSError:
        return False
    return True


def test_the_doctor_and_a_run_agree_about_network_full(run_json, findings, is_root):
    can = shutil.which("pasta", path="/usr/bin:/usr/local/bin") and can_open("/dev/net/tun")
    assert findings["network full"]["state"] == ("ok" if can else "missing")
    if not can:
        answer = run_json("--network", "full", "sh", "-c", "echo ran")
        assert answer["reason"] == "unavailable" and answer["stdout"] == ""
        assert findings["network full"]["remedy"] in answer["hint"]
    if not is_root and not os.access("/dev/net/tun", os.W_OK):
        assert findings["network full"]["state"] == "missing"
        assert "/dev/net/tun" in findings["network full"]["detail"]


@pytest.mark.parametrize("level", ["microvm"])
def test_an_unavailable_level_is_reported_as_missing(run, findings, level):
    finding = findings.get("level " + level)
    assert finding is None or finding["state"] == "missing"
    done = run("run", "--level", level, "sh", "-c", "echo ran")
    assert done.returncode == 125 and done.stdout == b""


@pytest.mark.parametrize("host,words", [
    ("unix:///no/such.sock", "/no/such.sock"),
    ("unix:///etc/passwd", "is not a socket"),
    ("tcp://127.0.0.1:1", "only an engine of this host"),
])
def test_an_unreachable_engine_is_reported_as_missing(run, host, words):
    done = run("doctor", "--json", env={"DOCKER_HOST": host})
    [finding] = [f for f in json.loads(done.stdout) if f["area"] == "level docker"]
    assert finding["state"] == "missing" and words in finding["detail"]
    assert finding["remedy"]


# ---- interrupted ----

def end_with_a_folder(doctor, folder):
    """Signal the doctor while its folder exists, which is only milliseconds: poll without sleep.
    Returns true if it was interrupted then."""
    while doctor.poll() is None:
        if os.listdir(folder):
            doctor.terminate()
            return True
    return False


def test_a_signal_leaves_no_folder_behind(dewar):
    """Also while the doctor creates a cell as a trial."""
    with tempfile.TemporaryDirectory(prefix="test-dewar-", dir="/tmp") as folder:
        for wait_ms in range(0, 100, 2):
            with subprocess.Popen([dewar, "doctor"], stdin=subprocess.DEVNULL,
                                  stdout=subprocess.DEVNULL,
                                  env=merged_env({"TMPDIR": folder})) as doctor:
                time.sleep(wait_ms / 1000)
                doctor.terminate()
        wait_until(lambda: not os.listdir(folder), "the folders to go")
        for _ in range(10):
            with subprocess.Popen([dewar, "doctor"], stdin=subprocess.DEVNULL,
                                  stdout=subprocess.DEVNULL,
                                  env=merged_env({"TMPDIR": folder})) as doctor:
                if end_with_a_folder(doctor, folder):
                    break
        else:
            pytest.fail("the doctor never created a folder")
        wait_until(lambda: not os.listdir(folder), "the folders to go")


# ---- a host without user namespaces ----

# As root of a user namespace, like in a rootless container, and as a plain user.
@pytest.fixture(params=[0, 1000], ids=["root", "user"])
def bare(request, dewar, must):
    """bare(*args): dewar where no user can create a user namespace."""
    start = ["unshare", "--user", "--map-user=%d" % request.param,
             "--map-group=%d" % request.param, "--keep-caps", "sh", "-c",
             'echo 0 > /proc/sys/user/max_user_namespaces && exec "$@"', "sh"]
    probe = subprocess.run([*start, "true"], capture_output=True, check=False)
    must(probe.returncode == 0, "cannot make a user namespace to take them away in: %r"
         % probe.stderr)

    def run_bare(*args):
        return subprocess.run([*start, dewar, *args], stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=60, env=merged_env(None), check=False)

    return run_bare


def test_without_user_namespaces_the_doctor_says_what_helps(bare):
    done = bare("doctor", "--json")
    assert done.returncode == 1, done
    finding = {f["area"]: f for f in json.loads(done.stdout)}["level container"]
    assert finding["state"] == "missing"
    assert finding["remedy"], finding
    # The remedy is a complete command that can be typed, without other text.
    assert re.fullmatch(r"sysctl( -w)? user\.max_user_namespaces=\d+", finding["remedy"]), finding
    text = bare("doctor")
    assert text.returncode == 1
    assert re.search(rb"^missing +level container ", text.stdout, re.M)


def test_without_user_namespaces_no_weaker_level_is_used(bare):
    done = bare("run", "--json", "sh", "-c", "echo ran")
    answer = json.loads(done.stdout)
    assert done.returncode == 125
    assert (answer["status"], answer["reason"]) == ("error", "unavailable"), answer
    assert answer["stdout"] == "" and answer["metadata"]["ok"] is False
    assert answer["proof"]["requested"] == "container" and answer["proof"]["achieved"] is None
    assert "max_user_namespaces" in answer["hint"]


def test_without_user_namespaces_the_next_level_of_a_list_is_used(bare):
    done = bare("run", "--json", "--level", "container,process", "sh", "-c", "echo ran")
    answer = json.loads(done.stdout)
    assert answer["stdout"] == "ran\n", answer
    assert answer["proof"]["achieved"] == "process"
    assert answer["metadata"]["sandbox_level"] == "process"


def test_root_of_a_user_namespace_can_run_cells(dewar, must):
    """As in a rootless container: uid 0 is mapped, and no other id."""
    start = ["unshare", "--user", "--map-root-user"]
    must(subprocess.run([*start, "true"], capture_output=True, check=False).returncode == 0,
         "cannot make a user namespace")
    done = subprocess.run([*start, dewar, "run", "sh", "-c", "echo ran"], capture_output=True,
                          stdin=subprocess.DEVNULL, timeout=60, env=merged_env(None), check=False)
    assert done.stdout == b"ran\n", done


# ---- languages ----

@pytest.fixture
def languages(run):
    done = run("languages", "--json")
    assert done.returncode == 0 and done.stderr == b"" and done.stdout.count(b"\n") == 1
    return {entry["name"]: entry for entry in json.loads(done.stdout)}


def test_every_language_is_listed(languages):
    assert {"python", "javascript", "typescript", "ruby", "php", "perl", "lua", "r", "bash", "sh",
            "zsh", "c", "c++", "go", "rust", "java"} <= set(languages)
    for entry in languages.values():
        assert set(entry) == {"name", "aliases", "available", "version", "path", "package"}
        assert isinstance(entry["aliases"], list)
        assert entry["available"] == (entry["path"] is not None)
        assert entry["package"], entry
        # A binary has no interpreter.
        if entry["available"] and entry["path"].startswith("/"):
            assert os.access(entry["path"], os.X_OK) and entry["version"], entry


def test_no_alias_has_two_meanings(languages):
    words = [w for entry in languages.values() for w in [entry["name"], *entry["aliases"]]]
    assert len({w.lower() for w in words}) == len(words)


def test_the_table_agrees_with_the_json(run, languages):
    lines = run("languages").stdout.decode().splitlines()
    for entry in languages.values():
        line = [x for x in lines if x.split()[:1] == [entry["name"]]]
        assert len(line) == 1, entry
        if entry["available"]:
            assert entry["path"] in line[0] and entry["version"] in line[0]
        else:
            assert " - " in line[0] and "apt-get install " + entry["package"] in line[0]


def test_an_installed_language_runs_and_a_missing_one_is_reported(run_json, languages):
    answer = run_json("python", "-c", "import sys; print(sys.version.split()[0])")
    assert answer["stdout"].strip() in languages["python"]["version"]
    for entry in languages.values():
        if entry["available"] or not entry["package"]:
            continue
        answer = run_json(entry["name"], "-c", "x")
        assert answer["reason"] == "unavailable" and entry["package"] in answer["hint"], answer


def test_the_callers_path_is_ignored(run, languages, tmp_path):
    """A python elsewhere in the caller's PATH would not be visible in a cell."""
    fake = tmp_path / "python3"
    shutil.copy("/bin/true", fake)
    done = run("languages", "--json", env={"PATH": "%s:%s" % (tmp_path, os.environ["PATH"])})
    entry = {e["name"]: e for e in json.loads(done.stdout)}["python"]
    assert entry["path"] == languages["python"]["path"]
