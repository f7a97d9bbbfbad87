# SPDX-License-Identifier: Apache-2.0
#
# Tries to: walk into the host through the working folder of one of its processes
# Promise:  host-processes
# Control:  root
# Oracle:   secret
# Stops:    ENOENT=namespace EACCES=landlock
begin
  puts File.read("/proc/#{ENV['DW_PID']}/cwd/#{'../' * 12}#{ENV['DW_FLAG']}")
rescue SystemCallError => e
  puts "stopped: #{e.class.name.split('::').last} at cwd"
end
