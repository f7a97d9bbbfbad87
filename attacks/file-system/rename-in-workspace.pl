# SPDX-License-Identifier: Apache-2.0
#
# Tries to: rename files and folders of the workspace
# Promise:  host-writes
# Oracle:   files
# Options:  --workspace {base}/ws
# Stops:    EROFS=mount EACCES=landlock EXDEV=mount|landlock
use strict;
use Errno;

for my $pair (["readme.txt", "src/readme.txt"], [".git", ".git-old"], ["src/main.py", "main.py"]) {
    next if rename($pair->[0], $pair->[1]);
    my ($name) = grep { $!{$_} } keys %!;
    print "stopped: $name at $pair->[0]\n";
}
