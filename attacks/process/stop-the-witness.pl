# SPDX-License-Identifier: Apache-2.0
#
# Tries to: stop a process of the host
# Promise:  host-processes
# Oracle:   witness
# Stops:    ESRCH=namespace EPERM=landlock
# Not promised: landlock6:process=process-old-landlock
use strict;
use warnings;
use Errno qw(EPERM ESRCH);

if (!kill 'STOP', $ENV{DW_PID}) {
	my $name = $!{ESRCH} ? 'ESRCH' : $!{EPERM} ? 'EPERM' : $! + 0;
	print "stopped: $name at kill\n";
}
