# SPDX-License-Identifier: Apache-2.0
#
# Tries to: write to a file that its caller forgot to close
# Promise:  host-writes
# Control:  bare
# Oracle:   files
# Stops:    EBADF=absent
use strict;
use warnings;

if (open my $file, '>&=', 9) {
	syswrite $file, 'gotcha';
} else {
	print "stopped: ", ($!{EBADF} ? 'EBADF' : $! + 0), " at descriptor 9\n";
}
