# SPDX-License-Identifier: Apache-2.0
#
# Tries to: leave folders that no user may enter, deep folders and odd names, for the
#           clean-up to fail on
# Promise:  nothing-remains
# Control:  bare
# Oracle:   remains
# Stops:    gone=mount|supervisor
# Because:  in a container the whole file system is removed
use strict;

chdir($ENV{TMPDIR}) or die("TMPDIR: $!");
mkdir($ENV{DW_NONCE}) and chdir($ENV{DW_NONCE}) or die("mkdir: $!");
mkdir("shut") and mkdir("shut/in") and chmod(0, "shut/in", "shut");
for (1 .. 300) {
    mkdir("deep") and chdir("deep") or last;
}
for my $name ("-rf", "a\nb", "*", "\xff") {
    open(my $file, ">", $name);
}
mkdir("locked") and mkdir("locked/in") and chmod(0555, "locked");
