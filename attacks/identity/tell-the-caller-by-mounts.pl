# SPDX-License-Identifier: Apache-2.0
#
# Tries to: learn its caller's number from the owner of what is mounted
# Promise:  identity
# Oracle:   host caller
# Stops:    another=namespace
# Not promised: process=process-same-user plain:container=caller-number
# Because:  each of root's cells has an id that no other cell has
use strict;
use warnings;

open my $file, '<', '/proc/self/mountinfo' or die;
while (<$file>) {
	print "caller $1\n" if /,uid=(\d+)/;
}
print "caller $<\n", "stopped: another at mountinfo\n";
