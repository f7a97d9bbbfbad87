# SPDX-License-Identifier: Apache-2.0
#
# Tries to: reach the cloud's metadata service by its address in octal
# Promise:  no-network
# Oracle:   network
# Stops:    ENETUNREACH=namespace
# Not promised: process=process-network

exec 3<>/dev/tcp/0251.0376.0251.0376/80
