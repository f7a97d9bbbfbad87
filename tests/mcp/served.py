# SPDX-License-Identifier: Apache-2.0
"""A server to test clients with."""

import json
import shutil
import subprocess
import tempfile
import threading

from daemon import PATIENCE_S, clean_env, end_with_parent, wait_until


class Server:
    """dewar-serve or dewar-serve-fixtures, once it is ready."""

    def __init__(self, program, config):
        self.state = tempfile.mkdtemp(prefix="dewar-mcp-test-")
        self.log = []
        self.process = subprocess.Popen(
            [str(program), "serve", "--listen", "127.0.0.1:0", "--state", self.state,
             "--config", config],
            env=clean_env(), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, preexec_fn=end_with_parent)
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()
        wait_until(lambda: self._ready() or self.process.poll() is not None, "the server")
        assert self._ready(), self.log
        self.address = self._ready()[0]["listen"]
        self.url = "http://%s/mcp" % self.address

    def _read(self):
        for line in self.process.stderr:
            self.log.append(line.decode("utf-8"))

    def _ready(self):
        lines = [json.loads(line) for line in list(self.log) if line.startswith("{")]
        return [line for line in lines if line["message"] == "daemon.ready"]

    def finish(self):
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(PATIENCE_S)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.reader.join(PATIENCE_S)
        self.process.stderr.close()
        shutil.rmtree(self.state, ignore_errors=True)
        return self.process.returncode
