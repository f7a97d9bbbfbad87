# SPDX-License-Identifier: Apache-2.0
#
# Tries to: leave another cell a message in a System V queue whose key both know
# Promise:  neighbours
# Cells:    pair
# Oracle:   secret
# Stops:    ENOENT=namespace
# Not promised: process=process-ipc
use strict;
use warnings;
use Errno;

my $key   = hex(substr($ENV{DW_NONCE}, 0, 7));
my $first = $ENV{DW_ROLE} eq "first";
my $id    = msgget($key, $first ? 01666 : 0);

sub stopped {
    my ($step) = @_;
    my ($name) = grep { $!{$_} } qw(ENOENT EPERM EACCES ENOSYS ENOMSG);
    print "stopped: ", $name || "E" . ($! + 0), " at $step\n";
    exit 0;
}

$| = 1;
stopped("msgget") unless defined $id;
if ($first) {
    msgsnd($id, pack("l! a*", 1, $ENV{DW_SECRET}), 0) or stopped("msgsnd");
    symlink "/bin/sleep", "$ENV{TMPDIR}/dw-hold";
    exec "$ENV{TMPDIR}/dw-hold", "3";
} else {
    my $data = "";
    msgrcv($id, $data, 100, 0, 04000) or stopped("msgrcv");
    print substr($data, length(pack("l!", 0))), "\n";
    msgctl($id, 0, 0);
}
