# SPDX-License-Identifier: Apache-2.0
#
# Tries to: have a link to a file of the host collected
# Promise:  honest-result
# Control:  bare
# Oracle:   secret
# Options:  --collect out.txt
# Stops:    collect=supervisor
# Because:  without a cell, the collector is a plain cat

ln -s "$DW_FLAG" out.txt
