# SPDX-License-Identifier: Apache-2.0
"""What every test process does first, whichever folder its tests are in.

Tests run in parallel, so each process keeps to itself: its runs have their record and their working
folders in a folder of its own.
"""

import os
import signal
import tempfile


def pytest_configure(config):
    heed_signals()
    if hasattr(config, "workerinput") or not getattr(config.option, "numprocesses", None):
        keep_to_own_folder(config)  # the process that only hands out tests needs none


def keep_to_own_folder(config):
    """Neither the record of the user who runs the tests, nor the folders of other test processes."""
    folder = tempfile.TemporaryDirectory(prefix="dewar-test-")
    config.add_cleanup(folder.cleanup)
    os.chmod(folder.name, 0o755)  # at level process root's programs have another id
    os.environ["XDG_STATE_HOME"] = os.environ["DEWAR_APPROVALS"] = os.path.join(folder.name, "state")
    os.environ["TMPDIR"] = tempfile.tempdir = os.path.join(folder.name, "tmp")
    os.mkdir(os.environ["XDG_STATE_HOME"], 0o700)
    os.mkdir(tempfile.tempdir)
    os.chmod(tempfile.tempdir, 0o1777)  # as /tmp is: some tests run programs as another user
    if not config.option.basetemp:  # a worker is given a part of its controller's
        config.option.basetemp = os.path.join(folder.name, "tests")


def heed_signals():
    """The caller may ignore some, as nohup does; what the tests start would ignore them too."""
    for number, usual in ((signal.SIGINT, signal.default_int_handler),
                          (signal.SIGHUP, signal.SIG_DFL), (signal.SIGTERM, signal.SIG_DFL)):
        if signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, usual)
