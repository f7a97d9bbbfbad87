# SPDX-License-Identifier: Apache-2.0
"""The official clients, in each of their modes, over both transports."""

import json
import subprocess

import pytest

from daemon import PATIENCE_S, clean_env, wait_until

MODES = {
    "sdk": {"lib": "sdk", "version": "2025-11-25"},
    "client-legacy": {"lib": "client", "mode": "legacy", "version": "2025-11-25"},
    "client-auto": {"lib": "client", "mode": "auto", "version": "2026-07-28"},
    "client-pin": {"lib": "client", "mode": {"pin": "2026-07-28"}, "version": "2026-07-28"},
}
CHECKS = 12  # the number of checks in client.mjs, so that a missing one is noticed


def run_checks(node, what):
    done = node.run("client.mjs", json.dumps(what))
    checks = [json.loads(line) for line in done.stdout.splitlines()]
    failed = [check for check in checks if not check["ok"]]
    assert not failed, failed
    assert done.returncode == 0, (done.stdout[-3000:], done.stderr[-3000:])
    assert checks and checks[-1]["name"] == "it ends well", (done.stdout, done.stderr[-3000:])
    assert len(checks) == CHECKS + 1, [check["name"] for check in checks]


def called_off(dewar, audit):
    """How many runs have ended because a client cancelled them, according to the audit record."""
    done = subprocess.run([dewar, "audit", "list", "--file", audit, "--limit", "10000", "--json"],
                          env=clean_env(), stdin=subprocess.DEVNULL, capture_output=True,
                          timeout=PATIENCE_S, check=False)
    assert done.returncode == 0, done
    records = [json.dumps(run) for run in json.loads(done.stdout)]
    return sum("called-off" in record and "cancelled" in record for record in records)


@pytest.mark.parametrize("mode", MODES)
def test_over_stdio(node, dewar, config, tmp_path, mode):
    audit = str(tmp_path / "audit.db")
    run_checks(node, {**MODES[mode],
                      "command": [dewar, "mcp", "--audit", audit, "--config", config]})
    assert called_off(dewar, audit) == 1


@pytest.mark.parametrize("mode", MODES)
def test_over_http(node, dewar, server, mode):
    audit = server.state + "/audit.db"
    before = called_off(dewar, audit)
    run_checks(node, {**MODES[mode], "url": server.url})
    wait_until(lambda: called_off(dewar, audit) == before + 1, "the run that was called off to end")
