# SPDX-License-Identifier: Apache-2.0
#
# Tries to: read the host's name among the settings of the kernel
# Promise:  identity
# Oracle:   secret
# Stops:    ENOENT=mount
# Not promised: process=process-sees-host
begin
  puts File.read('/proc/sys/kernel/hostname')
rescue SystemCallError => e
  puts "stopped: #{e.class.name.split('::').last} at hostname"
end
