# SPDX-License-Identifier: Apache-2.0
"""The daemon on kernels that lack newer calls; see also tests/e2e/test_old_kernels.py."""

import pytest

from daemon import wait_until
from e2e.conftest import ROOT

WITHOUT = str(ROOT / "tests" / "e2e" / "without.py")
RUN = {"language": "python", "code": "print(1)"}


def on(missing):
    return ("/usr/bin/python3", WITHOUT, *missing, "--")


@pytest.mark.parametrize("missing", [["clone3"], ["close_range"], ["clone3", "close_range"]],
                         ids=" ".join)
def test_runs_have_the_same_walls_without_newer_calls(serve, missing):
    usual = serve(prefix=on([]), state=serve.folder / "usual").post(RUN).json
    r = serve(prefix=on(missing)).post(RUN).json
    assert (r["status"], r["stdout"]) == ("success", "1\n"), r
    assert r["proof"]["walls"] == usual["proof"]["walls"]


def test_warm_cells_work_without_clone3(serve):
    daemon = serve({"pool": {"disabled": False}}, prefix=on(["clone3"]))
    # The first runs find no warm cell yet; the test above covers those.
    r = wait_until(lambda: warm(daemon.post(RUN).json), "a warm run")
    assert (r["status"], r["stdout"]) == ("success", "1\n"), r
    assert r["proof"]["walls"]["namespaces"]["user"]


def warm(result):
    return result if result["metadata"]["warm"] else None


@pytest.mark.parametrize("name, since", [("openat2", "5.6"), ("pidfd_open", "5.3"),
                                         ("pidfd_send_signal", "5.1"), ("mount_setattr", "5.12")])
def test_a_missing_essential_call_is_reported(serve, name, since):
    reply = serve(prefix=on([name])).post(RUN)
    assert (reply.status, reply.error["code"]) == (501, "unsupported"), reply
    said = reply.error["message"]
    assert name + "()" in said and "Linux %s or newer" % since in said
