# SPDX-License-Identifier: Apache-2.0
#
# Tries to: reach the cloud's metadata service by its address in hexadecimal
# Promise:  no-network
# Oracle:   network
# Stops:    ENETUNREACH=namespace
# Not promised: process=process-network

exec 3<>/dev/tcp/0xA9FEA9FE/80
