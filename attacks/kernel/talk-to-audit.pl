# SPDX-License-Identifier: Apache-2.0
#
# Tries to: talk to the kernel's audit
# Promise:  kernel-surface
# Oracle:   held net/netlink ^[0-9a-f]+ +9 +-?[1-9]
# Stops:    EPERM=seccomp
use strict;
use warnings;

$^F = 99;    # descriptors up to here outlive an exec
my $nl;
if (socket($nl, 16, 3, 9) && bind($nl, pack("SSLL", 16, 0, 0, 0))) {
    symlink "/bin/sleep", "dw-hold";
    exec "./dw-hold", "60";
} else {
    print "stopped: ", (grep { $!{$_} } keys %!)[0], " at socket\n";
}
