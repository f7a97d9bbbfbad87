# SPDX-License-Identifier: Apache-2.0
#
# Tries to: end the text of its output, and put every byte there is on stderr
# Promise:  honest-result
# Control:  bare
# Oracle:   forged
# Stops:    result=supervisor
# Because:  a result that is no JSON any more counts as forged, too
use strict;

binmode(STDERR);
print '", "forged": "';
print STDERR map { chr } 0 .. 255;
# Half a pair, a point too high, two bytes for a NUL, and what moves a terminal.
print STDERR "\xed\xa0\x80\xf4\x90\x80\x80\xc0\x80\xff\xfe\x00" x 50;
print STDERR "\x1b[2J\x1b]0;gotcha\x07\xe2\x80\xae" x 50;
exit 7;
