# SPDX-License-Identifier: Apache-2.0
#
# Tries to: read what another cell enciphered with nothing but its interpreter's hash seed
# Promise:  neighbours
# Cells:    after
# Options:  --workspace {base}/ws --writable {base}/ws/out
# Oracle:   secret
# Stops:    others=absent
# Not promised: warm:container=zygote-layout
# Because:  the seed is drawn when an interpreter starts. That an equal one would show, it shows
#           with the numbers that the first leaves where nothing stops it
import os

CIPHER = "out/cipher"
LEFT = "/tmp/dw-%s" % os.environ["DW_NONCE"]
pad = b"".join(hash(str(i)).to_bytes(8, "little", signed=True) for i in range(2))


def mix(one, other):
    return bytes(a ^ b for a, b in zip(one, other))


if os.environ["DW_ROLE"] == "first":
    try:
        with open(LEFT, "wb") as file:
            file.write(pad)
    except OSError:
        pass
    with open(CIPHER, "wb") as file:
        file.write(mix(bytes.fromhex(os.environ["DW_SECRET"]), pad))
else:
    try:
        with open(LEFT, "rb") as file:
            pad = file.read()
    except OSError:
        pass
    with open(CIPHER, "rb") as file:
        print(mix(file.read(), pad).hex())
    print("stopped: others at hash")
