# SPDX-License-Identifier: Apache-2.0
#
# Ruby as a zygote. Ruby has opened the code by now and looked at how it begins; it
# reads it once we are through. So we put the file back to its beginning, where the
# child finds its own. Ruby believes that it forks, and puts itself in order there.

load '/tmp/.dewar/prelude'
script = ObjectSpace.each_object(File).find { |f| !f.closed? && f.path == $0 }
abort 'this Ruby has not opened the code yet' unless script
script.rewind
script = nil
GC.start
GC.compact if GC.respond_to?(:compact)
fork
