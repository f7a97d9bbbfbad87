# SPDX-License-Identifier: Apache-2.0
"""No record, no run: a full disk, and a damaged file."""

import subprocess

from daemon import clean_env, total, wait_until
from e2e.helpers import alive, fresh_mark

# The audit record is on a disk of 2 MB in a private mount namespace.
SMALL_DISK = 'mount -t tmpfs -o size=2m,mode=700 tmpfs "$1" && shift && exec "$@"'


def on_small_disk(serve, **kwargs):
    disk = serve.folder / "disk"
    disk.mkdir()
    return disk, serve(state=serve.folder / "state", prefix=[
        "unshare", "-m", "--propagation", "private", "--", "sh", "-c", SMALL_DISK, "sh", disk],
        config={"audit": {"path": str(disk / "audit.db")}}, **kwargs)


def on_disk_of(daemon, script, *words):
    """Run a shell script in the daemon's mount namespace."""
    return subprocess.run(["nsenter", "-t", str(daemon.pid), "-m", "--", "sh", "-c", script, "sh",
                           *map(str, words)], env=clean_env(), capture_output=True, timeout=60,
                          check=False)


def not_ready(daemon):
    """Fill the disk until a run is refused, and return the reply of /readyz right after that."""
    def ask():
        if daemon.post({"command": "true %s" % ("x" * 50000)}).status != 503:
            return None
        reply = daemon.get("/readyz")
        return reply if reply.status == 503 else None

    return wait_until(ask, "the disk to be full, and the daemon to say so")


def test_a_full_disk_refuses_runs_until_there_is_room(serve, must, is_root):
    must(is_root, "only root has a disk of its own")
    disk, daemon = on_small_disk(serve)
    assert daemon.run({"command": "true"})["status"] == "success"
    before = total(daemon.metrics(), "dewar_runs_total")
    on_disk_of(daemon, 'cat /dev/zero >"$1"', disk / "ballast")

    mark = fresh_mark()
    # SQLite may have room left in its files for a few.
    def refused():
        reply = daemon.post({"command": "echo 1 %s" % ("x" * 50000), "args": [mark]})
        return reply if reply.status != 200 else None

    reply = wait_until(refused, "the disk to be full")
    assert (reply.status, reply.error["code"]) == (503, "unavailable"), reply
    assert "no record, no run" in reply.error["message"]
    assert int(reply.headers["Retry-After"]) >= 1
    assert "record" in not_ready(daemon).error["message"]
    assert daemon.get("/healthz").status == 200, "it is alive all the same"
    ran = total(daemon.metrics(), "dewar_runs_total")
    sleeping = daemon.post({"command": "sleep 100 %s" % ("x" * 50000), "args": [mark]})
    assert sleeping.status == 503
    assert not alive(mark), "nothing ran"
    metrics = daemon.metrics()
    assert total(metrics, "dewar_runs_total") == ran >= before
    assert total(metrics, "dewar_audit_failures_total") >= 2
    assert daemon.logged("audit.intent_failed")
    stream = daemon.stream({"command": "sleep 100 %s" % ("x" * 50000)})
    events = list(stream)
    assert [event for event, _ in events] == ["error"], events
    assert "no record, no run" in events[0][1]["error"]["message"]

    on_disk_of(daemon, 'rm "$1"', disk / "ballast")
    wait_until(lambda: daemon.post({"command": "true"}).status == 200, "it to record again")
    assert daemon.get("/readyz").status == 200
    verified = on_disk_of(daemon, 'DEWAR_AUDIT="$2" exec "$1" audit verify', daemon.dewar,
                          disk / "audit.db")
    assert verified.returncode == 0, verified


def test_the_daemon_becomes_ready_again_without_a_request(serve, must, is_root):
    """A load balancer sends no runs to an unready daemon, so the daemon must check by itself."""
    must(is_root, "only root has a disk of its own")
    disk, daemon = on_small_disk(serve)
    on_disk_of(daemon, 'cat /dev/zero >"$1"', disk / "ballast")
    not_ready(daemon)
    on_disk_of(daemon, 'rm "$1"', disk / "ballast")
    wait_until(lambda: daemon.get("/readyz").status == 200, "it to be ready again")


def test_the_daemon_does_not_start_if_the_record_cannot_be_opened(serve):
    state = serve.folder / "state"
    state.mkdir(mode=0o700)
    (state / "audit.db").write_bytes(b"this is no database" * 1000)
    daemon = serve(state=state, wait=False)
    assert daemon.wait_end() == 125
    assert any("audit.db" in line for line in daemon.log), daemon.log
    assert (state / "audit.db").read_bytes().startswith(b"this is no database")
