# SPDX-License-Identifier: Apache-2.0
#
# Tries to: read the keys and tokens in the home of its caller
# Promise:  host-files
# Oracle:   secret
# Stops:    ENOENT=mount EACCES=landlock
import errno
import os

names = (".ssh/id_ed25519", ".aws/credentials", ".kube/config", ".config/gh/hosts.yml", ".env",
         ".bash_history")
for name in names:
    try:
        print(open(os.path.join(os.environ["DW_HOME"], name)).read())
    except OSError as e:
        print("stopped:", errno.errorcode[e.errno], "at", name)
