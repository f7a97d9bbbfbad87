# SPDX-License-Identifier: Apache-2.0
#
# Tries to: have a file of the host collected from a folder that is a link
# Promise:  honest-result
# Control:  bare
# Oracle:   secret
# Options:  --collect d/a/b/c/flag
# Stops:    collect=supervisor

ln -s "$DW_BASE/deep" d
