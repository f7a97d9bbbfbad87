# SPDX-License-Identifier: Apache-2.0
#
# Tries to: list the kernel's modules, to choose what to attack
# Promise:  kernel-surface
# Oracle:   held fd ^/sys/module
# Stops:    ENOENT=mount EACCES=landlock
begin
  Dir.open("/sys/module") { File.symlink("/bin/sleep", "dw-hold") }
  file = File.open("/sys/module")
  exec("./dw-hold", "60", { file => file })
rescue SystemCallError => e
  puts "stopped: #{e.class.name.split("::").last} at open"
end
