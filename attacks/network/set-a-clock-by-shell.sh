# SPDX-License-Identifier: Apache-2.0
#
# Tries to: ask a time server, whose port is open in most firewalls
# Promise:  no-network
# Oracle:   network
# Stops:    ENETUNREACH=namespace
# Not promised: process=process-network

printf '\x1b%047d' 0 >/dev/udp/162.159.200.1/123
