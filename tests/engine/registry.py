#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A registry with one small image, under every name except those that mean a fault.

registry.py TAR LOG: serves 127.0.0.1:5000 and writes a line a request to LOG. Meant for the
network namespace of an engine, where no other process sees it.

  NAME/missing   is not there
  NAME/stuck     sends half of its layer, and no more
  NAME/broken    sends a layer that is not what its digest says
"""

import gzip
import hashlib
import http.server
import io
import json
import re
import sys
import tarfile
import threading

PORT = 5000
MANIFEST = "application/vnd.docker.distribution.manifest.v2+json"


def digest(data):
    return "sha256:" + hashlib.sha256(data).hexdigest()


class Image:
    """One layer, which no other name shares: an engine does not fetch a layer twice."""

    def __init__(self, tar, name):
        tar = signed(tar, name)
        layer = gzip.compress(tar, 1, mtime=0)
        config = json.dumps({
            "architecture": "amd64", "os": "linux", "config": {"Labels": {"name": name}},
            "rootfs": {"type": "layers", "diff_ids": [digest(tar)]},
            "history": [{"created": "2020-01-01T00:00:00Z"}]}).encode()
        self.manifest = json.dumps({
            "schemaVersion": 2, "mediaType": MANIFEST,
            "config": entry("container.image.v1+json", config),
            "layers": [entry("image.rootfs.diff.tar.gzip", layer)]}).encode()
        self.layer = layer
        self.blobs = {digest(config): config, digest(layer): layer}


def signed(tar, name):
    """With one file more."""
    out = io.BytesIO(tar)
    with tarfile.open(fileobj=out, mode="a") as archive:
        info = tarfile.TarInfo("etc/image")
        info.size = len(name)
        archive.addfile(info, io.BytesIO(name.encode()))
    return out.getvalue()


def entry(kind, data):
    return {"mediaType": "application/vnd.docker." + kind, "size": len(data),
            "digest": digest(data)}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    tar = b""
    log = None

    def do_HEAD(self):
        self.do_GET()

    def do_GET(self):
        print(self.command, self.path, file=self.log, flush=True)
        found = re.fullmatch(r"/v2/(.+)/(manifests|blobs)/([^/]+)", self.path)
        if self.path == "/v2/":
            self.answer(200, b"{}", "application/json")
        elif not found or found[1].endswith("missing"):
            self.answer(404, b'{"errors":[{"code":"MANIFEST_UNKNOWN","message":"not here"}]}',
                        "application/json")
        else:
            self.answer_image(*found.groups())

    def answer_image(self, name, what, reference):
        image = Image(self.tar, name)
        if what == "manifests":
            self.answer(200, image.manifest, MANIFEST)
        elif reference not in image.blobs:
            self.answer(404, b"{}", "application/json")
        elif image.blobs[reference] is image.layer and name.endswith("stuck"):
            self.answer(200, image.layer, "application/octet-stream", len(image.layer) // 2)
            threading.Event().wait()
        elif image.blobs[reference] is image.layer and name.endswith("broken"):
            self.answer(200, b"x" * len(image.layer), "application/octet-stream")
        else:
            self.answer(200, image.blobs[reference], "application/octet-stream")

    def answer(self, status, data, kind, first=None):
        """All of it, or only so many bytes at first."""
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.send_header("Docker-Content-Digest", digest(data))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data[:first])
            self.wfile.flush()

    def log_message(self, *args):
        pass


def main():
    with open(sys.argv[1], "rb") as file:
        Handler.tar = file.read()
    with open(sys.argv[2], "a", encoding="utf-8") as Handler.log:
        server = http.server.ThreadingHTTPServer(("127.0.0.1", PORT), Handler)
        server.daemon_threads = True
        print("up", file=Handler.log, flush=True)
        server.serve_forever()


if __name__ == "__main__":
    main()
