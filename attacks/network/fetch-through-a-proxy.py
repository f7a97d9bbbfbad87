# SPDX-License-Identifier: Apache-2.0
#
# Tries to: reach the internet through a proxy that it names itself
# Promise:  no-network
# Oracle:   network
# Stops:    ENETUNREACH=namespace
# Not promised: process=process-network
import errno
import os
import urllib.error
import urllib.request

os.environ["http_proxy"] = "http://10.1.2.3:" + os.environ["DW_PORT"]
try:
    print(urllib.request.urlopen("http://example.com/", timeout=1).read())
except urllib.error.URLError as e:
    print("stopped:", errno.errorcode.get(e.reason.errno, e), "at urlopen")
except OSError as e:
    print("the answer was not HTTP:", e)
