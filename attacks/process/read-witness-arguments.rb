# SPDX-License-Identifier: Apache-2.0
#
# Tries to: read the arguments of a process of the host
# Promise:  host-processes
# Oracle:   secret
# Stops:    ENOENT=namespace
# Not promised: process=process-sees-host
begin
  puts File.read("/proc/#{ENV['DW_PID']}/cmdline")
rescue SystemCallError => e
  puts "stopped: #{e.class.name.split('::').last} at cmdline"
end
