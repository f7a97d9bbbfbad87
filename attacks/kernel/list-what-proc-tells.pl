# SPDX-License-Identifier: Apache-2.0
#
# Tries to: open what /proc tells about the kernel besides processes
# Promise:  kernel-surface
# Oracle:   held fd ^/proc/[a-z]
# Stops:    ENOENT=mount
# Not promised: process=process-sees-host docker=docker-proc
use strict;
use warnings;

$^F = 99;    # descriptors up to here outlive an exec
my @got;
for my $name (qw(cmdline modules iomem ioports keys locks vmstat zoneinfo config.gz timer_list
                 slabinfo vmallocinfo buddyinfo diskstats partitions stat meminfo)) {
    if (open(my $file, "<", "/proc/$name")) {
        push @got, $file;
    } else {
        print "stopped: ", (grep { $!{$_} } keys %!)[0], " at $name\n";
    }
}
if (@got) {
    symlink "/bin/sleep", "dw-hold";
    exec "./dw-hold", "60";
}
