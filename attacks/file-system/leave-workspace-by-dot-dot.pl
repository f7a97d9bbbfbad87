# SPDX-License-Identifier: Apache-2.0
#
# Tries to: read what lies beside the workspace
# Promise:  host-files
# Oracle:   secret
# Options:  --workspace {base}/ws
# Stops:    ENOENT=mount EACCES=landlock
use strict;
use Errno;

for my $path ("../flag", "src/../../flag", "$ENV{DW_BASE}/ws/../flag") {
    if (open(my $file, "<", $path)) {
        print <$file>, "\n";
        next;
    }
    my ($name) = grep { $!{$_} } keys %!;
    print "stopped: $name at $path\n";
}
