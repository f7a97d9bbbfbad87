# SPDX-License-Identifier: Apache-2.0
#
# Tries to: exceed its process limit by forking in a loop of a shell
# Promise:  limits
# Options:  --pids 16
# Oracle:   count processes > 40
# Stops:    EAGAIN=limit:pids pids=limit:pids
# Not promised: foreign:docker=docker-threads

# bash would try again for long; what /bin/sh is on many systems gives up.
ln -s "$(command -v sleep)" dw-hold
sh -c 'i=0
while [ $i -lt 80 ]; do
	sleep 4 &
	i=$((i + 1))
done
exec ./dw-hold 3' || echo "stopped: EAGAIN at fork"
