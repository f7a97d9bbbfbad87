# SPDX-License-Identifier: Apache-2.0
#
# Tries to: find the container engine that its caller uses
# Promise:  identity
# Oracle:   secret
# Stops:    unset=absent
# Because:  a cell gets a fresh environment, and nothing of its caller's
use strict;
use warnings;

print $ENV{DOCKER_HOST} // 'stopped: unset at DOCKER_HOST', "\n";
