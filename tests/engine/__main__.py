#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Engines for people.

python3 -m engine images              make what the images are made of
python3 -m engine KIND COMMAND...     run a command beside an engine (docker or podman), which
                                      DOCKER_HOST names, and stop the engine after it
"""

import os
import subprocess
import sys

from engine import engines, images


def main():
    words = sys.argv[1:]
    if words == ["images"]:
        print(images.languages_tar(), images.bare_tar(), sep="\n")
        return 0
    if len(words) < 2 or words[0] not in engines.KINDS:
        sys.exit(__doc__)
    try:
        engine = engines.start(words[0])
    except engines.CannotStart as reason:
        sys.exit("engine: %s" % reason)
    try:
        return subprocess.run(words[1:], env={**os.environ, "DOCKER_HOST": engine.host},
                              check=False).returncode
    except KeyboardInterrupt:
        return 130
    finally:
        engine.stop()


if __name__ == "__main__":
    sys.exit(main())
