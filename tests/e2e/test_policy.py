# SPDX-License-Identifier: Apache-2.0
"""Policies: `dewar policy` checks and explains them; run and exec apply them."""

import json
import os
import pathlib
import subprocess

import pytest

pytestmark = pytest.mark.once

ROOT = pathlib.Path(__file__).resolve().parents[2]
OS = "import os\nos.system('echo ran')\n"


@pytest.fixture(autouse=True)
def grammars(run, must):
    done = run("check", "python", "-c", "x = 1")
    must(b"without grammars" not in done.stderr, "this dewar was built without grammars")


@pytest.fixture
def policy(tmp_path):
    """policy(text): a file with these rules after the keys that every policy needs."""

    def write(text, default="allow"):
        path = tmp_path / "policy.yaml"
        path.write_text(f"version: 1\ndefault: {default}\n{text}")
        return path

    return write


# ---- check and show ----

def test_check_says_whether_a_policy_is_valid(run, policy):
    done = run("policy", "check", policy("rules: [{name: a, decision: deny}]\n"))
    assert done.returncode == 0 and done.stdout.endswith(b"policy.yaml is valid (rules: 1)\n")
    path = policy("rules:\n- name: a\n  decision: dney\n")
    done = run("policy", "check", path)
    assert done.returncode == 125
    assert done.stderr.decode() == (f"dewar: {path}:5: rules.decision must be allow, "
                                    "deny, ask or raise, not \"dney\" (did you mean deny?)\n")


def test_check_of_a_profile_in_json(run):
    done = run("policy", "check", "--json", "strict")
    assert json.loads(done.stdout) == {"file": "strict", "rules": 9}
    done = run("policy", "check", "strikt", "--json")
    assert done.returncode == 125 and b"did you mean strict?" in done.stdout


@pytest.mark.parametrize("name", ["open", "standard", "strict"])
def test_show_prints_the_shipped_profile(run, name):
    shipped = (ROOT / "packaging" / "policies" / f"{name}.yaml").read_bytes()
    assert run("policy", "show", name).stdout == shipped


@pytest.mark.parametrize("args", [
    (), ("chek",), ("show",), ("show", "x"), ("check", "a", "b"), ("explain",),
    ("explain", "python"), ("explain", "pyton", "-c", "1"), ("explain", "python", "a", "b"),
    ("show", "strict", "--network", "full"), ("explain", "--request", "x", "python"),
])
def test_wrong_arguments_are_refused(run, args):
    done = run("policy", *args)
    assert done.returncode == 125 and done.stdout == b""
    assert done.stderr.startswith(b"dewar: ") and done.stderr.count(b"\n") == 1


# ---- explain ----

def test_explain_says_which_rule_matched_and_why_others_did_not(run):
    done = run("policy", "explain", "--policy", "strict", "python", "-c", OS)
    text = done.stdout.decode()
    assert done.returncode == 1
    assert text.startswith("deny by rule module (strict:")
    assert "finding import:os in line 1" in text.splitlines()[0]
    # prose: allow quotes the message about the network
    assert "no-network (strict:" in text and "network is none, not full" in text
    assert "1:8: error: module os is not on the list" in text


def test_explain_as_json(run, policy):
    path = policy("rules:\n"
                  "- {name: walls, decision: raise, to: container, when: {level: process}}\n"
                  "- {name: net, decision: ask, reason: Why?, when: {network: full}}\n")
    done = run("policy", "explain", "--json", "--policy", path, "--level", "process",
               "--network", "full", "python", "-c", OS)
    assert done.returncode == 1
    told = json.loads(done.stdout)
    findings = told.pop("findings")
    assert [f["rule"] for f in findings] == ["import:os", "shell:os.system"]
    assert told == {
        "decision": "ask", "rule": "net", "file": str(path), "line": 5,
        "matched": "network is full", "reason": "Why?", "level": "container",
        "raised_by": "walls", "allowed_modules": None, "allowed_commands": None,
        "tried": [
            {"rule": "walls", "file": str(path), "line": 4, "decision": "raise", "fits": True,
             "why": "level is process"},
            {"rule": "net", "file": str(path), "line": 5, "decision": "ask", "fits": True,
             "why": "network is full"}]}


def test_explain_of_a_request_a_file_and_another_caller(run, policy, tmp_path):
    request = tmp_path / "request.json"
    request.write_text(json.dumps({"command": "ls | xargs rm", "limits": {"memory_mb": 2048}}))
    path = policy("rules:\n"
                  "- {name: key, decision: deny, when: {caller: 'key:*', door: http}}\n"
                  "- {name: rm, decision: deny, when: {commands: rm, "
                  "limits: {memory_mb: '> 1024'}}}\n")
    done = run("policy", "explain", "--policy", path, "--request", request)
    assert done.returncode == 1
    assert b"deny by rule rm" in done.stdout and b"command rm, memory_mb is 2048" in done.stdout
    script = tmp_path / "a.sh"
    script.write_text("rm x\n")
    ours = ("policy", "explain", "--policy", path, "sh", script)
    assert run(*ours).returncode == 0
    done = run(*ours, "--caller", "key:1f2e3d4c (ci)", "--door", "http")
    assert done.returncode == 1 and b"deny by rule key" in done.stdout


# ---- run and exec ----

def test_a_denied_request_never_runs(run, run_json, policy, tmp_path):
    mark = tmp_path / "mark"
    path = policy("rules: [{name: no-shell, decision: deny, reason: Not here.,\n"
                  "  when: {findings: 'shell:*'}}]\n")
    code = f"import os\nos.system('touch {mark}')\n"
    result = run_json("--policy", path, "--level", "none", "python", "-c", code)
    assert result["status"] == "error" and result["reason"] == "policy"
    assert result["hint"] == (f"policy {path} denies this run (rule no-shell, line 3): "
                              "finding shell:os.system in line 2. Not here.")
    assert result["exit_code"] is None and result["metadata"]["ok"] is False
    assert result["proof"]["achieved"] is None and result["proof"]["walls"] is None
    assert [f["rule"] for f in result["findings"]] == ["import:os", "shell:os.system"]
    done = run("run", "--policy", path, "--level", "none", "python", "-c", code)
    assert done.returncode == 125 and done.stdout == b""
    assert done.stderr.decode() == "dewar: " + result["hint"] + "\n"
    assert not mark.exists()
    # The control: without the policy it runs.
    assert run("run", "--level", "none", "python", "-c", code).returncode == 0
    assert mark.exists()


def test_findings_are_warnings_and_objects(run_json):
    result = run_json("--policy", "standard", "python", "-c", OS)
    assert result["status"] == "success" and result["stdout"] == "ran\n"
    assert result["findings"] == [
        {"rule": "import:os", "line": 1, "column": 8, "severity": "warning",
         "message": "module os is on the list of risky modules"},
        {"rule": "shell:os.system", "line": 2, "column": 1, "severity": "error",
         "message": "os.system runs another program"}]
    assert result["warnings"] == [
        "line 1, column 8: module os is on the list of risky modules [import:os]",
        "line 2, column 1: os.system runs another program [shell:os.system]"]
    plain = run_json("--policy", "open", "python", "-c", OS)
    assert plain["findings"] == [] and plain["warnings"] == []


def test_a_raised_level_runs_behind_stronger_walls(run_json):
    result = run_json("--policy", "standard", "--level", "process", "python", "-c", OS)
    assert result["status"] == "success" and result["stdout"] == "ran\n"
    assert result["proof"]["achieved"] == "container"
    assert result["warnings"][0] == ("the level was raised to container by the policy's rule "
                                     "real-walls: This code needs the walls of level container.")


def test_the_policys_commands_apply_to_exec(run):
    done = run("exec", "--policy", "strict", "ls / | xargs rm")
    assert done.returncode == 125
    assert b"rule command" in done.stderr and b"finding command:rm in line 1" in done.stderr


def test_the_policy_applies_to_a_whole_request(run, policy, tmp_path):
    request = tmp_path / "request.json"
    request.write_text(json.dumps({"language": "ruby", "code": "puts 1"}))
    path = policy("rules: [{name: no-ruby, decision: deny, when: {language: ruby}}]\n")
    done = run("run", "--json", "--policy", path, "--request", request)
    assert json.loads(done.stdout)["reason"] == "policy"


def test_the_environment_names_a_policy_and_the_option_overrides_it(run):
    args = ("run", "python", "-c", "import os; print(1)")
    done = run(*args, env={"DEWAR_POLICY": "strict"})
    assert done.returncode == 125 and b"policy strict denies this run" in done.stderr
    done = run(*args, "--policy", "open", env={"DEWAR_POLICY": "strict"})
    assert done.returncode == 0 and done.stdout == b"1\n"


@pytest.mark.parametrize("name, why", [
    ("strct", b"did you mean strict?"),
    ("/nowhere/policy.yaml", b"read the policy /nowhere/policy.yaml: No such file"),
])
def test_nothing_runs_if_the_policy_cannot_be_read(run, name, why):
    done = run("run", "--policy", name, "python", "-c", "print(1)")
    assert done.returncode == 125 and done.stdout == b"" and why in done.stderr


def test_nothing_runs_with_an_invalid_policy(run, policy):
    done = run("run", "--json", "--policy", policy("rules: 1\n"), "python", "-c", "print(1)")
    assert done.returncode == 125
    assert "policy.yaml:3: rules must be a list of mappings" in done.stdout.decode()


# ---- the record ----

def decisions(run, file):
    done = run("audit", "export", "--file", file)
    records = [json.loads(line) for line in done.stdout.splitlines()]
    return [(r["decision"], r["rule"]) for r in records if r["kind"] == "intent"], \
        [(r["status"], r["reason"]) for r in records if r["kind"] == "outcome"]


def test_the_audit_record_contains_the_decision(run, policy, tmp_path):
    file = tmp_path / "audit.db"
    hasty = policy("profile: standard\napprovals: {expire_s: 1}\n")
    for args in (("--policy", "open"), ("--policy", "strict"),
                 ("--policy", "standard", "--level", "process"),
                 ("--policy", hasty, "--network", "full")):
        run("run", "--audit", file, *args, "python", "-c", OS)
    decided, ended = decisions(run, file)
    assert decided == [("allow", "default"), ("deny", "module"), ("raise", "real-walls"),
                       ("ask", "far-reaching")]
    assert ended == [("success", "exit"), ("error", "policy"), ("success", "exit"),
                     ("error", "approval_expired")]


# ---- the host's own policy ----

def test_the_hosts_policy_applies_if_no_other_is_named(dewar, must, tmp_path):
    """In a private mount namespace whose /etc contains only the policy."""
    def check(make):
        script = f"mount -t tmpfs none /etc && mkdir /etc/dewar && {make} && {dewar} policy check"
        return subprocess.run(["unshare", "-rm", "sh", "-c", script], capture_output=True,
                              text=True, timeout=60, stdin=subprocess.DEVNULL,
                              env={"PATH": os.environ["PATH"]})

    must(subprocess.run(["unshare", "-rm", "mount", "-t", "tmpfs", "none", tmp_path],
                        capture_output=True, timeout=60).returncode == 0,
         "there are no user namespaces here")
    assert check("true").stdout == "open is valid (rules: 0)\n"
    file = "/etc/dewar/policy.yaml"
    done = check(f"printf 'version: 1\\nprofile: strict\\n' > {file}")
    assert done.stdout == f"{file} is valid (rules: 9)\n"
    done = check(f"echo nonsense > {file}")
    assert done.returncode == 125 and f"{file}:1: the file must be a mapping" in done.stderr


# ---- the policy's lists, inside the cell ----

@pytest.mark.parametrize("language, code", [
    ("python", "import json; print(json.dumps(1))"), ("javascript", "console.log(1)"),
    ("typescript", "console.log(1 as number)"), ("ruby", "puts 1"), ("php", "<?php echo 1, PHP_EOL;"),
    ("bash", "echo 1"), ("sh", "echo 1")])
def test_strict_permits_plain_computation(run_json, must, language, code):
    result = run_json("--policy", "strict", language, "-c", code)
    must(result["reason"] != "unavailable" or "allowed" in result["hint"],
         "%s is not here" % language)
    assert result["stdout"] == "1\n", result["hint"]


def test_modules_that_the_analysis_cannot_see_are_refused_in_the_cell(run_json, policy):
    path = policy("modules: {python: {allow: [json]}}\n"
                  "rules: [{name: module, decision: deny, when: {findings: 'import:*'}}]\n")
    code = "import json; print(json.dumps(1)); __import__(input())"
    result = run_json("--policy", path, "--stdin", "os\n", "python", "-c", code)
    assert result["stdout"] == "1\n" and "os may not be imported" in result["stderr"]
    result = run_json("--policy", "open", "--stdin", "os\n", "python", "-c", code)
    assert result["exit_code"] == 0


@pytest.mark.parametrize("level", ["container", "process"])
def test_commands_that_the_analysis_cannot_see_are_refused_in_the_cell(run_json, policy, level):
    path = policy("commands: {allow: [echo, cat]}\n"
                  "rules: [{name: command, decision: deny, when: {findings: 'command:*'}}]\n")
    line = "cat /dev/null; it=$(cat); $it --version >/dev/null && echo ran"
    run = ("--level", level, "--stdin", "uname", line)
    assert run_json("--policy", "open", *run, command="exec")["stdout"] == "ran\n"
    result = run_json("--policy", path, *run, command="exec")
    assert (result["stdout"], result["metadata"]["ok"]) == ("", True), result["hint"]
    assert "uname" in result["stderr"]


def test_without_a_cell_only_the_analysis_enforces_the_policys_list(run_json, policy):
    """A list that the caller gave is refused if the level cannot enforce it."""
    path = policy("commands: {allow: [echo]}\n"
                  "rules: [{name: command, decision: deny, when: {findings: 'command:*'}}]\n")
    run = ("--policy", path, "--level", "none")
    assert run_json(*run, "echo ran", command="exec")["stdout"] == "ran\n"
    assert run_json(*run, "uname", command="exec")["reason"] == "policy"
    result = run_json(*run, "--allow-commands", "echo", "echo ran", command="exec")
    assert result["reason"] == "unavailable"
