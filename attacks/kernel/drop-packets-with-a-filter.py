# SPDX-License-Identifier: Apache-2.0
#
# Tries to: give the kernel's BPF machine a program, with an option of a socket
# Promise:  kernel-surface
# Oracle:   held net/udp 0100007F:9CBB .* [1-9][0-9]* *$
# Stops:    ENOPROTOOPT=seccomp
# Because:  the program drops what the socket gets, and the kernel counts what is dropped
import ctypes
import errno
import socket
import struct
import time

SO_ATTACH_FILTER = 26

program = ctypes.create_string_buffer(struct.pack("HBBI", 6, 0, 0, 0))  # return 0
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("127.0.0.1", 0x9CBB))
try:
    s.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER,
                 struct.pack("HP", 1, ctypes.addressof(program)))
    s.sendto(b"x", s.getsockname())
    ctypes.CDLL(None).prctl(15, b"dw-hold")
    time.sleep(60)
except OSError as e:
    print("stopped:", errno.errorcode[e.errno], "at setsockopt")
