# SPDX-License-Identifier: Apache-2.0
#
# Tries to: leave a module that the next cell's Python runs at its start
# Promise:  neighbours
# Cells:    after
# Oracle:   secret
# Stops:    ENOENT=mount|supervisor
# Because:  each cell has a home of its own, that goes with it; at level process
#           it is dewar that makes the folder and removes it
import os
import site

folder = site.getusersitepackages()
if os.environ["DW_ROLE"] == "first":
    os.makedirs(folder)
    with open(folder + "/usercustomize.py", "w") as module:
        module.write("print('%s')\n" % os.environ["DW_SECRET"])
elif not os.path.exists(folder + "/usercustomize.py"):
    print("stopped: ENOENT at", folder)
