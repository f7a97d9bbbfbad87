# SPDX-License-Identifier: Apache-2.0
#
# Tries to: leave a word in the interpreter that the next run finds there
# Promise:  neighbours
# Cells:    after
# Oracle:   secret
# Stops:    untouched=absent
# Because:  a run has a copy of the interpreter that a zygote started, and the copy ends with it
import builtins
import os
import site
import sys

folder = site.getusersitepackages()
if os.environ["DW_ROLE"] == "first":
    secret = os.environ["DW_SECRET"]
    builtins.left = sys.left = os.left = secret
    sys.modules["left"] = secret
    sys.setprofile(lambda *args: None)
    try:
        os.makedirs(folder)
        with open(folder + "/usercustomize.py", "w") as module:
            module.write("import builtins\nbuiltins.left = '%s'\n" % secret)
    except OSError:
        pass
else:
    found = [getattr(place, "left", None) for place in (builtins, sys, os)]
    found.append(sys.modules.get("left"))
    print(*(word for word in found if word))
    if not any(found):
        print("stopped: untouched at builtins")
