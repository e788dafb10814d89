"""spaa upload against a server of its own on this machine, which checks every signature by itself."""

import contextlib
import datetime
import hashlib
import hmac
import http.server
import json
import os
import re
import shutil
import socket
import ssl
import struct
import subprocess
import threading
import time
import urllib.parse

import pytest

from conftest import BIN, parse, run

KEY, SECRET, TOKEN = "AKIDTEST", "SeCrEt/KeY+forTESTS0123456789abcdefABCD", "session-TOKEN//+=="
PROFILE = ('{"start":1711234567000,"end":1711234577000,"agentMetadata":{"durationInMs":10000},'
           '"callgraph":{"children":{"main":{"counts":{"RUNNABLE":3}}}}}')


def signature(method, path, query, headers, signed, body, region, date, service="codeguru-profiler", secret=SECRET):
    """SigV4 as AWS's documentation describes it, once more."""
    pairs = sorted((urllib.parse.quote(k, safe="-_.~"), urllib.parse.quote(v, safe="-_.~"))
                   for k, v in urllib.parse.parse_qsl(query, keep_blank_values=True))
    canonical = "\n".join([method, urllib.parse.quote(path, safe="/-_.~"), "&".join("%s=%s" % p for p in pairs)]
                          + ["%s:%s" % (h, " ".join(headers[h].split())) for h in signed]
                          + ["", ";".join(signed), hashlib.sha256(body).hexdigest()])
    scope = "%s/%s/%s/aws4_request" % (date[:8], region, service)
    text = "AWS4-HMAC-SHA256\n%s\n%s\n%s" % (date, scope, hashlib.sha256(canonical.encode()).hexdigest())
    key = ("AWS4" + secret).encode()
    for part in (date[:8], region, service, "aws4_request", text):
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    return scope, key.hex()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def reset(self):
        """The connection ends with a reset."""
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close_connection = True
        self.connection.close()

    def check(self, body):
        headers = {k.lower(): v for k, v in self.headers.items()}
        found = re.fullmatch(r"AWS4-HMAC-SHA256 Credential=([^/]+)/(.+), SignedHeaders=([a-z0-9;-]+), Signature=([0-9a-f]{64})",
                             headers["authorization"])
        assert found, headers
        key, scope, signed, got = found.groups()
        signed = signed.split(";")
        assert key == KEY and signed == sorted(signed)
        assert {"host", "x-amz-date"} <= set(signed)
        if body:
            assert headers["content-type"] == "application/json" and "content-type" in signed
        assert headers.get("x-amz-security-token") == self.server.token
        assert self.server.token is None or "x-amz-security-token" in signed
        date = headers["x-amz-date"]
        when = datetime.datetime.strptime(date, "%Y%m%dT%H%M%SZ")
        assert abs((datetime.datetime.utcnow() - when).total_seconds()) < 60
        path, _, query = self.path.partition("?")
        want = signature(self.command, path, query, headers, signed, body, self.server.region, date)
        assert (scope, got) == want
        assert hashlib.sha256(SECRET.encode()) and SECRET not in str(self.headers)

    def answer(self):
        server = self.server
        step = server.script[min(server.calls, len(server.script) - 1)]
        server.calls += 1
        if step == "slow read":
            time.sleep(0.3)
        if step == "reset before":
            return self.reset()
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        with contextlib.suppress(KeyError):
            assert "expect" not in {k.lower() for k in self.headers}
        try:
            self.check(body)
        except AssertionError as e:
            server.wrong.append(str(e))
        server.requests.append((self.command, self.path, dict(self.headers.items()), body))
        if step == "reset":
            return self.reset()
        if step == "drip":
            self.send_response(200)
            self.send_header("Content-Length", "1000")
            self.end_headers()
            with contextlib.suppress(OSError):
                while not server.stop.wait(0.1):
                    self.wfile.write(b"x")
                    self.wfile.flush()
            return self.reset()
        if step == "hang":
            server.stop.wait(20)
            return self.reset()
        if step in ("slow read", "slow"):
            step = (204, {}, b"")
            self.send_response(204)
            self.wfile.flush()
            time.sleep(0.3)
            self.end_headers()
            return None
        status, headers, text = step
        self.send_response(status)
        for k, v in headers.items():
            self.send_header(k, v)
        if status != 204:
            self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)
        return None

    do_POST = do_GET = answer


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True


def error(status, kind, message, **headers):
    body = json.dumps({"message": message}).encode()
    return status, {"x-amzn-ErrorType": kind + ":http://x/", "Content-Type": "application/json", **headers}, body


DONE = (204, {}, b"")


@pytest.fixture
def serve():
    servers = []

    def start(*script, region="eu-west-1", token=None, tls=None):
        server = Server(("127.0.0.1", 0), Handler)
        server.script, server.region, server.token = script, region, token
        server.calls, server.requests, server.wrong, server.stop = 0, [], [], threading.Event()
        server.url = "http%s://127.0.0.1:%d" % ("s" if tls else "", server.server_address[1])
        if tls:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*tls)
            server.socket = context.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        servers.append(server)
        return server

    yield start
    for server in servers:
        server.stop.set()
        server.shutdown()
        server.server_close()
        assert not server.wrong


def environment(**more):
    """Without any of AWS's variables but these; None: not set."""
    env = {k: None for k in os.environ if k.startswith("AWS_")}
    env.update({"AWS_ACCESS_KEY_ID": KEY, "AWS_SECRET_ACCESS_KEY": SECRET, "AWS_DEFAULT_REGION": "eu-west-1", "HOME": "/nowhere",
                "AWS_EC2_METADATA_DISABLED": "true", "no_proxy": "*", "http_proxy": "", "https_proxy": ""})
    env.update(more)
    return env


def upload(server, *more, stdin=PROFILE, code=0, env=None, files=("-",)):
    answer = run("upload", "codeguru", *files, "--group", "my-group", "--endpoint", server.url if server else "http://127.0.0.1:9",
                 "--retry-delay", "1", *more, stdin=stdin, code=code, env=env or environment())
    for secret in (SECRET, TOKEN):
        assert secret not in answer.out and secret not in answer.err
    return answer


def test_a_profile_is_sent_as_it_is(serve):
    server = serve(DONE)
    text = PROFILE.replace(",", " , ")
    answer = upload(server, "--profile-token", "tok-1", stdin=text)
    (method, path, headers, body), = server.requests
    assert (method, path) == ("POST", "/profilingGroups/my-group/agentProfile?profileToken=tok-1")
    assert headers["content-type"] == "application/json" and body == text.encode()
    assert "my-group" in answer.out and "tok-1" in answer.out and answer.err == ""


@pytest.mark.parametrize("text, reason", [(b"\xef\xbb\xbf" + PROFILE.encode(), "byte order mark"), (PROFILE.encode("utf-16"), "UTF-16"),
                                          (b"> " + PROFILE.encode(), "quoted")])
def test_what_stands_around_the_json_is_not_left_out_in_silence(serve, text, reason):
    """What is sent is the file's bytes, or nothing."""
    server = serve(DONE)
    answer = upload(server, stdin=text, code=3)
    assert "SPAA-E466" in answer.err and reason in answer.err and not server.requests
    assert run("validate", "-", stdin=text, code=1).out.startswith("invalid: 1 error")
    upload(server, "--force", stdin=text)
    assert server.requests[0][3] == PROFILE.encode()


def test_json_answer(serve):
    got = parse(upload(serve(DONE), "--json", "--profile-token", "t").out)
    assert got == {"schema": "spaa.upload/1", "sent": True, "group": "my-group", "region": "eu-west-1", "profile_token": "t",
                   "bytes": len(PROFILE), "diagnostics": []}


def test_other_formats_are_converted(serve):
    server = serve(DONE)
    upload(server, "--fleet-instance-id", "i-9", "--start", "1711234567000", stdin="main;f 3\nmain;g 4\n")
    body = json.loads(server.requests[0][3])
    assert body["agentMetadata"]["fleetInfo"]["fleetInstanceId"] == "i-9"
    assert body["callgraph"]["children"]["main"]["children"]["g"] == {"counts": {"WALL_TIME": 4}}
    # a CodeGuru profile too, where something is to be changed
    upload(server, "--host-type", "m5")
    assert json.loads(server.requests[1][3])["agentMetadata"]["fleetInfo"] == {"hostType": "m5"}
    run("upload", "codeguru", "-", "--group", "g", "--region", "r", "--pid", stdin="app;main 1\n", env=environment(), code=2)


def test_a_random_token_per_upload_and_one_for_its_retries(serve):
    server = serve(error(500, "InternalServerException", "x"), (503, {}, b"busy"), DONE)
    answer = upload(server)
    tokens = {urllib.parse.parse_qs(p.partition("?")[2])["profileToken"][0] for _, p, _, _ in server.requests}
    assert len(server.requests) == 3 and len(tokens) == 1
    assert re.fullmatch(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", tokens.pop())
    assert answer.err.count("SPAA-W481") == 2 and "InternalServerException" in answer.err


@pytest.mark.parametrize("first", [error(429, "ThrottlingException", "slow down"), "reset", "reset before",
                                   error(400, "ThrottlingException", "Rate exceeded"),
                                   error(503, "x", "y", **{"Retry-After": "0"}), (502, {}, b"<html>")])
def test_tried_again(serve, first):
    server = serve(first, DONE)
    answer = upload(server)
    assert server.calls == 2 and "SPAA-W481" in answer.err


@pytest.mark.parametrize("step", [error(500, "InternalServerException", "sorry"), "reset"])
def test_not_for_ever(serve, step):
    server = serve(step)
    answer = upload(server, "--retries", "2", code=3)
    assert server.calls == 3
    assert ("SPAA-E463" in answer.err and "sorry" in answer.err) if step != "reset" else "SPAA-E464" in answer.err


@pytest.mark.parametrize("status,kind,hint", [(400, "ValidationException", "see the message"),
                                              (403, "AccessDeniedException", "PostAgentProfile"),
                                              (404, "ResourceNotFoundException", "--group"),
                                              (403, "SignatureDoesNotMatch", "secret key"),
                                              (403, "ExpiredTokenException", "new ones"), (413, "TooLarge", "too large")])
def test_refusals_are_said_and_not_repeated(serve, status, kind, hint):
    server = serve(error(status, kind, "because of this"))
    answer = upload(server, code=3)
    assert server.calls == 1 and "SPAA-E463" in answer.err
    assert "%s: because of this (HTTP %d)" % (kind, status) in answer.err and hint in answer.err
    got = parse(upload(server, "--json", code=3).out)
    assert got["error"]["code"] == "SPAA-E463"


def test_errors_in_other_shapes(serve):
    body = json.dumps({"__type": "com.amazon.x#OtherException", "Message": "\x1b[31mred"}).encode()
    answer = upload(serve((400, {}, body)), code=3)
    assert "OtherException: " in answer.err and "\x1b" not in answer.err and "red" in answer.err
    assert "(HTTP 418)" in upload(serve((418, {}, b"not json")), code=3).err
    assert "(HTTP 302)" in upload(serve((302, {"Location": "http://127.0.0.1:9/"}, b"")), code=3).err


def test_secrets_in_a_message_are_cut_out(serve):
    server = serve(error(403, "X", "you sent %s and %s" % (TOKEN, SECRET)), token=TOKEN)
    answer = upload(server, code=3, env=environment(AWS_SESSION_TOKEN=TOKEN))
    assert "you sent *** and ***" in answer.err


def test_session_token(serve):
    server = serve(DONE, token=TOKEN)
    upload(server, env=environment(AWS_SESSION_TOKEN=TOKEN))
    assert server.calls == 1


def test_slow_connections(serve):
    upload(serve("slow"))
    upload(serve("slow read"), stdin=PROFILE[:-1] + ',"x":"%s"}' % ("y" * 3000000))


def test_a_server_that_never_answers(serve):
    server = serve("hang")
    answer = upload(server, "--timeout", "1", "--retries", "0", code=3)
    assert "SPAA-E464" in answer.err


# ---- what is not sent ----

def body(start=1711234567000, end=1711234577000, counts=None, **more):
    text = {"start": start, "end": end, "agentMetadata": {}, "callgraph": {"children": {
        "main": {"counts": {"RUNNABLE": 3}, "children": {"f": {"counts": counts or {"WAITING": 2}}}}}}, **more}
    return json.dumps({k: v for k, v in text.items() if v is not None})


NOW = 1000 * int(time.time())
YEAR_2015 = 1420070400000


def name(text):
    """Of a case: the bodies have the time of now in them, and several processes that share the tests must agree on names."""
    return "body" if text.startswith("{") else text


@pytest.mark.parametrize("text, words", [
    (body(start=YEAR_2015 - 1), "before 2015"), (body(start=0), "before 2015"), (body(start=-5, end=-1), "before 2015"),
    (body(start=1711234567), "before 2015"), # seconds
    (body(end=NOW + 3600000), "in the future"), (body(start=NOW + 3600000, end=NOW + 3660000), "in the future"),
    (body(end=10 ** 18), "in the future"),
    (body(start=1711234577000, end=1711234567000), "before it starts"), (body(start=None), "no start"), (body(end=None), "no end"),
    (body(start="2024-03-23T22:56:07Z"), "`start` is no number"),
    (body(counts={"WAITING": -2}), "-2 (WAITING of `f`)"), (body(counts={"WAITING": 5, "IDLE": -0.5}), "-0.5 (IDLE of `f`)"),
    (body(counts={"WAITING": -10 ** 30}), "a count of -1000"),
    (body(callgraph={}), "empty"), (body(callgraph={"children": {"main": {"counts": {"RUNNABLE": 0}}}}), "empty"),
    (body(callgraph={"children": {"main": {"counts": {}}}}), "empty")], ids=name)
def test_what_the_service_would_not_take_is_not_sent(serve, text, words):
    server = serve(DONE)
    for more in ((), ("--dry-run",), ("--host-type", "m5")):
        answer = upload(server, *more, stdin=text, code=3)
        assert words in answer.err and ("SPAA-E467" if "no number" in words else "SPAA-E466") in answer.err
        assert answer.out == ""
    error = parse(upload(server, "--json", stdin=text, code=3).out)["error"]
    assert error["code"] in ("SPAA-E466", "SPAA-E467") and words in error["message"]
    assert server.calls == 0


@pytest.mark.parametrize("text", [body(start=YEAR_2015, end=YEAR_2015), body(start=NOW - 60000, end=NOW), body(end=NOW + 60000),
                                  body(counts={"WAITING": 0}), body(counts={"WAITING": 0.5})], ids=name)
def test_what_the_service_takes_is_sent(serve, text):
    server = serve(DONE)
    upload(server, stdin=text)
    assert server.requests[0][3] == text.encode()


def test_a_start_makes_up_for_times_that_do_not_fit(serve):
    server = serve(DONE)
    for text in (body(start=0, end=10000), body(start=NOW + 10 ** 9, end=NOW + 10 ** 9 + 10000), "main;f 3\n"):
        answer = upload(server, stdin=text, code=3)
        assert "SPAA-E466" in answer.err and "--start MS" in answer.err
        upload(server, "--start", "1711234567000", stdin=text)
        sent = json.loads(server.requests[-1][3])
        assert sent["start"] == 1711234567000 and sent["end"] - sent["start"] == (0 if "main;f" in text else 10000)
    upload(server, "--start", "1711234567", stdin=text, code=3)
    assert server.calls == 3


def test_what_is_invalid_is_sent_by_force(serve):
    server = serve(DONE)
    text = body(counts={"WAITING": "3"})
    assert "SPAA-E467" in upload(server, stdin=text, code=3).err and server.calls == 0
    upload(server, "--force", stdin=text)
    assert server.requests[0][3] == text.encode()
    upload(server, "--start", "now", stdin="main;f 3\n")
    assert abs(json.loads(server.requests[1][3])["end"] / 1000 - time.time()) < 60


# ---- time ----

def watch(server, *more):
    """The lines of standard error, each with the time when it came, and the exit code."""
    p = subprocess.Popen([BIN, "upload", "codeguru", "-", "--group", "g", "--endpoint", server.url, *more], stdin=subprocess.PIPE,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                         env={k: v for k, v in {**os.environ, **environment()}.items() if v is not None})
    began = time.monotonic()
    p.stdin.write(PROFILE.encode())
    p.stdin.close()
    lines = [(time.monotonic() - began, line.decode()) for line in p.stderr]
    code = p.wait()
    p.stdout.close()
    p.stderr.close()
    return lines, code, time.monotonic() - began


def test_retries_are_told_when_they_happen(serve):
    server = serve(error(503, "InternalServerException", "one"), error(503, "InternalServerException", "two"), DONE)
    lines, code, took = watch(server, "--retry-delay", "700")
    told = [(at, line) for at, line in lines if "SPAA-W481" in line]
    assert code == 0 and len(told) == 2 and took > 2.1
    assert "try 1 of 5" in told[0][1] and "one" in told[0][1] and "again in 0.700 s" in told[0][1]
    assert told[0][0] < 0.7 and told[1][0] - told[0][0] > 0.6 and took - told[1][0] > 1.3
    # with the rest in JSON
    server = serve(error(503, "InternalServerException", "one"), DONE)
    answer = upload(server, "--json")
    assert [d["code"] for d in parse(answer.out)["diagnostics"]] == ["SPAA-W481"] and answer.err.count("SPAA-W481") == 1
    assert upload(serve((503, {}, b""), DONE), "--quiet").err == ""


@pytest.mark.parametrize("script, more", [
    (["hang"], ()), # no answer
    ([error(503, "X", "busy")], ("--retries", "20", "--retry-delay", "300")), # answers that ask for another try
    ([error(503, "X", "busy", **{"Retry-After": "15"})], ()),
    (["reset"], ("--retries", "20", "--retry-delay", "300")),
    (["drip"], ()), # an answer that does not end
])
def test_the_time_is_that_of_all(serve, script, more):
    server = serve(*script)
    lines, code, took = watch(server, "--timeout", "1", *more)
    assert code == 3 and took < 1.8
    assert any("--timeout SECONDS allows more" in line for _, line in lines)
    assert any(("the 1 s are over" in line or "after the 1 s of --timeout" in line) for _, line in lines)


def test_the_time_is_that_of_all_requests(serve):
    """The list after an upload has what is left."""
    server = serve(error(503, "X", "busy"), DONE, "hang")
    lines, code, took = watch(server, "--timeout", "2", "--retry-delay", "1000", "--verify")
    assert code == 3 and 1.5 < took < 2.8 and [m for m, _, _, _ in server.requests] == ["POST", "POST", "GET"]


def test_no_connection_in_time():
    """A port that accepts nothing: its queue is full."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        s.listen(0)
        others = []
        for _ in range(4):
            c = socket.socket()
            c.setblocking(False)
            c.connect_ex(s.getsockname())
            others.append(c)
        server = type("S", (), {"url": "http://127.0.0.1:%d" % s.getsockname()[1]})
        _, code, took = watch(server, "--timeout", "1", "--retries", "20", "--retry-delay", "1")
        for c in others:
            c.close()
    assert code == 3 and took < 1.8


def test_nobody_listens():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        url = "http://127.0.0.1:%d" % s.getsockname()[1]
        answer = run("upload", "codeguru", "-", "--group", "g", "--endpoint", url, "--retries", "1", "--retry-delay", "0",
                     stdin=PROFILE, env=environment(), code=3)
    assert "SPAA-E464" in answer.err and answer.err.count("SPAA-W481") == 1


def test_credentials_of_files(serve, tmp_path):
    (tmp_path / "cred").write_text("[default]\naws_access_key_id=no\naws_secret_access_key=no\n[work]\n"
                                   "aws_access_key_id = %s\naws_secret_access_key = %s\naws_session_token=%s\n" % (KEY, SECRET, TOKEN))
    (tmp_path / "conf").write_text("[profile work]\nregion = us-west-2\n")
    files = {"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": "", "AWS_DEFAULT_REGION": None, "AWS_PROFILE": "work",
             "AWS_SHARED_CREDENTIALS_FILE": str(tmp_path / "cred"), "AWS_CONFIG_FILE": str(tmp_path / "conf")}
    server = serve(DONE, region="us-west-2", token=TOKEN)
    upload(server, env=environment(**files))
    server = serve(DONE, region="eu-north-1", token=TOKEN)
    upload(server, "--region", "eu-north-1", env=environment(**files))
    # in the home directory
    home = tmp_path / "home" / ".aws"
    home.mkdir(parents=True)
    shutil.copy(tmp_path / "cred", home / "credentials")
    shutil.copy(tmp_path / "conf", home / "config")
    files.update(AWS_SHARED_CREDENTIALS_FILE=None, AWS_CONFIG_FILE=None, HOME=str(tmp_path / "home"))
    upload(serve(DONE, region="us-west-2", token=TOKEN), env=environment(**files))
    answer = upload(None, code=2, env=environment(**dict(files, AWS_PROFILE="wrok")))
    assert '"wrok"' in answer.err


def test_what_is_missing_is_named():
    env = environment(AWS_ACCESS_KEY_ID="")
    assert "SPAA-E461" in upload(None, code=3, env=env).err
    assert "SPAA-E462" in upload(None, code=2, env=environment(AWS_DEFAULT_REGION="")).err
    run("upload", "codeguru", "-", stdin=PROFILE, env=environment(), code=2)
    run("upload", "codeguru", "-", "--group", "a b", stdin=PROFILE, env=environment(), code=2)
    run("upload", "codeguru", "-", "--group", "g", "--profile-token", "a/b", stdin=PROFILE, env=environment(), code=2)
    run("upload", "codeguru", "-", "--group", "g", "--endpoint", "host", stdin=PROFILE, env=environment(), code=2)
    run("upload", "codeguru", "-", "--group", "g", "--region", "../x", stdin=PROFILE, env=environment(), code=2)
    run("upload", "codeguru", "--group", "g", env=environment(), code=2)
    run("upload", "codegru", "-", "--group", "g", env=environment(), code=2)
    upload(None, stdin="no profile", code=3)
    upload(None, stdin=PROFILE[:60], code=3)


def test_a_damaged_profile_is_not_sent_as_it_is(serve):
    server = serve(DONE)
    assert "SPAA-E468" in upload(server, stdin=PROFILE[:-3], code=3).err and server.calls == 0
    answer = upload(server, "--force", stdin=PROFILE[:-3])
    assert "SPAA-L301" in answer.err
    assert json.loads(server.requests[0][3])["callgraph"]["children"]["main"]["counts"] == {"RUNNABLE": 3}
    upload(server, "--strict", stdin=PROFILE[:-3], code=3)
    assert server.calls == 1


@pytest.mark.parametrize("was, now, code", [
    ('"durationInMs":10000', '"durationInMs":10000,"durationInMs":1', "E491"), ('"children":{', '"children":{"x":3,', "E467"),
    ('"start":1711234567000,', '', "E468"), ('"RUNNABLE":3}}}}', '"RUNNABLE":3}}}},"x":NaN', "E468")])
def test_what_validate_calls_an_error_is_not_sent(serve, was, now, code):
    server = serve(DONE)
    text = PROFILE.replace(was, now, 1)
    if not now: # garbage behind a good graph
        text = PROFILE[:-1] + ',"start":1711234567000 garbage}'
    for more in ((), ("--start", "1711234567000")):
        assert "SPAA-" + code in upload(server, *more, stdin=text, code=3).err
    assert server.calls == 0


@pytest.mark.parametrize("was, now", [
    ('"durationInMs":10000', '"durationInMs":1,"durationInMs":10000'), ('"agentMetadata":{', '"agentMetadata":{"agentInfo":{"type":"a","type":"b"},'),
    ('"agentMetadata":{', '"agentMetadata":{},"agentMetadata":{'), ('"counts":{', '"counts":{"RUNNABLE":5},"counts":{'), ('"end":', '"end":1711234579000,"end":'),
    ('"counts":{', '"counts":{"RUNNABLE":5,'), ('"counts":{', '"file":"a","file":"b","counts":{'), ('"counts":{', '"line":[1],"line":[2],"counts":{')])
def test_a_member_that_stands_twice_is_not_chosen_in_silence(serve, was, now):
    """Not by an option that has another body made, either; --force takes one."""
    server, text = serve(DONE, DONE), PROFILE.replace(was, now, 1)
    assert text != PROFILE
    for more in ((), ("--start", "1711234567000"), ("--agent-type", "x")):
        assert "SPAA-E491" in upload(server, *more, stdin=text, code=3).err
    assert server.calls == 0
    upload(server, "--start", "1711234567000", "--force", stdin=text)
    assert server.calls == 1


def test_times_of_ones_own_replace_wrong_ones(serve):
    """What is as long as its agent says."""
    ends = ('"end":1711234577000', '"end":"x"', '"end":null', '"end":1', '"x":1')
    server = serve(*[DONE] * len(ends))
    for n, end in enumerate(ends):
        upload(server, "--start", "1711234567000", stdin=PROFILE.replace(ends[0], end, 1))
        sent = json.loads(server.requests[n][3])
        assert sent["start"] == 1711234567000 and sent["end"] - sent["start"] == 10000


def test_children_that_stand_twice_are_sent_merged(serve):
    server = serve(DONE)
    text = PROFILE.replace('"children":{', '"children":{"x":{"counts":{"RUNNABLE":1}},"x":{"counts":{"RUNNABLE":2}},', 1)
    assert "SPAA-W475" in upload(server, stdin=text).err
    assert json.loads(server.requests[0][3])["callgraph"]["children"]["x"]["counts"] == {"RUNNABLE": 3}


def test_dry_run_sends_nothing_and_shows_no_secret(serve):
    server = serve(DONE)
    env = environment(AWS_SESSION_TOKEN=TOKEN)
    answer = upload(server, "--dry-run", "--profile-token", "t1", env=env)
    assert server.calls == 0 and KEY not in answer.out
    assert answer.out.startswith("POST %s/profilingGroups/my-group/agentProfile?profileToken=t1\n" % server.url)
    assert hashlib.sha256(PROFILE.encode()).hexdigest() in answer.out and "environment" in answer.out
    got = parse(upload(server, "--dry-run", "--json", env=env).out)
    assert got["sent"] is False and got["bytes"] == len(PROFILE) and got["headers"]["x-amz-security-token"] == "(left out)"
    upload(server, "--dry-run", env=environment(AWS_ACCESS_KEY_ID=""))


def test_verify_lists_the_last_hour(serve):
    pages = [(200, {}, json.dumps({"profileTimes": [{"start": "2026-01-01T00:0%d:00Z" % i}], "nextToken": "a/+ b" if i < 2 else None})
              .encode()) for i in range(3)]
    server = serve(*pages)
    answer = upload(server, "--verify", files=())
    assert [m for m, _, _, _ in server.requests] == ["GET"] * 3
    query = [urllib.parse.parse_qs(p.partition("?")[2]) for _, p, _, _ in server.requests]
    assert server.requests[0][1].startswith("/profilingGroups/my-group/profileTimes?")
    assert query[0]["period"] == ["PT5M"] and "nextToken" not in query[0] and query[1]["nextToken"] == ["a/+ b"]
    times = [datetime.datetime.strptime(query[0][k][0], "%Y-%m-%dT%H:%M:%SZ") for k in ("startTime", "endTime")]
    assert times[1] - times[0] == datetime.timedelta(hours=1)
    assert answer.out.splitlines()[0].startswith("3 profiles") and "2026-01-01T00:02:00Z" in answer.out
    server = serve(*pages)
    assert parse(upload(server, "--verify", "--json", files=()).out)["profile_times"] == ["2026-01-01T00:0%d:00Z" % i for i in range(3)]
    server = serve(DONE, (200, {}, b'{"profileTimes":[]}'))
    answer = upload(server, "--verify")
    assert [m for m, _, _, _ in server.requests] == ["POST", "GET"] and "0 profiles" in answer.out
    got = parse(upload(serve(DONE, pages[2]), "--verify", "--json").out)
    assert got["sent"] is True and got["profile_times"] == ["2026-01-01T00:02:00Z"]
    upload(serve((200, {}, b"<html>")), "--verify", files=(), code=3)
    upload(serve(error(403, "AccessDeniedException", "no")), "--verify", files=(), code=3)


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    """A certificate authority and a certificate of it for this machine."""
    if not shutil.which("openssl"):
        pytest.skip("no openssl")
    d = tmp_path_factory.mktemp("tls")

    def openssl(*args):
        subprocess.run(["openssl", *map(str, args)], check=True, capture_output=True)
    openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=test authority", "-keyout", d / "ca.key",
            "-out", d / "ca.pem")
    openssl("req", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=127.0.0.1", "-keyout", d / "key.pem", "-out", d / "csr.pem")
    (d / "ext").write_text("subjectAltName=IP:127.0.0.1\n")
    openssl("x509", "-req", "-in", d / "csr.pem", "-CA", d / "ca.pem", "-CAkey", d / "ca.key", "-CAcreateserial", "-days", "2",
            "-extfile", d / "ext", "-out", d / "cert.pem")
    return d


def test_tls(serve, authority):
    server = serve(DONE, tls=(authority / "cert.pem", authority / "key.pem"))
    upload(server, "--ca-file", authority / "ca.pem")
    assert server.calls == 1
    answer = upload(server, code=3)
    assert "SPAA-E464" in answer.err and "certificate" in answer.err and server.calls == 1
    upload(server, "--ca-file", "/nowhere.pem", code=3)


def test_the_signature_is_botocores(serve):
    """Against AWS's own library, where it is installed."""
    auth = pytest.importorskip("botocore.auth")
    from botocore.awsrequest import AWSRequest
    from botocore.credentials import Credentials
    server = serve(DONE, token=TOKEN)
    upload(server, env=environment(AWS_SESSION_TOKEN=TOKEN))
    _, path, headers, body = server.requests[0]
    request = AWSRequest("POST", server.url + path, data=body, headers={"content-type": "application/json"})
    signer = auth.SigV4Auth(Credentials(KEY, SECRET, TOKEN), "codeguru-profiler", "eu-west-1")
    request.context["timestamp"] = headers["x-amz-date"]
    request.headers["X-Amz-Date"] = headers["x-amz-date"]
    request.headers["X-Amz-Security-Token"] = TOKEN
    text = signer.string_to_sign(request, signer.canonical_request(request))
    assert headers["authorization"].endswith("Signature=" + signer.signature(text, request))


@pytest.mark.skipif(not shutil.which("ldd"), reason="needs ldd")
def test_nothing_but_an_upload_loads_libcurl():
    loaded = subprocess.run(["ldd", BIN], capture_output=True, text=True, check=True).stdout
    assert "libc" in loaded and "libcurl" not in loaded


@pytest.mark.parametrize("variable", ["http_proxy", "all_proxy", "ALL_PROXY"])
@pytest.mark.parametrize("proxy", ["http://user:SEPW/1@proxy.invalid", "http://user:SEPW@127.0.0.1:99999", "ftp://user:SEPW@127.0.0.1:9", "http://user:SE PW@127.0.0.1:9",
                                   "http://user:1#SEPW@127.0.0.1:9", "http://SEPW/1@127.0.0.1:9", "http://user:1?SEPW@127.0.0.1:9", "http://user:SEPW@[::1", "user:SEPW/@127.0.0.1:9"])
def test_the_password_of_a_proxy_is_not_said(proxy, variable):
    env = environment(**{"no_proxy": None, "http_proxy": None, variable: proxy})
    answer = run("upload", "codeguru", "-", "--group", "g", "--endpoint", "http://codeguru.invalid", "--retries", "1", "--retry-delay", "0",
                 stdin=PROFILE, env=env, code=3)
    for part in ("SEPW", "SE PW", "PW@"):
        assert part not in answer.out + answer.err
    assert "SPAA-E464" in answer.err


@pytest.mark.parametrize("variable", ["AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_CODEGURUPROFILER"])
@pytest.mark.parametrize("url, shown", [("https://user:SEPW@proxy.example/", "https://***@proxy.example/"), ("https://user:SE/PW@h", "https://***@h"), ("user:SEPW@h", "***@h")])
def test_an_address_with_a_password_is_refused_by_the_setting_that_gave_it(url, shown, variable):
    for more, env, name in (((), environment(**{variable: url}), variable + " needs"), (("--endpoint", url), environment(), "--endpoint needs")):
        answer = run("upload", "codeguru", "-", "--group", "g", *more, stdin=PROFILE, env=env, code=2)
        assert shown in answer.err and "PW" not in answer.err and name in answer.err
