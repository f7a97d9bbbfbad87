# SPDX-License-Identifier: Apache-2.0
#
# Tries to: exceed its /tmp limit with many files, each of which is small
# Promise:  limits
# Options:  --tmp 8M
# Oracle:   count tmp_mb > 20
# Stops:    ENOSPC=limit:tmp disk=limit:tmp
# Not promised: unenforced:tmp=limit-not-enforced

for i in $(seq 40); do
	head -c 1048576 /dev/zero >"filling-$i" || exit 0
done
ln -s "$(command -v sleep)" dw-hold
exec ./dw-hold 3
