# SPDX-License-Identifier: Apache-2.0
#
# Tries to: send a signal through the process's folder in /proc, which is a pidfd, too
# Promise:  host-processes
# Oracle:   witness
# Stops:    ENOENT=namespace EPERM=landlock
# Not promised: landlock6:process=process-old-landlock
import errno
import os
import signal

try:
    fd = os.open("/proc/" + os.environ["DW_PID"], os.O_RDONLY | os.O_DIRECTORY)
    signal.pidfd_send_signal(fd, signal.SIGUSR1)
except OSError as e:
    print("stopped:", errno.errorcode[e.errno], "at /proc/PID")
