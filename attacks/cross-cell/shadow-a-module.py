# SPDX-License-Identifier: Apache-2.0
#
# Tries to: leave a module in the working folder that the next cell imports
#           instead of the real one
# Promise:  neighbours
# Cells:    after
# Oracle:   secret
# Stops:    real=mount|supervisor
# Because:  "real" is what it says if it got the module that comes with Python.
#           Each cell has a folder of its own, that goes with it; at level process
#           it is dewar that makes the folder and removes it
import os
import sys

if os.environ["DW_ROLE"] == "first":
    with open("colorsys.py", "w") as module:
        module.write("print('%s')\n" % os.environ["DW_SECRET"])
else:
    sys.path.insert(0, os.getcwd())
    import colorsys

    if hasattr(colorsys, "rgb_to_hsv"):
        print("stopped: real at import")
