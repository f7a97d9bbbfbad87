# SPDX-License-Identifier: Apache-2.0
#
# Tries to: send a mail by the host's mail server
# Promise:  no-network
# Oracle:   network
# Stops:    ECONNREFUSED=namespace
# Not promised: process=process-network
# Because:  the cell's own loopback answers, and no process listens there
import errno
import smtplib

try:
    smtplib.SMTP("127.0.0.1", 25, timeout=1).sendmail("a@example.com", ["b@example.com"], "secret")
except smtplib.SMTPException as e:
    print("the answer was not SMTP:", e)
except OSError as e:
    print("stopped:", errno.errorcode.get(e.errno, e), "at connect")
