# SPDX-License-Identifier: Apache-2.0
#
# Tries to: reach the SSH server of a machine beside the host
# Promise:  no-network
# Oracle:   network
# Stops:    ENETUNREACH=namespace
# Not promised: process=process-network

require "socket"

begin
  puts Socket.tcp("192.168.0.10", 22, connect_timeout: 1).gets
rescue SystemCallError => e
  puts "stopped: #{e.class.name.split("::").last} at connect"
end
