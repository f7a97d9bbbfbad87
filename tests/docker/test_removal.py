# SPDX-License-Identifier: Apache-2.0
"""When a run ends nothing of it remains; containers of other programs are kept."""

import concurrent.futures
import json
import os
import signal
import subprocess
import time

import pytest

from e2e.helpers import assert_gone, assert_success, brief, descendants, wait_until
from engine import engines, images
from engine.api import ApiError

RUNC = ("docker", "podman")


@pytest.fixture
def containers(engine):
    """containers(): the containers created since the test began."""
    before = engine.api.containers()
    return lambda: engine.api.containers() - before


def test_the_container_is_removed_at_once(engine, containers):
    for args in (("python", "-c", "print(1)"), ("python", "-c", "raise SystemExit(3)"),
                 ("--timeout", "2s", "sh", "-c", "sleep 60"),
                 ("--output", "10", "sh", "-c", "echo more than ten bytes; sleep 60"),
                 ("--image", images.BARE, "python", "-c", "print(1)")):
        engine.json(*args)
        assert containers() == set(), args


def test_nothing_of_the_container_is_left_on_the_host(engine):
    """Other tests may run engines too: only the files of this engine are checked."""
    def left():
        return {"cgroups": {p for group in engines.groups_of(engine.engine.folder)
                            for p, _, _ in os.walk(group)},
                "volumes": engine.api.volumes()}

    engine.json("sh", "-c", ":")  # an engine creates some files once and keeps them
    before = left()
    r = engine.json("sh", "-c", ":", "--file", "a=/etc/hostname", "--collect", "a")
    assert_success(r)
    assert_gone(r)
    wait_until(lambda: all(left()[k] <= before[k] for k in before), "nothing to be left")


@pytest.mark.parametrize("sig", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP],
                         ids=["INT", "TERM", "HUP"])
def test_a_signal_to_dewar_removes_the_container(engine, containers, sig):
    with engine.popen("python", "-c", "print('up', flush=True)\nwhile True: pass") as cell:
        assert cell.stdout.readline() == b"up\n"
        assert len(containers()) == 1
        cell.send_signal(sig)
        assert cell.wait(30) == 128 + sig
    assert containers() == set()


def test_a_signal_during_the_start_removes_the_container(engine, containers):
    """Signals at various moments of a start: whatever exists by then is removed."""
    for wait_s in 0.0, 0.02, 0.05, 0.1, 0.2, 0.4:
        with engine.popen("python", "-c", "print('up', flush=True)\nwhile True: pass") as cell:
            time.sleep(wait_s)
            cell.terminate()
            cell.communicate(timeout=30)
            assert cell.returncode in (128 + 15, -15), (wait_s, cell.returncode)
        wait_until(lambda: containers() == set(), "its end, after %g s" % wait_s)


# ---- killed: no process is left to remove it ----

def kill_while_it_runs(engine, containers):
    """SIGKILL dewar and all its descendants on the host; returns its container, if there is one."""
    with engine.popen("python", "-c", "print('up', flush=True)\nwhile True: pass",
                      start_new_session=True) as cell:
        assert cell.stdout.readline() == b"up\n"
        made = containers()
        assert len(made) == 1
        for pid in {cell.pid} | descendants(cell.pid):
            os.kill(pid, signal.SIGKILL)
        cell.wait(30)
    return made


def test_the_next_start_removes_the_container_of_a_killed_dewar(engine, containers):
    """Its program ends before that."""
    made = kill_while_it_runs(engine, containers)
    r = engine.python("print('next')")
    assert r["stdout"] == "next\n", brief(r)
    wait_until(lambda: not made & engine.api.containers(), "the sweep")


def test_the_next_start_removes_the_container_if_only_dewar_is_killed(engine, containers):
    """The helpers of dewar, if it has any, are not killed."""
    with engine.popen("python", "-c", "print('up', flush=True)\nwhile True: pass") as cell:
        assert cell.stdout.readline() == b"up\n"
        made = containers()
        assert len(made) == 1
        cell.kill()
        cell.wait(10)
    engine.python("print('next')")
    wait_until(lambda: not made & engine.api.containers(), "the sweep")


def test_the_program_of_a_killed_dewar_ends(engine, containers):
    """Without another start: the end of its input ends the program."""
    made = kill_while_it_runs(engine, containers).pop()

    def ended():
        try:
            return not engine.api.inspect(made)["State"]["Running"]
        except ApiError as error:
            assert error.status == 404, error  # the container was removed
            return True

    wait_until(ended, "the program to end")
    engine.python("pass")


def test_the_sweep_keeps_containers_in_use(engine, containers):
    """Another start does not remove a container in use."""
    with engine.popen("python", "-c", "print('up', flush=True); print(input())") as cell:
        assert cell.stdout.readline() == b"up\n"
        for _ in range(2):
            engine.python("print('next')")
        assert len(containers()) == 1
        assert cell.communicate(b"still here\n", timeout=30)[0] == b"still here\n"


def test_the_sweep_keeps_containers_of_other_programs(engine, containers):
    """Containers that run, have ended, or never started; with labels similar to Dewar's."""
    dead = subprocess.Popen(["true"])
    dead.wait()
    labels = [{}, {"com.example": "dewar"}, {"dewar": "1"},
              {"org.dewar.owner": str(dead.pid)}, {"maintainer": "dev.dewar.owner"}]
    theirs = set()
    try:
        for i, label in enumerate(labels):
            body = {"Image": images.BARE, "Cmd": ["sleep", "60"], "Labels": label,
                    "HostConfig": {"NetworkMode": "none"}}
            made = json.loads(engine.api.call("POST", "/containers/create", body,
                                              name="dewar-%d-%d" % (dead.pid, i)))["Id"]
            theirs.add(made)
            if i % 2:
                engine.api.start(made)
        made = kill_while_it_runs(engine, lambda: containers() - theirs)
        engine.python("print('next')")
        wait_until(lambda: not made & engine.api.containers(), "the sweep")
        assert theirs <= engine.api.containers()
    finally:
        for made in theirs:
            engine.api.remove(made)


@pytest.mark.engines(*RUNC)
def test_the_sweep_keeps_containers_whose_owner_may_be_alive(engine):
    """Labelled as Dewar's, but the owner may be alive: on another host, or unreadable."""
    with engine.popen("python", "-c", "print('up', flush=True); input()") as cell:
        assert cell.stdout.readline() == b"up\n"
        ids = [i for i in engine.api.containers()
               if any("dewar" in k for k in engine.api.inspect(i)["Config"]["Labels"] or {})]
        labels = engine.api.inspect(ids[0])["Config"]["Labels"]
        cell.communicate(b"\n", timeout=30)
    theirs = []
    try:
        for value in ("", "nonsense", "-1", "0", "9" * 40, "a b c d", "../../x"):
            body = {"Image": images.BARE, "Cmd": ["sleep", "60"],
                    "Labels": {name: value for name in labels},
                    "HostConfig": {"NetworkMode": "none"}}
            theirs.append(json.loads(engine.api.call("POST", "/containers/create", body))["Id"])
            engine.api.start(theirs[-1])
        engine.python("print('next')")
        assert set(theirs) <= engine.api.containers()
    finally:
        for made in theirs:
            engine.api.remove(made)


# ---- many at once ----

@pytest.mark.engines(*RUNC)
def test_eight_concurrent_runs_are_separate(engine, containers):
    """Each run has its own output, container and id."""
    def one(n):
        return engine.python("import os, sys, time\nopen('/tmp/mine', 'x').write('%d')\n"
                             "time.sleep(0.5)\nprint(open('/tmp/mine').read() * 1000)" % n)

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        results = list(pool.map(one, range(8)))
    for n, r in enumerate(results):
        assert_success(r)
        assert r["stdout"] == str(n) * 1000 + "\n"
    assert len({r["id"] for r in results}) == 8
    assert containers() == set()
