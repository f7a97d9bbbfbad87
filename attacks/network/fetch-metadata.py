# SPDX-License-Identifier: Apache-2.0
#
# Tries to: fetch the cloud's credentials from its metadata service
# Promise:  no-network
# Oracle:   network
# Stops:    ENETUNREACH=namespace
# Not promised: process=process-network
import errno
import time
import urllib.error
import urllib.request

try:
    url = "http://169.254.169.254/latest/meta-data/iam/security-credentials/"
    print(urllib.request.urlopen(url, timeout=1).read())
except urllib.error.URLError as e:
    print("stopped:", errno.errorcode.get(e.reason.errno, e), "at urlopen")
except OSError as e:
    print("the answer was not HTTP:", e)
time.sleep(0.5)  # so that the oracle outside sees packets that left
