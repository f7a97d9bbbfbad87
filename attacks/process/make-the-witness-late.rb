# SPDX-License-Identifier: Apache-2.0
#
# Tries to: make the timers of a process of the host late
# Promise:  host-processes
# Oracle:   witness
# Control:  root
# Stops:    ENOENT=namespace EACCES=landlock
begin
  File.write("/proc/#{ENV['DW_PID']}/timerslack_ns", '4000000000')
rescue SystemCallError => e
  puts "stopped: #{e.class.name.split('::').last} at timerslack_ns"
end
