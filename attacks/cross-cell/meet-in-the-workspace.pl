# SPDX-License-Identifier: Apache-2.0
#
# Tries to: leave another cell a file in the workspace, which both may only read
# Promise:  neighbours
# Cells:    pair
# Options:  --workspace {base}/ws
# Oracle:   secret
# Stops:    EROFS=mount EACCES=landlock ENOENT=mount|landlock
use strict;
use warnings;
use Errno;

sub stopped {
    my ($step) = @_;
    my ($name) = grep { $!{$_} } qw(ENOENT EPERM EACCES EROFS);
    print "stopped: ", $name || "E" . ($! + 0), " at $step\n";
}

$| = 1;
if ($ENV{DW_ROLE} eq "first") {
    if (open my $file, ">", "src/$ENV{DW_NONCE}") {
        print $file $ENV{DW_SECRET};
        close $file;
    } else {
        stopped("open");
    }
    symlink "/bin/sleep", "$ENV{TMPDIR}/dw-hold";
    exec "$ENV{TMPDIR}/dw-hold", "3";
} elsif (open my $file, "<", "src/$ENV{DW_NONCE}") {
    print <$file>;
} else {
    stopped("open");
}
