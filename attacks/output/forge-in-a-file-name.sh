# SPDX-License-Identifier: Apache-2.0
#
# Tries to: have files collected whose names are JSON, lines, escape sequences and not
#           even text
# Promise:  honest-result
# Control:  bare
# Oracle:   forged
# Options:  --collect *
# Stops:    result=supervisor collect=supervisor

name='", "forged": true, "more": "'
echo x >"$name"
echo x >$'..\n..'
echo x >$'\e[2J\e]0;gotcha\a'
echo x >$'\xff\xfe'
echo x >'-rf'
printf '%s' "$name"
exit 7
