# SPDX-License-Identifier: Apache-2.0
#
# Tries to: write to the host's log by its datagram socket
# Promise:  no-network
# Oracle:   network
# Stops:    ENOENT=mount
# Not promised: process=process-sockets

use strict;
use warnings;
use Socket;

socket(my $s, PF_UNIX, SOCK_DGRAM, 0) or die;
if (connect($s, pack_sockaddr_un($ENV{DW_LOG}))) {
    send($s, "<13>secret", 0);
} else {
    print "stopped: ", (grep { $!{$_} } keys %!)[0], " at connect\n";
}
