# SPDX-License-Identifier: Apache-2.0
#
# Tries to: reach a server on the internet with nothing but a shell
# Promise:  no-network
# Oracle:   network
# Stops:    ENETUNREACH=namespace
# Not promised: process=process-network

exec 3<>/dev/tcp/1.1.1.1/80 && printf 'GET / HTTP/1.0\r\n\r\n' >&3
