#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Level docker: start an engine as the tests do, let `dewar bench` measure, keep what it says.

The table goes to bench/docker.md. With DOCKER_HOST set it is that engine, which must have
the image python:3.11-slim.

usage: bench/docker.py [OPTIONS OF dewar bench]
"""

import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:0] = [os.path.join(ROOT, "tests"), os.path.join(ROOT, "bench")]
sys.dont_write_bytecode = True

import warm  # noqa: E402
from engine import engines  # noqa: E402


def main():
    options = ["--only", "docker,docker-warm", *sys.argv[1:]]
    engine = None
    try:
        if not os.environ.get("DOCKER_HOST"):
            engine = engines.start("docker")
            os.environ["DOCKER_HOST"] = engine.host
        warm.keep("docker.md", "Level docker", "", warm.measure(options), options)
    except engines.CannotStart as reason:
        # Not a failure of Dewar, but the reader must not think that it was measured.
        print(f"bench: LEVEL DOCKER IS NOT MEASURED: {reason}", file=sys.stderr)
    finally:
        if engine:
            engine.stop()


if __name__ == "__main__":
    main()
