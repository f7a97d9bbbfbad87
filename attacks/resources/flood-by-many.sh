# SPDX-License-Identifier: Apache-2.0
#
# Tries to: exceed its output limit with a little output of each of many processes
# Promise:  limits
# Control:  bare
# Options:  --output 100000
# Oracle:   count output_kb > 200
# Stops:    output=supervisor

for _ in $(seq 40); do
	head -c 20000 /dev/zero | tr '\0' "x"
done
