# SPDX-License-Identifier: Apache-2.0
#
# Tries to: reach a service of the host at 0.0.0.0, which is here
# Promise:  no-network
# Oracle:   network
# Stops:    ECONNREFUSED=namespace
# Not promised: process=process-network
# Because:  the cell's own loopback answers, and no process listens there

use strict;
use warnings;
use Socket;

socket(my $s, PF_INET, SOCK_STREAM, 0) or die;
if (connect($s, pack_sockaddr_in($ENV{DW_PORT}, INADDR_ANY))) {
    print <$s>;
} else {
    print "stopped: ", (grep { $!{$_} } keys %!)[0], " at connect\n";
}
