# SPDX-License-Identifier: Apache-2.0
#
# Tries to: list the sockets of the host by their names
# Promise:  identity
# Oracle:   secret
# Stops:    alone=namespace
# Not promised: process=process-sees-host
# Because:  the cell's own network answers, and no other process has a socket there
use strict;
use warnings;

open my $file, '<', '/proc/self/net/unix' or die;
my ($head, @sockets) = <$file>;
print @sockets ? @sockets : "stopped: alone at /proc/self/net/unix\n";
