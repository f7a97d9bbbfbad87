# SPDX-License-Identifier: Apache-2.0
#
# Tries to: delete the home of its caller
# Promise:  host-writes
# Oracle:   files
# Stops:    ENOENT=mount EACCES=landlock
import errno
import os
import shutil


def tell(function, path, info):
    print("stopped:", errno.errorcode[info[1].errno], "at", function.__name__, path)


shutil.rmtree(os.environ["DW_HOME"], onerror=tell)
