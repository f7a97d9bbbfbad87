# SPDX-License-Identifier: Apache-2.0
"""Every language runs in its default image, on every engine."""

import pytest

from e2e.helpers import assert_ended, assert_success, brief
from e2e.test_languages import BY_NAME
from engine.api import short

# Repeated here, because the default images are promised to users.
IMAGES = {
    "python": "python:3.11-slim", "javascript": "node:22-alpine", "typescript": "node:22-slim",
    "ruby": "ruby:3.3-alpine", "php": "php:8.3-cli-alpine", "perl": "perl:5.40-slim",
    "lua": "alpine:3.20", "bash": "alpine:3.20", "sh": "alpine:3.20", "zsh": "alpine:3.20",
    "r": "r-base:4.4.1",
}
# The tests do not make these images, because they are large.
NOT_MADE = ["c", "c++", "go", "rust", "java"]

languages = pytest.mark.parametrize("name", IMAGES)


@languages
def test_every_language_prints_hello(engine, name):
    r = engine.json(name, "-c", BY_NAME[name].hello)
    assert_success(r)
    assert (r["stdout"], r["stderr"]) == ("hello\n", ""), brief(r)
    image = r["metadata"].pop("sandbox_image")
    assert short(image) == IMAGES[name]
    assert r["metadata"] == {"ok": True, "sandbox": True, "sandbox_level": "docker",
                             "sandbox_network": False, "warm": False}
    assert r["proof"]["requested"] == r["proof"]["achieved"] == "docker"


@pytest.mark.engines("docker")
@languages
def test_input_arguments_and_status(engine, name):
    language = BY_NAME[name]
    r = engine.json(name, "-c", language.stdin, "--stdin", "some text\n")
    assert r["stdout"] == "SOME TEXT\n", brief(r)
    args = ["one", "two words", "--help", "-v", "$HOME;*", "häé"]
    r = engine.json(name, "-c", language.args, "--", *args)
    assert r["stdout"] == "".join(a + "\n" for a in args), brief(r)
    r = engine.json(name, "-c", language.status)
    assert_ended(r, "error", "exit")
    assert r["exit_code"] == 3, brief(r)


@pytest.mark.engines("docker", "podman")
@pytest.mark.parametrize("name", NOT_MADE)
def test_a_language_whose_image_is_missing_is_unavailable(engine, name):
    """The result says so, and no other image is used in its place."""
    r = engine.json(name, "-c", BY_NAME[name].hello, "--pull", "never")
    assert_ended(r, "error", "unavailable", "image")
    assert r["metadata"]["ok"] is False and r["stdout"] == "", brief(r)
