# SPDX-License-Identifier: Apache-2.0
"""Queued runs do not start when the cpu seconds of their key are used up."""

from daemon import wait_until

BURN = "import time\nwhile time.process_time() < 1.3: pass"


def test_queued_runs_are_refused_when_the_cpu_seconds_are_used_up(serve):
    daemon = serve({"local": {"concurrent": 1, "cpu_seconds_per_day": 1}})
    first = daemon.start({"language": "python", "code": BURN})
    daemon.wait_state(first, "running")
    # These were admitted while cpu seconds were left.
    waiting = [daemon.start({"language": "python", "code": "print(1)"}) for _ in range(3)]
    assert daemon.wait_state(first, "done")["result"]["exit_code"] == 0
    for run in waiting:
        done = daemon.wait_state(run, "done")
        assert done["error"]["code"] == "busy" and "cpu seconds" in done["error"]["message"]
        assert "result" not in done
        assert daemon.recorded(run) is None, "it never ran"
    reply = daemon.post({"language": "python", "code": "print(1)"})
    assert reply.status == 429 and 0 < int(reply.headers["Retry-After"]) <= 86400


def test_cpu_seconds_used_before_a_restart_count(serve):
    daemon = serve({"local": {"cpu_seconds_per_day": 1}})
    daemon.run({"language": "python", "code": BURN})
    wait_until(lambda: daemon.post({"command": "true"}).status == 429, "its use to be counted")
    daemon.finish()
    assert serve({"local": {"cpu_seconds_per_day": 1}}).post({"command": "true"}).status == 429
