# SPDX-License-Identifier: Apache-2.0
#
# Tries to: reach a public resolver by TCP
# Promise:  no-network
# Oracle:   network
# Stops:    ENETUNREACH=namespace
# Not promised: process=process-network

use strict;
use warnings;
use Socket;

socket(my $s, PF_INET, SOCK_STREAM, 0) or die;
if (connect($s, pack_sockaddr_in(53, inet_aton("8.8.8.8")))) {
    syswrite($s, "secret");
} else {
    print "stopped: ", (grep { $!{$_} } keys %!)[0], " at connect\n";
}
