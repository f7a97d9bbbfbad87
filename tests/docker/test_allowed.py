# SPDX-License-Identifier: Apache-2.0
"""Allow-lists at level docker: that of modules is enforced, that of commands is refused."""

import pytest

from e2e.helpers import assert_ended, assert_success, brief

WARM = True

CODE = {
    "python": ("import json; print('DONE', json.dumps([1]))", "import os; print('DONE')", "json"),
    "javascript": ("console.log('DONE', require('path').sep)",
                   "require('fs'); console.log('DONE')", "path"),
}


@pytest.mark.parametrize("name", CODE)
def test_a_list_of_modules_is_enforced(engine, name):
    good, bad, module = CODE[name]
    assert_success(engine.json(name, "-c", bad))
    r = engine.json("--allow-modules", module, name, "-c", good)
    assert_success(r)
    assert "DONE" in r["stdout"]
    r = engine.json("--allow-modules", module, name, "-c", bad)
    assert "DONE" not in r["stdout"] and r["exit_code"] == 1, brief(r)
    assert "may not be imported here; these may: " + module in r["stderr"], brief(r)
    assert r["metadata"]["warm"] == engine.warm


@pytest.mark.engines("docker")
def test_a_list_of_commands_is_refused(engine):
    assert_success(engine.json("sh", "-c", "echo DONE"))
    r = engine.json("--allow-commands", "cat", "sh", "-c", "echo DONE")
    assert_ended(r, "error", "unavailable", "allowed_commands", "docker", "container")
    assert r["stdout"] == ""
