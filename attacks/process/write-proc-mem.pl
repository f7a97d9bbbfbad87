# SPDX-License-Identifier: Apache-2.0
#
# Tries to: write into the memory of a process of the host through /proc/PID/mem
# Promise:  host-processes
# Control:  root
# Oracle:   witness
# Stops:    ENOENT=namespace EACCES=landlock
use strict;
use warnings;

if (open my $mem, '+<:unix', "/proc/$ENV{DW_PID}/mem") {
	sysseek $mem, hex $ENV{DW_ADDRESS}, 0;
	syswrite $mem, "gotcha\0";
} else {
	print "stopped: ", ($!{ENOENT} ? 'ENOENT' : $!{EACCES} ? 'EACCES' : $! + 0),
		" at /proc/PID/mem\n";
}
