# SPDX-License-Identifier: Apache-2.0
"""The official conformance suite, for both kinds of revisions."""

import json
import pathlib

import pytest

# The number of checks in the scored scenarios: fewer would mean that some were omitted.
SCORED = {"2025-11-25": 69, "2026-07-28": 115}


def scored_scenarios(node, revision):
    """The names below "server:" in the suite's own list."""
    path = (node.folder / "node_modules/@modelcontextprotocol/conformance/requirements" /
            (revision + ".yaml"))
    names, inside = [], False
    for line in path.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith((" ", "#")):
            inside = line == "server:"
        elif inside and line.startswith("  - "):
            names.append(line[len("  - "):].strip())
    return names


def checks_of(folder, scenario):
    found = [path for path in pathlib.Path(folder).glob("server-%s-2*/checks.json" % scenario)]
    assert len(found) == 1, "%s was not run, or more than once" % scenario
    return json.loads(found[0].read_text(encoding="utf-8"))


@pytest.mark.parametrize("revision", sorted(SCORED))
def test_every_scored_check_passes(node, fixtures, tmp_path, revision):
    out = tmp_path / "out"
    done = node.run("conformance", "server", "--url", fixtures.url, "--requirements", revision,
                    "-o", out, timeout=600)
    scenarios = scored_scenarios(node, revision)
    checks = [check for scenario in scenarios for check in checks_of(out, scenario)]
    bad = [(check["id"], check.get("errorMessage")) for check in checks
           if check["status"] not in ("SUCCESS", "INFO", "SKIPPED")]
    passed = sum(check["status"] == "SUCCESS" for check in checks)
    skipped = sorted(check["id"] for check in checks if check["status"] == "SKIPPED")
    print("%s: %d scenarios, %d passed, %d failed, %d skipped: %s"
          % (revision, len(scenarios), passed, len(bad), len(skipped), ", ".join(skipped)))
    assert not bad, bad
    assert done.returncode == 0, (done.stdout[-3000:], done.stderr[-3000:])
    assert passed == SCORED[revision]
    # The suite does not test features that we do not announce (lists that change).
    assert all("subscription" in name or "notification-filter" in name for name in skipped)
