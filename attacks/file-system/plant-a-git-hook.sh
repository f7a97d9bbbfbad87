# SPDX-License-Identifier: Apache-2.0
#
# Tries to: leave a program in the workspace that git, a shell or an editor of the
#           host's will run
# Promise:  host-writes
# Oracle:   files
# Options:  --workspace {base}/ws
# Stops:    EROFS=mount EACCES=landlock

mkdir .git/hooks &&
    printf '#!/bin/sh\necho gotcha\n' >.git/hooks/pre-commit
echo 'echo gotcha' >.bashrc
echo '{}' >.mcp.json
echo 'print("gotcha")' >src/sitecustomize.py
