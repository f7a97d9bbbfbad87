# SPDX-License-Identifier: Apache-2.0
"""Each path of the API. Every reply is checked against the OpenAPI document."""

import datetime
import json
import subprocess
import time

import pytest

from daemon import clean_env, total, wait_until
from wire import read_reply

pytestmark = pytest.mark.privilege

TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


def test_a_run_waits_for_its_result(daemon):
    result = daemon.run({"language": "python", "code": "print(6 * 7)"})
    assert (result["status"], result["stdout"]) == ("success", "42\n")
    assert result["proof"]["achieved"] == "container"


def test_a_failing_program_is_a_result(daemon):
    result = daemon.run({"language": "python", "code": "import sys; sys.exit(3)"})
    assert (result["status"], result["reason"], result["exit_code"]) == ("error", "exit", 3)


def test_every_field_of_a_request_is_accepted(daemon):
    result = daemon.run({
        "command": "cat in.txt - >out.txt; echo $GREETING $1; echo oops >&2",
        "args": ["there"], "env": {"GREETING": "hello"}, "stdin": "from stdin",
        "files": {"in.txt": "ZnJvbSBhIGZpbGU="}, "collect": ["out.txt"], "level": ["container"],
        "network": "none", "limits": {"timeout_s": 20.5, "memory_mb": 64, "pids": None},
        "async": False, "template": None,
    })
    assert result["status"] == "success", result
    assert result["stdout"] == "hello there\n"
    assert result["stderr"] == "oops\n"
    assert [file["name"] for file in result["files"]] == ["out.txt"]


def test_curl_is_a_client(daemon):
    done = subprocess.run(
        ["curl", "-sS", "--fail-with-body", "-H", "Content-Type: application/json",
         "-d", json.dumps({"language": "python", "code": "print('hi')"}),
         "http://localhost:%d/v1/runs" % daemon.port],
        env=clean_env({"http_proxy": None, "no_proxy": "*"}), capture_output=True, timeout=60,
        check=False)
    assert done.returncode == 0, done
    result = json.loads(done.stdout)
    daemon.contract.check_named("Result", result)
    assert result["stdout"] == "hi\n"


def test_many_runs_over_one_connection(daemon):
    conn = daemon.connect()
    port = conn.sock.getsockname()[1]
    ids = set()
    for i in range(10):
        reply = daemon.exchange(conn, "POST", "/v1/runs",
                                {"language": "python", "code": "print(%d)" % i})
        assert reply.json["stdout"] == "%d\n" % i
        ids.add(reply.json["id"])
        assert conn.sock.getsockname()[1] == port, "it was not kept alive"
    conn.close()
    assert len(ids) == 10


def test_the_result_of_an_async_run_can_be_polled(daemon):
    run = daemon.start({"language": "python", "code": "print(1); import time; time.sleep(0.2)"})
    done = daemon.wait_state(run, "done")
    assert done["id"] == done["result"]["id"] == run
    assert done["result"]["stdout"] == "1\n"
    assert daemon.get("/v1/runs/" + run).json == done, "asking again gives the same"


def test_the_result_of_a_synchronous_run_can_be_read_again(daemon):
    result = daemon.run({"language": "python", "code": "print(1)"})
    assert daemon.wait_state(result["id"], "done")["result"] == result


def test_a_result_is_removed_after_keep_time(serve):
    daemon = serve({"runs": {"keep_time": 1}})
    run = daemon.start({"command": "true"})
    reply = wait_until(lambda: (lambda r: r if r.status == 404 else None)(
        daemon.get("/v1/runs/" + run)), "the result to be gone")
    assert reply.error["code"] == "not_found" and run in reply.error["message"]
    assert daemon.wait_recorded(run)["status"] == "success", "the audit record keeps it"


def test_no_more_results_are_kept_than_configured(serve):
    daemon = serve({"runs": {"keep": 2}})
    runs = [daemon.run({"command": "true"})["id"] for _ in range(4)]
    wait_until(lambda: [daemon.get("/v1/runs/" + run).status for run in runs] ==
               [404, 404, 200, 200], "two of four to be kept")


def test_a_long_run_is_the_last_to_be_forgotten(serve):
    """Results are forgotten in the order in which runs end, not in which they start."""
    daemon = serve({"runs": {"keep": 2, "concurrent": 2}})
    long = daemon.start({"command": "sleep 100"})
    daemon.wait_state(long, "running")
    others = [daemon.run({"command": "true"})["id"] for _ in range(3)]
    assert daemon.delete("/v1/runs/" + long).status == 202
    wait_until(lambda: [daemon.get("/v1/runs/" + run).status for run in (*others, long)] ==
               [404, 404, 200, 200], "the two that ended last to be kept")


@pytest.mark.parametrize("run", ["0" * 32, "x", "%00", "..%2f..", "a" * 100])
def test_an_unknown_run_is_not_found(daemon, run):
    for ask in daemon.get, daemon.delete:
        reply = ask("/v1/runs/" + run)
        assert (reply.status, reply.error["code"]) == (404, "not_found")


def test_delete_ends_a_running_run(daemon):
    run = daemon.start({"language": "python", "code": "import time; time.sleep(100)"})
    daemon.wait_state(run, "running")
    reply = daemon.delete("/v1/runs/" + run)
    assert reply.status == 202 and reply.json["id"] == run
    result = daemon.wait_state(run, "done")["result"]
    assert (result["status"], result["reason"]) == ("error", "cancelled")
    assert daemon.wait_recorded(run)["end"]["reason"] == "cancelled"


def test_delete_ends_a_queued_run(serve):
    daemon = serve({"runs": {"concurrent": 1}})
    first = daemon.start({"command": "sleep 100"})
    daemon.wait_state(first, "running")
    second = daemon.start({"command": "sleep 100"})
    assert daemon.state_of(second) == "queued"
    assert daemon.delete("/v1/runs/" + second).status == 202
    done = daemon.wait_state(second, "done")
    assert done["error"]["code"] == "conflict" and "cancelled" in done["error"]["message"]
    assert "result" not in done
    assert daemon.state_of(first) == "running"
    assert daemon.recorded(second) is None, "it never ran"
    assert daemon.delete("/v1/runs/" + first).status == 202
    daemon.wait_state(first, "done")


def test_delete_of_an_ended_run_is_a_conflict(daemon):
    run = daemon.run({"language": "python", "code": "1"})["id"]
    daemon.wait_state(run, "done")
    reply = daemon.delete("/v1/runs/" + run)
    assert (reply.status, reply.error["code"]) == (409, "conflict")


def test_languages(daemon):
    languages = daemon.get("/v1/languages").json["languages"]
    python = [language for language in languages if language["name"] == "python"]
    assert python[0]["installed"] and python[0]["version"]
    assert len({language["name"] for language in languages}) == len(languages)


def test_levels(daemon):
    levels = {level["name"]: level for level in daemon.get("/v1/levels").json["levels"]}
    assert {"none", "process", "container", "docker"} <= set(levels)
    assert levels["container"]["available"]
    for level in levels.values():
        assert level["available"] == (level["why"] is None), level


def test_a_level_that_this_host_lacks_is_unsupported(serve):
    daemon = serve(env={"DOCKER_HOST": "unix:///nowhere/docker.sock"})
    reply = daemon.post({"language": "python", "code": "1", "level": "docker"})
    assert (reply.status, reply.error["code"]) == (501, "unsupported")
    assert "docker" in reply.error["message"].lower() and reply.error["hint"]
    result = daemon.run({"command": "echo fine", "level": ["docker", "container"]})
    assert result["proof"]["achieved"] == "container", "the second one was allowed as well"


def test_health_readiness_and_the_document(daemon):
    assert daemon.get("/healthz").json == {"status": "ok"}
    assert daemon.get("/readyz").json == {"status": "ready"}
    document = daemon.get("/openapi.json").json
    assert document["openapi"].startswith("3.1")
    assert set(document["paths"]) >= {
        "/v1/runs", "/v1/runs/{id}", "/v1/languages", "/v1/levels", "/v1/audit", "/metrics",
        "/healthz", "/readyz", "/openapi.json"}


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/openapi.json", "/metrics",
                                  "/v1/languages", "/v1/levels", "/v1/audit"])
def test_head_is_get_without_a_body(daemon, path):
    conn = daemon.connect()
    reply = daemon.exchange(conn, "HEAD", path)
    assert reply.status == 200 and reply.body == b""
    assert int(reply.headers["Content-Length"]) > 0
    assert daemon.exchange(conn, "GET", "/healthz").status == 200, "on the same connection"
    conn.close()


@pytest.mark.parametrize("path", ["/", "/v1", "/v1/runs/", "/v1/runs/a/b", "/v2/runs", "/healthz/",
                                  "/%2e%2e/etc/passwd", "/V1/RUNS", "//v1/runs"])
def test_an_unknown_path_is_not_found(daemon, path):
    reply = daemon.get(path)
    assert (reply.status, reply.error["code"]) == (404, "not_found")
    assert reply.error["hint"]


@pytest.mark.parametrize("method, path, allowed", [
    ("GET", "/v1/runs", {"POST"}),
    ("PUT", "/v1/runs", {"POST"}),
    ("POST", "/v1/runs/abc", {"GET", "DELETE"}),
    ("POST", "/healthz", {"GET"}),
    ("OPTIONS", "/v1/runs", {"POST"}),
    ("BREW", "/metrics", {"GET"}),
])
def test_another_method_is_not_allowed(daemon, method, path, allowed):
    reply = daemon.request(method, path)
    assert (reply.status, reply.error["code"]) == (405, "method_not_allowed")
    assert allowed <= {word.strip() for word in reply.headers["Allow"].split(",")}


def test_a_traceparent_is_returned_and_logged(daemon):
    reply = daemon.post({"language": "python", "code": "1"}, headers={"traceparent": TRACE})
    assert reply.headers["traceparent"] == TRACE
    assert daemon.wait_logged("run.ended", run=reply.json["id"])["traceparent"] == TRACE


@pytest.mark.parametrize("trace", ["x" * 500, "00-\u00e9".encode("latin-1"), "<script>"])
def test_an_invalid_traceparent_is_not_returned(daemon, trace):
    reply = daemon.get("/healthz", headers={"traceparent": trace})
    assert reply.status == 200 and "traceparent" not in reply.headers


def test_each_run_is_logged_once(daemon):
    run = daemon.run({"language": "python", "code": "1"})["id"]
    entry = daemon.wait_logged("run.ended", run=run)
    assert (entry["status"], entry["reason"], entry["who"]) == ("success", "exit", "local")
    assert float(entry["ms"]) > 0
    assert len(daemon.logged("run.ended", run=run)) == 1
    assert not daemon.logged("run.refused", run=run)


def iso(seconds):
    when = datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc)
    return when.strftime("%Y-%m-%dT%H:%M:%SZ")


def test_the_audit_record_can_be_queried_by_id_status_and_time(daemon):
    before = time.time()
    good = daemon.run({"language": "python", "code": "print('find me')"})["id"]
    bad = daemon.run({"language": "python", "code": "1 / 0"})["id"]
    daemon.wait_recorded(good)
    record = daemon.wait_recorded(bad)
    assert record["status"] == record["end"]["status"] == "error"
    assert record["intent"]["request"]["code"] == "1 / 0"
    assert record["intent"]["who"] == "local"

    def found(query):
        return [run["intent"]["run"] for run in
                daemon.get("/v1/audit?" + query).json["runs"]]

    assert found("id=" + good) == found("id=" + good[:20]) == [good]
    assert bad in found("status=error") and good not in found("status=error")
    assert found("limit=1") == [bad], "the newest first"
    assert found("limit=2") == [bad, good]
    assert {good, bad} <= set(found("since=" + iso(before - 1)))
    assert not {good, bad} & set(found("until=" + iso(before - 1)))
    assert found("since=" + iso(before + 3600)) == []
    assert found("id=" + "f" * 32) == []


@pytest.mark.parametrize("query", ["limit=0", "limit=1001", "limit=x", "limit=-1", "since=today",
                                   "until=2026-13-01T00:00:00Z", "id=" + "a" * 500,
                                   "status=" + "a" * 500, "status=sucss", "since=2026-11-15T14:44:35Zx"])
def test_an_invalid_query_is_refused(daemon, query):
    reply = daemon.get("/v1/audit?" + query)
    assert (reply.status, reply.error["code"]) == (400, "invalid")


def test_audit_says_when_there_is_more(serve):
    daemon = serve()
    for _ in range(3):
        daemon.run({"language": "sh", "code": "#" * (9 << 20)})
    reply = daemon.get("/v1/audit").json
    assert (len(reply["runs"]), reply["more"]) == (1, True), "16 MB of requests at most"
    daemon.run({"command": "true"})
    reply = daemon.get("/v1/audit?limit=1").json
    assert (len(reply["runs"]), reply["more"]) == (1, True)
    assert daemon.get("/v1/audit?limit=9&until=2026-01-01T00:00:00Z").json == {
        "runs": [], "more": False}


def settled(daemon):
    """The metrics once no run is active: a run is counted after its reply."""
    found = []
    wait_until(lambda: found.append(daemon.metrics()) or
               total(found[-1], "dewar_running") == 0, "runs to be over")
    return found[-1]


def test_metrics_count_runs_and_replies(daemon):
    daemon.run({"language": "python", "code": "1"})
    before = settled(daemon)
    daemon.run({"language": "python", "code": "print(1)"})
    daemon.run({"language": "python", "code": "1 / 0"})
    assert daemon.post({"language": "python", "code": "1", "level": "none"}).status == 403
    # A reply is counted after it was sent: a client may read it before that.
    wait_until(lambda: total(daemon.metrics(), "dewar_http_replies_total", status="403") >
               total(before, "dewar_http_replies_total", status="403"), "the reply to be counted")
    after = settled(daemon)

    def moved(name, **labels):
        return total(after, name, **labels) - total(before, name, **labels)

    assert moved("dewar_runs_total") == 2
    assert moved("dewar_runs_total", language="python", level="container", status="success",
                 reason="exit") == 1
    assert moved("dewar_runs_total", status="error") == 1
    assert moved("dewar_refused_total", status="403") == 1
    assert moved("dewar_http_replies_total", status="200") >= 2
    for name in ("dewar_queue_seconds", "dewar_start_seconds", "dewar_run_seconds"):
        assert moved(name + "_count") == 2, name
        assert moved(name + "_sum") > 0, name
    assert moved("dewar_audit_seconds_count", record="intent") == 2
    assert moved("dewar_audit_seconds_count", record="outcome") == 2
    assert moved("dewar_audit_failures_total") == 0
    assert sum(moved("dewar_pool_runs_total", way=way) for way in ("standby", "fork", "cold")) == 2
    assert total(after, "dewar_memory_bytes") > 1 << 20
    assert total(after, "dewar_queue_length") == 0


def test_curl_sends_a_large_body_after_100_continue(daemon):
    """curl first sends `Expect: 100-continue`, and gets 413 if the body is too large."""
    def curl(n):
        text = json.dumps({"command": "wc -c", "stdin": "x" * n}).encode()
        done = subprocess.run(
            ["curl", "-sS", "-w", "\n%{http_code}", "-H", "Content-Type: application/json",
             "-H", "Expect: 100-continue", "--data-binary", "@-",
             "http://127.0.0.1:%d/v1/runs" % daemon.port], input=text,
            env=clean_env({"no_proxy": "*"}), capture_output=True, timeout=120, check=False)
        body, _, status = done.stdout.rpartition(b"\n")
        return int(status), json.loads(body)

    status, result = curl(3000000)
    assert (status, result["stdout"].strip()) == (200, "3000000")
    status, result = curl(20000000)
    assert (status, result["error"]["code"]) == (413, "too_large")


def test_the_daemon_listens_on_an_ipv6_address(serve):
    daemon = serve(args=["--listen", "[::1]:0"], listen=False)
    address = daemon.logged("daemon.ready")[0]["listen"]
    assert address.startswith("[::1]:")
    done = subprocess.run(["curl", "-gsS", "http://%s/healthz" % address],
                          env=clean_env({"no_proxy": "*"}), capture_output=True, timeout=60,
                          check=False)
    assert json.loads(done.stdout) == {"status": "ok"}, done


def test_http_1_0_is_supported(daemon):
    sock = daemon.raw(b"GET /healthz HTTP/1.0\r\nHost: localhost\r\n\r\n")
    data = read_reply(sock)
    sock.close()
    assert b" 200 " in data.split(b"\r\n", 1)[0] and data.endswith(b'{"status":"ok"}')
