# SPDX-License-Identifier: Apache-2.0
#
# Tries to: leave a file in /var/tmp, which outlives even a reboot, for the next
#           cell
# Promise:  neighbours
# Cells:    after
# Oracle:   secret
# Stops:    ENOENT=mount|landlock EACCES=landlock EROFS=mount
path = "/var/tmp/#{ENV["DW_NONCE"]}"
begin
  if ENV["DW_ROLE"] == "first"
    File.write(path, ENV["DW_SECRET"])
  else
    puts File.read(path)
  end
rescue SystemCallError => e
  puts "stopped: #{e.class.name.split("::").last} at #{path}"
end
