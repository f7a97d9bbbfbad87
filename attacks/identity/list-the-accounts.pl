# SPDX-License-Identifier: Apache-2.0
#
# Tries to: list the accounts of the host
# Promise:  identity
# Oracle:   host account
# Stops:    others=mount EACCES=landlock
# Because:  a cell has a list of its own
use strict;
use warnings;

if (open my $file, '<', '/etc/passwd') {
	print <$file>, "stopped: others at /etc/passwd\n";
} else {
	print "stopped: ", ($!{EACCES} ? 'EACCES' : $! + 0), " at /etc/passwd\n";
}
