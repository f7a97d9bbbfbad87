# SPDX-License-Identifier: Apache-2.0
#
# Tries to: reach a server on the internet with nothing but a shell
# Promise:  no-network
# Oracle:   network
# Stops:    ENETUNREACH=namespace
# Not promised: process=process-network

if exec 3<>/dev/tcp/1.1.1.1/80; then
	printf 'GET / HTTP/1.0\r\n\r\n' >&3
else
	sleep 0.5 # so that the oracle outside sees packets that left
	exit 1
fi
