# SPDX-License-Identifier: Apache-2.0
"""The Engine API over a unix socket, as far as tests need it."""

import contextlib
import http.client
import json
import socket
import urllib.parse

VERSION = "v1.41"  # Debian's dockerd, and what Podman 4 speaks


class ApiError(Exception):
    def __init__(self, status, text):
        super().__init__("%d: %s" % (status, text))
        self.status = status


class Connection(http.client.HTTPConnection):
    def __init__(self, path, timeout):
        super().__init__("engine", timeout=timeout, blocksize=1 << 20)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


class Api:
    """Every call opens a connection of its own."""

    def __init__(self, path, timeout=120):
        self.path = path
        self.timeout = timeout

    def call(self, method, path, body=None, content_type="application/json", **query):
        """The body of the answer; ApiError unless it is of success."""
        if query:
            path += "?" + urllib.parse.urlencode(query, doseq=True)
        if body is not None and content_type == "application/json":
            body = json.dumps(body)
        connection = Connection(self.path, self.timeout)
        try:
            with contextlib.suppress(BrokenPipeError):  # refused before it was read
                connection.request(method, "/%s%s" % (VERSION, path), body,
                                   {"Content-Type": content_type} if body is not None else {})
            answer = connection.getresponse()
            data = answer.read()
        finally:
            connection.close()
        if answer.status >= 300:
            raise ApiError(answer.status, data.decode("utf-8", "replace").strip())
        return data

    def get(self, path, **query):
        return json.loads(self.call("GET", path, **query))

    def answers(self):
        try:
            return self.call("GET", "/_ping") == b"OK"
        except (OSError, http.client.HTTPException, ApiError):
            return False

    # ---- images ----

    def images(self):
        """Every name that an image has here, as Docker writes it."""
        return sorted(short(name) for image in self.get("/images/json")
                      for name in image.get("RepoTags") or [])

    def import_image(self, tar, names, changes=()):
        """Make an image of a tar file and give it these names."""
        with open(tar, "rb") as body:
            lines = self.call("POST", "/images/create", body, "application/x-tar",
                              fromSrc="-", changes=list(changes))
        last = json.loads(lines.splitlines()[-1])
        if "error" in last:
            raise ApiError(200, last["error"])
        image = last["status"]
        for name in names:
            self.tag(image, name)

    def tag(self, image, name):
        repo, _, tag = name.rpartition(":")
        # Podman takes a short name for one of its own, at localhost.
        if "." not in repo.split("/")[0]:
            repo = "docker.io/" + ("" if "/" in repo else "library/") + repo
        self.call("POST", "/images/%s/tag" % image, repo=repo, tag=tag)

    def untag(self, name):
        """Take a name away, if it is there."""
        try:
            self.call("DELETE", "/images/" + name, force="true")
        except ApiError as error:
            if error.status != 404:
                raise

    # ---- containers ----

    def create(self, image, command, name=None, **host):
        body = {"Image": image, "Cmd": list(command), "HostConfig": {"NetworkMode": "none", **host}}
        query = {"name": name} if name else {}
        return json.loads(self.call("POST", "/containers/create", body, **query))["Id"]

    def start(self, container):
        self.call("POST", "/containers/%s/start" % container)

    def wait(self, container):
        """Its exit status, once it has ended."""
        return json.loads(self.call("POST", "/containers/%s/wait" % container))["StatusCode"]

    def output(self, container):
        """(stdout, stderr) so far, of one without a terminal."""
        data = self.call("GET", "/containers/%s/logs" % container, stdout=1, stderr=1)
        streams = {1: b"", 2: b""}
        while data:
            size = int.from_bytes(data[4:8], "big")
            streams[data[0]] += data[8:8 + size]
            data = data[8 + size:]
        return streams[1], streams[2]

    def inspect(self, container):
        return self.get("/containers/%s/json" % container)

    def containers(self):
        """The ids of all there are, running or not."""
        return {c["Id"] for c in self.get("/containers/json", all=1)}

    def volumes(self):
        return {v["Name"] for v in self.get("/volumes")["Volumes"] or []}

    def remove(self, container):
        try:
            self.call("DELETE", "/containers/" + container, force="true", v="true")
        except ApiError as error:
            if error.status != 404:
                raise


def short(name):
    """Podman writes names in full."""
    for prefix in "docker.io/library/", "docker.io/":
        if name.startswith(prefix):
            return name[len(prefix):]
    return name
