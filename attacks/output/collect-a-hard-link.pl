# SPDX-License-Identifier: Apache-2.0
#
# Tries to: have a file of the host collected by a second name of it
# Promise:  honest-result
# Control:  bare
# Oracle:   secret
# Oracle:   files
# Options:  --collect out.txt
# Stops:    ENOENT=mount EXDEV=landlock EACCES=landlock
use strict;
use Errno;

if (!link($ENV{DW_FLAG}, "out.txt")) {
    my ($name) = grep { $!{$_} } keys %!;
    print "stopped: $name at link\n";
}
