# SPDX-License-Identifier: Apache-2.0
#
# Tries to: list the processes of the host with the usual tool
# Promise:  host-processes
# Oracle:   secret
# Stops:    alone=namespace
# Not promised: process=process-sees-host

# ps is what an agent types.
# shellcheck disable=SC2009
ps axww -o pid,args 2>&1 | grep 'dewar-[w]itness' || echo "stopped: alone at ps"
