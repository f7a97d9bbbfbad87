# SPDX-License-Identifier: Apache-2.0
#
# Tries to: find the cluster that its caller works with
# Promise:  identity
# Oracle:   secret
# Stops:    unset=absent
# Because:  a cell gets a new environment without its caller's variables
use strict;
use warnings;

print $ENV{KUBECONFIG} // 'stopped: unset at KUBECONFIG', "\n";
