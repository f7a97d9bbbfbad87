# SPDX-License-Identifier: Apache-2.0
#
# Tries to: leave folders behind that nobody may enter, deep ones and odd names, for the
#           clean-up to stumble over
# Promise:  nothing-remains
# Control:  bare
# Oracle:   remains
# Stops:    gone=mount|supervisor
# Because:  in a container the whole file system goes

cd "$TMPDIR" || exit
touch "$DW_NONCE"
mkdir -p shut/in
chmod 0 shut/in shut
for i in $(seq 300); do
    mkdir deep && cd deep || break
done
touch -- -rf $'a\nb' '*'
mkdir locked
touch locked/file
chmod 0555 locked
