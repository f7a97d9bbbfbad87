# SPDX-License-Identifier: Apache-2.0
#
# Tries to: create so many empty files that no other process can create one
# Promise:  limits
# Options:  --tmp 1M
# Oracle:   count tmp_files > 1000
# Stops:    ENOSPC=limit:tmp disk=limit:tmp
# Not promised: unenforced:tmp=limit-not-enforced noted:tmp=docker-files
#   foreign:docker=docker-files
begin
  1500.times { |i| File.write("f#{i}", "") }
  File.symlink("/bin/sleep", "dw-hold")
  exec("./dw-hold", "3")
rescue SystemCallError => e
  puts "stopped: #{e.class.name.split("::").last} at open"
end
