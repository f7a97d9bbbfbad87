# SPDX-License-Identifier: Apache-2.0
#
# Tries to: exceed its process limit with processes in sessions of their own, whose
#           parents have ended
# Promise:  limits
# Options:  --pids 16
# Oracle:   count processes > 40
# Stops:    EAGAIN=limit:pids pids=limit:pids
# Not promised: foreign:docker=docker-threads
use strict;
use warnings;
use Errno;
use POSIX ();

$| = 1;
symlink "/bin/sleep", "dw-hold";

sub fork_or_end {
    my $pid = fork;
    return $pid if defined $pid;
    print "stopped: EAGAIN at fork\n" if $!{EAGAIN};
    POSIX::_exit(9);
}

for (1 .. 80) {
    my $pid = fork_or_end();
    if ($pid == 0) {
        POSIX::setsid();
        POSIX::_exit(0) if fork_or_end() > 0;
        sleep 4;
        POSIX::_exit(0);
    }
    waitpid $pid, 0;
    exit 0 if $? != 0;
}
exec "./dw-hold", "3";
