# SPDX-License-Identifier: Apache-2.0
#
# Tries to: have more of a process of the host written to its core file
# Promise:  host-processes
# Oracle:   witness
# Stops:    ENOENT=namespace EACCES=landlock
use strict;
use warnings;

if (open my $file, '>', "/proc/$ENV{DW_PID}/coredump_filter") {
	print $file "0x7f\n";
} else {
	print "stopped: ", ($!{ENOENT} ? 'ENOENT' : $!{EACCES} ? 'EACCES' : $! + 0),
		" at coredump_filter\n";
}
