# SPDX-License-Identifier: Apache-2.0
"""The official inspector, from its command line."""

import json

import pytest

ERAS = ("legacy", "auto", "modern")
CALL = ("--method", "tools/call", "--tool-name", "code_execute", "--tool-args-json",
        json.dumps({"language": "python", "code": "print(6 * 7)"}), "--format", "json")


def inspect(node, *args):
    done = node.run("mcp-inspector", "--cli", *args)
    assert done.returncode == 0, (done.returncode, done.stdout[-3000:], done.stderr[-3000:])
    return json.loads(done.stdout)


def assert_printed(answer):
    text = json.dumps(answer)
    assert "exit_code: 0\\nstdout:\\n42\\n" in text, text


@pytest.mark.parametrize("era", ERAS)
def test_the_descriptions_of_tools_match_the_schema(node, server, era):
    answer = inspect(node, server.url, "--protocol-era", era, "--method", "tools/list",
                     "--strict", "--format", "json")
    assert "code_execute" in json.dumps(answer)


@pytest.mark.parametrize("era", ERAS)
def test_code_runs_over_http(node, server, era):
    assert_printed(inspect(node, server.url, "--protocol-era", era, *CALL))


def test_code_runs_over_stdio(node, dewar, tmp_path):
    # The inspector's options end where the command begins.
    wrapper = tmp_path / "server"
    wrapper.write_text("#!/bin/sh\nexec '%s' mcp --audit '%s'\n" % (dewar, tmp_path / "audit.db"))
    wrapper.chmod(0o755)
    assert_printed(inspect(node, "--transport", "stdio", *CALL, str(wrapper)))
