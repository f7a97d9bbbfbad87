# SPDX-License-Identifier: Apache-2.0
#
# Tries to: search the tree from its root for files called flag
# Promise:  host-files
# Oracle:   secret
# Stops:    found=mount|landlock
# Because:  /usr is left out, since cells are shown it

found=$(find / -maxdepth 3 \( -path /proc -o -path /sys -o -path /usr \) -prune \
    -o -name flag -type f -print 2>/dev/null | head -n 20)
for file in $found; do
    cat "$file"
done
[ -n "$found" ] || echo "stopped: found nothing"
