# SPDX-License-Identifier: Apache-2.0
#
# Tries to: exceed its output limit on stdout
# Promise:  limits
# Control:  bare
# Options:  --output 100000
# Oracle:   count output_kb > 200
# Stops:    output=supervisor
import os

for _ in range(64):
    os.write(1, b"x" * 65536)
