# SPDX-License-Identifier: Apache-2.0
"""Checks requests and replies against the daemon's own OpenAPI document."""

import json
import re

import jsonschema

# The statuses that every path can return before its operation is called: for a request of a web
# page, an unknown method or path, a body that is too large, or a foreign Host header.
ANYWHERE = {"400", "401", "403", "404", "405", "413", "421"}

STREAMS = ("text/event-stream", "application/x-ndjson")


class Contract:
    def __init__(self, document):
        self.document = document
        self.resolver = jsonschema.RefResolver.from_schema(document)

    def check_schema(self, schema, value):
        jsonschema.Draft202012Validator(schema, resolver=self.resolver).validate(value)

    def check_named(self, name, value):
        self.check_schema({"$ref": "#/components/schemas/" + name}, value)

    def operation(self, method, path):
        """The document's operation for this method and path, or None."""
        for template, item in self.document["paths"].items():
            pattern = re.sub(r"\\\{\w+\\\}", "[^/]+", re.escape(template))
            if re.fullmatch(pattern, path):
                return item.get({"HEAD": "get"}.get(method, method.lower()))
        return None

    def check_request(self, operation, body):
        """Check the body of a request that was accepted."""
        if "requestBody" in operation:
            schema = operation["requestBody"]["content"]["application/json"]["schema"]
            self.check_schema(schema, json.loads(body))

    def check_head(self, method, path, status, headers):
        assert re.fullmatch("[0-9a-f]{16,}", headers.get("X-Request-Id", "")), headers
        assert headers["Cache-Control"] == "no-store"
        assert headers["X-Content-Type-Options"] == "nosniff"
        if status in (429, 503):
            assert int(headers["Retry-After"]) >= 1
        if status == 401:
            assert headers["WWW-Authenticate"].startswith("Bearer")
        if status == 405:
            assert headers["Allow"]

    def check(self, method, path, sent, status, headers, got):
        """Check one request and its complete reply."""
        operation = self.operation(method, path.partition("?")[0])
        self.check_head(method, path, status, headers)
        kind = headers["Content-Type"].partition(";")[0]
        if operation is None:
            assert status in (401, 403, 404, 405, 413, 421), (method, path, status)
        if operation is None or str(status) not in operation["responses"]:
            assert str(status) in ANYWHERE, "%s %s: %d is not in the document" % (
                method, path, status)
            content = {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}
        else:
            content = operation["responses"][str(status)]["content"]
        assert kind in content, "%s %s: %d with %s is not in the document" % (
            method, path, status, kind)
        if status < 400:
            self.check_request(operation, sent)
        if kind == "application/json" and method != "HEAD":
            value = json.loads(got.decode("utf-8"))
            self.check_schema(content[kind]["schema"], value)

    def check_event(self, event, data):
        self.check_named("Event", {"event": event, "data": data})
        if event == "result":
            self.check_named("Result", data)
        elif event == "error":
            self.check_named("Error", data)
        elif event == "start":
            assert set(data) == {"id"}
        elif event == "pending":
            assert set(data) == {"id", "approval"}
            self.check_named("Pending", data["approval"])
        else:
            assert set(data) == {"text"} and isinstance(data["text"], str)
