# SPDX-License-Identifier: Apache-2.0
#
# Tries to: outlive its deadline by ignoring every signal that can be ignored
# Promise:  limits
# Control:  bare
# Options:  --timeout 700ms
# Oracle:   held comm ^dw-hold$
# Stops:    deadline=supervisor
# Because:  it calls itself dw-hold only after twice that time; level none has a
#           deadline, too

trap '' HUP INT QUIT TERM USR1 USR2 PIPE ALRM TSTP TTIN TTOU
ln -s "$(command -v sleep)" dw-hold
sleep 1.4
exec ./dw-hold 3
