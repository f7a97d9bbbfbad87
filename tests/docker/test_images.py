# SPDX-License-Identifier: Apache-2.0
"""Selecting an image, pulling it, and images that are not available."""

import json
import os
import pty
import re
import select
import subprocess

import pytest

from e2e.helpers import assert_ended, assert_success, brief, wait_until
from engine import images
from engine.api import short

pytestmark = pytest.mark.engines("docker", "podman")


@pytest.fixture
def pulled(engine, registry):
    """The name of an image that is in the registry but not in the engine; removed afterwards."""
    name = registry.image("pulled")
    engine.api.untag(name)
    yield name
    engine.api.untag(name)


def layers(registry):
    return [line for line in registry.requests() if "/blobs/" in line]


# ---- pulling ----

def test_a_missing_image_is_pulled_once(engine, registry, pulled):
    r = engine.json("--image", pulled, "sh", "-c", "echo ran")
    assert_success(r)
    assert r["stdout"] == "ran\n" and r["metadata"]["sandbox_image"] == pulled
    asked = registry.requests()
    assert layers(registry)
    assert_success(engine.json("--image", pulled, "--pull", "missing", "sh", "-c", "echo ran"))
    assert registry.requests() == asked, "the image was present"


def test_pull_never_does_not_pull(engine, registry, pulled):
    r = engine.json("--image", pulled, "--pull", "never", "sh", "-c", "echo ran")
    assert_ended(r, "error", "unavailable", pulled, "--pull")
    assert registry.requests() == [] and r["metadata"]["ok"] is False
    assert pulled not in engine.api.images()


def test_pull_always_asks_the_registry_each_time(engine, registry, pulled):
    for _ in range(2):
        before = len(registry.requests())
        r = engine.json("--image", pulled, "--pull", "always", "sh", "-c", "echo ran")
        assert r["stdout"] == "ran\n", brief(r)
        assert len(registry.requests()) > before


def test_pull_always_does_not_use_an_outdated_image(engine, registry):
    """The image is present, but no longer in the registry."""
    name = registry.image("is/missing")
    engine.api.tag(images.BARE, name)
    try:
        r = engine.json("--image", name, "--pull", "always", "sh", "-c", "echo ran")
        assert_ended(r, "error", "unavailable", name)
        assert_success(engine.json("--image", name, "--pull", "missing", "sh", "-c", "echo ran"))
    finally:
        engine.api.untag(name)


@pytest.mark.parametrize("name", ["is/missing", "is/broken"])
def test_an_image_that_cannot_be_pulled_is_unavailable(engine, registry, name):
    name = registry.image(name)
    before = engine.api.containers()
    done = engine.run("--json", "--image", name, "sh", "-c", "echo ran")
    r = json.loads(done.stdout)
    assert_ended(r, "error", "unavailable", name)
    assert done.returncode == 125 and r["stdout"] == ""
    assert r["metadata"]["ok"] is False and r["metadata"]["sandbox"] is True
    assert r["metadata"]["error"]
    assert engine.api.containers() <= before and name not in engine.api.images()


def test_a_default_image_that_cannot_be_pulled_is_unavailable(engine):
    """The default registry cannot be reached, as on a host that is offline."""
    engine.api.call("DELETE", "/images/ruby:3.3-alpine", force="false", noprune="true")
    try:
        r = engine.json("ruby", "-c", "puts 'ran'")
        assert_ended(r, "error", "unavailable", "ruby:3.3-alpine")
    finally:
        engine.api.tag("python:3.11-slim", "ruby:3.3-alpine")


def test_a_stalled_pull_can_be_interrupted(engine, registry):
    name = registry.image("is/stuck")
    with engine.popen("--image", name, "sh", "-c", "echo ran") as cell:
        wait_until(lambda: layers(registry), "the pull")
        cell.terminate()
        out, _ = cell.communicate(timeout=60)
    assert out == b"" and cell.returncode == 128 + 15


def test_progress_is_shown_on_a_terminal(engine, registry, pulled):
    ours, theirs = pty.openpty()
    argv, env = engine.argv("--image", pulled, "sh", "-c", "echo ran")
    try:
        with subprocess.Popen(argv, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=theirs) as cell:
            out = cell.communicate(timeout=60)[0]
        text = b""
        while select.select([ours], [], [], 0.2)[0]:
            text += os.read(ours, 4096)
    finally:
        os.close(ours)
        os.close(theirs)
    assert out == b"ran\n" and cell.returncode == 0
    assert re.search(rb"(?i)pull", text), text


def test_progress_is_not_shown_without_a_terminal(engine, registry, pulled):
    done = engine.run("--image", pulled, "sh", "-c", "echo ran")
    assert (done.stdout, done.stderr) == (b"ran\n", b"")


def test_an_unknown_pull_policy_is_refused(engine):
    done = engine.run("--pull", "sometimes", "sh", "-c", "echo ran")
    assert done.returncode == 125 and done.stdout == b"" and b"never" in done.stderr, done


# ---- choosing ----

def test_an_option_selects_another_image(engine):
    r = engine.json("--image", images.BARE, "sh", "-c", "ls /")
    assert_success(r)
    assert "usr" not in r["stdout"].split()
    assert short(r["metadata"]["sandbox_image"]) == images.BARE


def test_a_request_selects_another_image(engine):
    argv, env = engine.argv()
    request = {"language": "sh", "code": "ls /", "level": "docker", "image": images.BARE,
               "pull": "never"}
    done = subprocess.run([argv[0], "run", "--json", "--request", "-"], env=env,
                          input=json.dumps(request).encode(), capture_output=True, timeout=60,
                          check=False)
    assert short(json.loads(done.stdout)["metadata"]["sandbox_image"]) == images.BARE


def test_a_digest_selects_an_image(engine):
    found = engine.api.get("/images/%s/json" % images.BARE)["Id"]
    r = engine.json("--image", found, "--pull", "never", "sh", "-c", "echo ran")
    assert r["stdout"] == "ran\n", brief(r)


@pytest.mark.parametrize("language", ["python", "ruby", "r", "bash"])
def test_an_image_without_the_interpreter(engine, language):
    r = engine.json("--image", images.BARE, language, "-c", "1")
    assert_ended(r, "error", "unavailable", images.BARE)
    assert r["metadata"]["ok"] is False and r["exit_code"] is None, brief(r)
    assert re.search("python3|ruby|Rscript|bash", r["hint"]), brief(r)


@pytest.mark.parametrize("name", [
    "", " ", "UPPER:1", "a b", "a\nb", "../../etc", "/etc/passwd", "a?b=c", "a#b", "a&tag=x", "a:",
    ":1", "a:b:c/d", "a@sha256:1", "-v", "--privileged", "a/../../containers/json", "%2e%2e/x",
    "ä:1", "a" * 5000, "a:1 HTTP/1.1\r\nX: y",
])
def test_an_invalid_image_name_is_refused(engine, name):
    """Dewar or the engine refuses the name, and it cannot inject another request."""
    before = engine.api.containers()
    done = engine.run("--json", "--image=" + name, "--pull", "never", "sh", "-c", "echo ran")
    assert done.returncode == 125 and b"ran" not in done.stdout, done
    assert engine.api.containers() <= before
