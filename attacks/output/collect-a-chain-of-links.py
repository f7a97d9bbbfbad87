# SPDX-License-Identifier: Apache-2.0
#
# Tries to: have a file of the host collected through a chain of links
# Promise:  honest-result
# Control:  bare
# Oracle:   secret
# Options:  --collect out.txt
# Stops:    collect=supervisor
import os

os.mkdir("d")
os.symlink("d/one", "out.txt")
os.symlink("../two", "d/one")
os.symlink("three", "two")
os.symlink(os.environ["DW_FLAG"], "three")
