# SPDX-License-Identifier: Apache-2.0
"""Run one request several times in one pool: pool_runs.py LIBRARY TIMES < REQUEST

Prints a JSON list of results. Uses only the public functions of the library, as any other
program does; its structs are opaque and are read and written as JSON.
"""

import ctypes
import json
import sys

ROOM = 1 << 16  # more than the size of any struct


class DockerConfig(ctypes.Structure):
    """struct dw_docker_config of pool.h."""
    _fields_ = [("like", ctypes.c_void_p), ("standby", ctypes.c_uint)]


class PoolConfig(ctypes.Structure):
    """struct dw_pool_config of pool.h."""
    _fields_ = [("templates", ctypes.c_void_p), ("n_templates", ctypes.c_size_t),
                ("memory_bytes", ctypes.c_uint64), ("standby_max", ctypes.c_uint),
                ("idle_ms", ctypes.c_uint64), ("fork_only", ctypes.c_bool),
                ("docker", ctypes.POINTER(DockerConfig)), ("n_docker", ctypes.c_size_t)]


class Library:
    def __init__(self, path):
        self.lib = ctypes.CDLL(path)
        self.lib.dw_result_to_json.restype = ctypes.c_void_p
        self.lib.dw_language_name.restype = ctypes.c_char_p
        self.error = ctypes.create_string_buffer(ROOM)

    def call(self, name, *args):
        if getattr(self.lib, name)(*args, self.error) < 0:
            sys.exit("%s: %s" % (name, self.error.raw[8:].split(b"\0")[0].decode()))

    def new_pool(self, like=None):
        """A pool of containers for runs like this request if its level is docker."""
        pool = ctypes.c_void_p()
        config = None
        if like is not None:
            docker = DockerConfig(ctypes.addressof(like), 1)
            config = PoolConfig(docker=ctypes.pointer(docker), n_docker=1)
        self.call("dw_pool_new", config and ctypes.byref(config), ctypes.byref(pool))
        return pool

    def warm_up(self, pool, name):
        self.call("dw_pool_warm_up", pool, name, 1, ctypes.c_uint64(60000))

    def run(self, pool, request):
        result = ctypes.c_void_p()
        self.call("dw_pool_run", pool, request, ctypes.byref(result))
        text = ctypes.c_void_p(self.lib.dw_result_to_json(result))
        answer = json.loads(ctypes.string_at(text))
        self.lib.dw_result_free(result)
        ctypes.CDLL(None).free(text)
        return answer


def main():
    library, text = Library(sys.argv[1]), sys.stdin.buffer.read()
    request = ctypes.create_string_buffer(ROOM)
    library.lib.dw_request_init(request)
    library.call("dw_request_from_json", request, text, ctypes.c_size_t(len(text)))
    if json.loads(text).get("level") == "docker":
        pool, name = library.new_pool(request), b"docker"
    else:
        pool, name = library.new_pool(), library.lib.dw_language_name(
            json.loads(text)["language"].encode())
        library.run(pool, request)  # makes the pool start more of them
    library.warm_up(pool, name)
    print(json.dumps([library.run(pool, request) for _ in range(int(sys.argv[2]))]))
    library.lib.dw_pool_free(pool)


if __name__ == "__main__":
    main()
