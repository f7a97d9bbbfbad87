# SPDX-License-Identifier: Apache-2.0
#
# Tries to: leave a job of the shell behind
# Promise:  nothing-remains
# Control:  bare
# Oracle:   remains
# Stops:    end=namespace|supervisor
# Because:  nothing is refused: init ends this process with the cell

nohup setsid sleep 60 >/dev/null 2>&1 </dev/null &
disown -a
echo "stopped: end at the end of the cell"
