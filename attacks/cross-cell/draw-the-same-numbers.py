# SPDX-License-Identifier: Apache-2.0
#
# Tries to: read what another cell enciphered with numbers that it drew at random
# Promise:  neighbours
# Cells:    after
# Options:  --workspace {base}/ws --writable {base}/ws/out
# Oracle:   secret
# Stops:    others=absent
# Because:  two cells of one zygote start as copies; their random numbers must differ. That equal
#           ones would show, it shows with the state that the first leaves where nothing stops it
import os
import pickle
import random
import secrets
import uuid

CIPHER = "out/cipher"
STATE = "/tmp/dw-%s" % os.environ["DW_NONCE"]


def draw():
    return [random.randbytes(16), secrets.token_bytes(16), uuid.uuid4().bytes,
            random.SystemRandom().randbytes(16), uuid.uuid1().bytes]


def mix(one, other):
    return bytes(a ^ b for a, b in zip(one, other))


if os.environ["DW_ROLE"] == "first":
    try:
        with open(STATE, "wb") as file:
            pickle.dump(random.getstate(), file)
    except OSError:
        pass
    secret = bytes.fromhex(os.environ["DW_SECRET"])
    with open(CIPHER, "wb") as file:
        file.write(b"".join(mix(secret, pad) for pad in draw()))
else:
    try:
        with open(STATE, "rb") as file:
            random.setstate(pickle.load(file))
    except OSError:
        pass
    with open(CIPHER, "rb") as file:
        for pad in draw():
            print(mix(file.read(16), pad).hex())
    print("stopped: others at random")
