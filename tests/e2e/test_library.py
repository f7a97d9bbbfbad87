# SPDX-License-Identifier: Apache-2.0
"""libdewar, as other programs use it."""

import os
import pathlib
import subprocess

import pytest

pytestmark = [pytest.mark.cold, pytest.mark.privilege]


@pytest.fixture
def example(dewar):
    """The example is beside the program and the library, or at DEWAR_EXAMPLE."""
    default = pathlib.Path(dewar).with_name("example-hello")
    return pathlib.Path(os.environ.get("DEWAR_EXAMPLE") or default)


@pytest.fixture
def library(example):
    return example.with_name("libdewar.so")


def test_the_example_runs_a_snippet_and_shows_its_walls(example):
    done = subprocess.run([example], timeout=60, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    output, walls = done.stdout.splitlines()
    assert output == "18446744073709551616"
    assert "container" in walls


def test_the_library_exports_only_its_public_names(library):
    names = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True,
                           text=True, check=True).stdout.splitlines()
    # A sanitizer adds names that begin with underscores.
    symbols = [line.split()[-1].split("@")[0] for line in names]
    symbols = [name for name in symbols if not name.startswith("__")]
    assert "dw_run" in symbols
    assert [name for name in symbols if not name.startswith("dw_")] == []


def test_every_public_function_is_in_the_library(library):
    headers = pathlib.Path(__file__).resolve().parents[2] / "include" / "dewar"
    declared = {word.split("(")[0].lstrip("*")
                for header in headers.glob("*.h")
                for line in header.read_text(encoding="utf-8").splitlines()
                if line.startswith("DW_API")
                for word in line.split() if "(" in word and word.lstrip("*").startswith("dw_")}
    names = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True,
                           text=True, check=True).stdout.split()
    assert declared
    assert declared - set(names) == set()


def test_the_library_has_few_dependencies(library):
    dynamic = subprocess.run(["readelf", "-d", library], capture_output=True, text=True,
                             check=True).stdout
    needed = {line.split("[")[1].rstrip("]").split(".")[0]
              for line in dynamic.splitlines() if "(NEEDED)" in line}
    assert needed <= {"libjansson", "libnettle", "libc", "libm", "libgcc_s", "ld-linux-x86-64"}
