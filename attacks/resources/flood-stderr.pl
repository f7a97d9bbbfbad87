# SPDX-License-Identifier: Apache-2.0
#
# Tries to: exceed its output limit on stderr, without a single end of line
# Promise:  limits
# Control:  bare
# Options:  --output 100000
# Oracle:   count output_kb > 200
# Stops:    output=supervisor
use strict;
use warnings;

syswrite STDERR, "\0\xff" x 32768 for 1 .. 64;
