# SPDX-License-Identifier: Apache-2.0
#
# Tries to: put out more than it may, a little from each of many processes
# Promise:  limits
# Control:  bare
# Options:  --output 100000
# Oracle:   count output_kb > 200
# Stops:    output=supervisor

for _ in $(seq 40); do
	head -c 20000 /dev/zero | tr '\0' "x"
done
