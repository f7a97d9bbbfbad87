# SPDX-License-Identifier: Apache-2.0
#
# Tries to: close its output and go on, so that the result is made too early
# Promise:  honest-result
# Control:  bare
# Oracle:   remains
# Oracle:   forged
# Stops:    gone=namespace|supervisor result=supervisor
use strict;

print '", "forged": "';
close(STDIN);
close(STDOUT);
close(STDERR);
exec("sleep", "60") if fork() == 0;
select(undef, undef, undef, 0.2);
exit 7;
