"""
Where spaa upload finds credentials, against a stand-in on this machine that is STS, a container's agent, an
instance's metadata and CodeGuru at once; what it finds is compared with botocore's own search where that is installed.
"""

import contextlib
import datetime
import http.server
import json
import os
import re
import stat
import subprocess
import sys
import threading
import time
import urllib.parse

import pytest

from conftest import BIN, parse, run, unwrapped
from test_upload import PROFILE, environment, signature

ROLE = "arn:aws:iam::123456789012:role/profiler"
WEB_TOKEN = "eyJhbGciOi.WEB-identity-token.c2ln"
IMDS_TOKEN = "AQAEAImdsTOKEN=="
BASIC = "pod-identity-TOKEN"
SOON = (datetime.datetime.utcnow() + datetime.timedelta(hours=5)).strftime("%Y-%m-%dT%H:%M:%SZ")
PAST = "2020-01-01T00:00:00Z"


class Keys:
    def __init__(self, name):
        self.id, self.secret, self.token = "AKIA" + name.upper() + "0001", "Secret/of+" + name, "Token//" + name + "=="

    def json(self, token="Token", until=SOON, **more):
        d = {"AccessKeyId": self.id, "SecretAccessKey": self.secret, token: self.token, "Expiration": until, **more}
        return json.dumps({k: v for k, v in d.items() if v is not None}).encode()

    def xml(self, until=SOON):
        return ("<AssumeRoleWithWebIdentityResponse xmlns=\"https://sts.amazonaws.com/doc/2011-06-15/\">"
                "<AssumeRoleWithWebIdentityResult><AssumedRoleUser><Arn>arn:aws:sts::123456789012:assumed-role/profiler/s</Arn>"
                "<AssumedRoleId>AROA:s</AssumedRoleId></AssumedRoleUser><Credentials>"
                "<AccessKeyId>%s</AccessKeyId><SecretAccessKey>%s</SecretAccessKey><SessionToken>%s</SessionToken>"
                "<Expiration>%s</Expiration></Credentials></AssumeRoleWithWebIdentityResult>"
                "<ResponseMetadata><RequestId>1</RequestId></ResponseMetadata></AssumeRoleWithWebIdentityResponse>"
                % (self.id, self.secret, self.token, until)).encode()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def answer(self):
        server = self.server
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        headers = {k.lower(): v for k, v in self.headers.items()}
        server.requests.append((self.command, self.path, headers, body))
        step = server.routes.get(self.command + " " + self.path.partition("?")[0], (404, b""))
        step = step(headers, body) if callable(step) else step
        if step == "hang":
            server.stop.wait(20)
            self.close_connection = True
            return
        status, text, *more = step
        self.send_response(status)
        for k, v in (more[0] if more else {}).items():
            self.send_header(k, v)
        if status != 204:
            self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        with contextlib.suppress(OSError): # who has read enough goes
            self.wfile.write(text)

    do_GET = do_POST = do_PUT = answer


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True


@pytest.fixture
def host():
    server = Server(("127.0.0.1", 0), Handler)
    server.url = "http://127.0.0.1:%d" % server.server_address[1]
    server.requests, server.stop = [], threading.Event()
    server.routes = {"POST /profilingGroups/my-group/agentProfile": (204, b"")}
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    yield server
    server.stop.set()
    server.shutdown()
    server.server_close()


def bare(tmp_path, **more):
    """An environment without any source."""
    env = {k: v for k, v in environment().items() if not k.startswith("AWS_")}
    env.update({"AWS_DEFAULT_REGION": "eu-west-1", "AWS_EC2_METADATA_DISABLED": "true", "HOME": str(tmp_path),
                "AWS_CONFIG_FILE": str(tmp_path / "config"), "AWS_SHARED_CREDENTIALS_FILE": str(tmp_path / "credentials")})
    env.update({k: str(v) for k, v in more.items() if v is not None})
    return env


@pytest.fixture(autouse=True)
def without_aws(monkeypatch):
    for name in list(os.environ):
        if name.startswith("AWS_"):
            monkeypatch.delenv(name)


def secrets_of(*keys):
    return [s for k in keys for s in (k.secret, k.token)] + [WEB_TOKEN, IMDS_TOKEN, BASIC]


def upload(env, host, *more, code=0):
    return run("upload", "codeguru", "-", "--group", "my-group", "--endpoint", host.url, *more, stdin=PROFILE, env=env, code=code)


def botocores(env):
    """The keys that botocore finds, in a process of its own; None: it finds none or fails."""
    script = ("import botocore.session, json\n"
              "c = botocore.session.Session().get_credentials()\n"
              "f = c and c.get_frozen_credentials()\n"
              "print(json.dumps(c and [f.access_key, f.secret_key, f.token]))\n")
    done = subprocess.run([sys.executable, "-c", script], env={**os.environ, **env}, capture_output=True, text=True, timeout=60)
    return json.loads(done.stdout) if done.returncode == 0 else None


def botocore_version():
    try:
        import botocore
    except ImportError:
        return ()
    return tuple(int(n) for n in botocore.__version__.split(".")[:2])


def found(env, host, keys, source, since=(0,), token=True):
    """spaa signs with these keys, says which source they are of, keeps the secrets; botocore finds the same."""
    answer = upload(env, host, "--retry-delay", "1")
    assert "SPAA-E" not in answer.err
    method, path, headers, body = host.requests[-1]
    who = re.fullmatch(r"AWS4-HMAC-SHA256 Credential=([^/]+)/.+, SignedHeaders=([a-z0-9;-]+), Signature=([0-9a-f]{64})", headers["authorization"])
    key, signed, got = who.groups()
    assert key == keys.id and headers.get("x-amz-security-token") == (keys.token if token else None)
    path, _, query = path.partition("?")
    assert got == signature(method, path, query, headers, signed.split(";"), body, "eu-west-1", headers["x-amz-date"], secret=keys.secret)[1]
    shown = upload(env, host, "--dry-run")
    as_json = upload(env, host, "--dry-run", "--json")
    assert "credentials: " + source in shown.out and "access key ****************0001" in shown.out
    assert (parse(as_json.out)["credentials"], parse(as_json.out)["access_key"]) == (source, "****************0001")
    for text in (answer.out, answer.err, shown.out, shown.err, as_json.out, as_json.err):
        assert not any(s in text for s in [*secrets_of(keys), keys.id])
    if botocore_version() and botocore_version() >= since:
        assert botocores(env) == [keys.id, keys.secret, keys.token if token else None]


def refused(env, host, *words, code=3, secrets=()):
    answer = upload(env, host, code=code)
    for w in words:
        assert w in answer.err, answer.err
    for s in [*secrets, *secrets_of()]:
        assert s not in answer.err
    assert "SPAA-E461" in answer.err and not [r for r in host.requests if "profilingGroups" in r[1]]
    return answer


def files(tmp_path, credentials=None, config=None):
    for name, text in (("credentials", credentials), ("config", config)):
        if text:
            (tmp_path / name).write_text(text)


def pair(k, token=True):
    return "aws_access_key_id = %s\naws_secret_access_key = %s\n" % (k.id, k.secret) + ("aws_session_token = %s\n" % k.token if token else "")


def web(host, tmp_path, **more):
    (tmp_path / "web").write_text(WEB_TOKEN)
    return bare(tmp_path, AWS_WEB_IDENTITY_TOKEN_FILE=tmp_path / "web", AWS_ROLE_ARN=ROLE, AWS_ROLE_SESSION_NAME="pod-1",
                AWS_ENDPOINT_URL_STS=host.url, **more)


def instance(host, tmp_path, **more):
    return bare(tmp_path, **{"AWS_EC2_METADATA_DISABLED": "false", "AWS_EC2_METADATA_SERVICE_ENDPOINT": host.url, **more})


def metadata(host, keys, token=True, answer=None, role=b"my-role"):
    """Routes of an instance; with a token: version 2 alone."""
    def guarded(text):
        return lambda headers, body: (200, text) if not token or headers.get("x-aws-ec2-metadata-token") == IMDS_TOKEN else (401, b"")

    def put(headers, body):
        return (200, IMDS_TOKEN.encode()) if headers.get("x-aws-ec2-metadata-token-ttl-seconds") == "21600" else (400, b"")
    at = "GET /latest/meta-data/iam/security-credentials/"
    host.routes.update({at: guarded(role), at + "my-role": guarded(answer or keys.json(Code="Success"))})
    if token:
        host.routes["PUT /latest/api/token"] = put


# ---- each source ----

def test_environment(host, tmp_path):
    k = Keys("env")
    env = bare(tmp_path, AWS_ACCESS_KEY_ID=k.id, AWS_SECRET_ACCESS_KEY=k.secret)
    found(env, host, k, "environment", token=False)
    found({**env, "AWS_SESSION_TOKEN": k.token}, host, k, "environment")
    found({**env, "AWS_SESSION_TOKEN": "other", "AWS_SECURITY_TOKEN": k.token}, host, k, "environment")
    found({**env, "AWS_SESSION_TOKEN": k.token, "AWS_CREDENTIAL_EXPIRATION": SOON}, host, k, "environment")
    host.requests.clear()
    refused({**env, "AWS_CREDENTIAL_EXPIRATION": PAST}, host, "environment: its credentials expired: " + PAST)
    refused({**env, "AWS_SECRET_ACCESS_KEY": ""}, host, "environment: AWS_ACCESS_KEY_ID is there, AWS_SECRET_ACCESS_KEY is not")
    refused({**env, "AWS_SESSION_TOKEN": "a\nb: c"}, host, "environment: it has characters that no key has")


def test_files(host, tmp_path):
    a, b, c = Keys("cred"), Keys("conf"), Keys("work")
    files(tmp_path, "[default]\n" + pair(a), "[default]\n" + pair(b) + "[profile work]\n" + pair(c) + "[profile 'a b']\n" + pair(b, False))
    found(bare(tmp_path), host, a, "credentials file")
    found(bare(tmp_path, AWS_PROFILE="work"), host, c, "config file")
    found(bare(tmp_path, AWS_PROFILE="a b"), host, b, "config file", token=False)
    found(bare(tmp_path, AWS_DEFAULT_PROFILE="work", AWS_PROFILE="default"), host, c, "config file")
    files(tmp_path, "[default]\nregion = x\nAWS_ACCESS_KEY_ID: %s\naws_secret_access_key=%s\n  \n" % (a.id, a.secret))
    found(bare(tmp_path), host, a, "credentials file", token=False)
    host.requests.clear()
    files(tmp_path, "[default]\naws_access_key_id = x\n", "[default]\n" + pair(b))
    refused(bare(tmp_path), host, "credentials file: aws_access_key_id is there, aws_secret_access_key is not")
    assert not botocore_version() or botocores(bare(tmp_path)) is None
    refused(bare(tmp_path, AWS_PROFILE="gone"), host, 'there is no profile "gone"', code=2)


GOOD = "[default]\naws_access_key_id = AKIAFILE\naws_secret_access_key = secret\n"


@pytest.mark.parametrize("name", ["credentials", "config"])
@pytest.mark.parametrize("text, line, reason", [
    (b"\xef\xbb\xbf" + GOOD.encode(), 1, "byte order mark"), (GOOD.encode("utf-16"), 1, "UTF-16"), (GOOD.encode("utf-32"), 1, "UTF-32"), (GOOD.encode("utf-16-be"), 1, "UTF-16"),
    (GOOD.encode() + b"# caf\xe9\n", 4, "not UTF-8"), (GOOD[10:].encode(), 1, "before the first [section]"),
    (2 * GOOD.encode(), 4, "section is there twice"), (GOOD.encode() + b"\nAWS_secret_access_key = x\n", 5, "key is there twice"),
    (GOOD.encode() + b"[other]\nsecret\n", 5, "neither"), (GOOD.encode() + b"= secret\n", 4, "no key"), (b"[default\n" + GOOD[10:].encode(), 1, "no end"),
    (GOOD.encode().replace(b"_id = ", b"_id =\n  "), 3, "nested"), (GOOD.encode() + b"\r[default]", 5, "twice")])
def test_a_file_that_botocore_refuses_is_the_end(host, tmp_path, name, text, line, reason):
    """Whatever other source there is: one before it, one behind it."""
    (tmp_path / name).write_bytes(text)
    k, e = Keys("pod"), Keys("env")
    host.routes["GET /v2/credentials/x"] = (200, k.json())
    env = container(tmp_path, host)
    for more in ({}, {"AWS_ACCESS_KEY_ID": e.id, "AWS_SECRET_ACCESS_KEY": e.secret}):
        said = refused({**env, **more}, host, "%s file: " % name, "%s:%d: " % (tmp_path / name, line), secrets=["secret\n", *secrets_of(k, e)])
        assert reason in unwrapped(said.err) and not host.requests
        assert not botocore_version() or text.find(b"\0") == 0 or botocores({**env, **more}) is None


@pytest.mark.parametrize("blank", "\x1c \x1f \x85 \xa0 \u1680 \u2000 \u200a \u2028 \u2029 \u202f \u205f \u3000".split(" "))
def test_blanks_are_those_of_python(host, tmp_path, blank):
    k = Keys("file")
    host.routes["GET /v2/credentials/x"] = (200, Keys("pod").json())
    text = "{0}\n{0}# a comment\n[default]\n{0}aws_access_key_id{0}={0}%s{0}\naws_secret_access_key{0}= %s\n{0}\n# zero: \0\n" % (k.id, k.secret)
    (tmp_path / "credentials").write_bytes(text.format(blank).encode())
    found(container(tmp_path, host), host, k, "credentials file", token=False)


@pytest.mark.parametrize("text, reason", [(GOOD.replace("key_id", "\u212aey_id"), "Kelvin"), (GOOD.replace("AKIA", "AK\0"), "zero"),
                                          (GOOD + "services =\n  a = b\u2028c = d\n", "unusual end"), (GOOD.encode("utf-16-le").decode("latin-1"), "")])
def test_what_python_may_read_otherwise_is_the_end(host, tmp_path, text, reason):
    host.routes["GET /v2/credentials/x"] = (200, Keys("pod").json())
    (tmp_path / "credentials").write_bytes(text.encode())
    said = refused(container(tmp_path, host), host, "credentials file: ", reason)
    assert not host.requests and (not reason or "botocore refuses" not in said.err)


def test_settings_that_sections_share(host, tmp_path):
    """[DEFAULT] of configparser, and profiles of one name, of which the last counts."""
    a, b = Keys("cred"), Keys("conf")
    files(tmp_path, "[DEFAULT]\naws_secret_access_key = %s\n[default]\naws_access_key_id = %s\n" % (a.secret, a.id))
    found(bare(tmp_path), host, a, "credentials file", token=False)
    files(tmp_path, "[ default ]\n" + pair(a), "[default]\n" + pair(a) + "[profile 'default']\n" + pair(b))
    found(bare(tmp_path), host, b, "config file")
    files(tmp_path, "[x]\n", "[default]\n" + pair(b) + "[profile default]\nregion = eu-west-1\n")
    assert "none were found" in upload(bare(tmp_path), host, "--dry-run").out
    assert not botocore_version() or botocores(bare(tmp_path)) is None


@pytest.mark.parametrize("name", ["AWS_PROFILE", "AWS_DEFAULT_PROFILE"])
def test_a_profile_without_a_name_is_none(host, tmp_path, name):
    k = Keys("cred")
    files(tmp_path, "[default]\n" + pair(k) + "[work]\n" + pair(k))
    env = bare(tmp_path, **{"AWS_PROFILE": "work", name: ""})
    refused(env, host, name + " is set, and empty", code=2)
    assert not botocore_version() or botocores(env) is None


@pytest.mark.parametrize("path", ["$HOME/my keys", "${HOME}/my keys", "~/my keys", "$UNKNOWN/../my keys", "$HOME/${NAME}", "${HOME/my keys"])
def test_the_path_of_a_file_is_expanded(host, tmp_path, path):
    k = Keys("cred")
    (tmp_path / "my keys").write_text("[default]\n" + pair(k))
    if "UNKNOWN" in path or path == "${HOME/my keys":
        (tmp_path / path.split("/")[0]).mkdir()
        os.rename(tmp_path / "my keys", tmp_path / path)
        path = str(tmp_path / path)
    found(bare(tmp_path, AWS_SHARED_CREDENTIALS_FILE=path, NAME="my keys"), host, k, "credentials file")


def test_a_file_that_is_not_there_is_told_and_passed_over(host, tmp_path):
    """So does botocore, without a word."""
    k = Keys("pod")
    host.routes["GET /v2/credentials/x"] = (200, k.json())
    (tmp_path / ".aws").mkdir()
    (tmp_path / ".aws" / "credentials").write_text("[default]\n" + pair(Keys("cred")))
    for path, why in ((tmp_path / "none", "No such file"), (tmp_path, "no regular file"), ("/dev/zero", "no regular file"), ("", None)):
        env = {**container(tmp_path, host, AWS_SHARED_CREDENTIALS_FILE=path), "AWS_CONFIG_FILE": ""}
        found(env, host, k, "container")
        said = upload(env, host).err
        assert said.count("SPAA-W486") == (why is not None) and (why or "") in said
    # of the home directory's a missing one is usual, another cause is not
    del env["AWS_SHARED_CREDENTIALS_FILE"]
    (tmp_path / ".aws" / "credentials").unlink()
    assert "SPAA-W486" not in upload(env, host).err
    (tmp_path / ".aws" / "credentials").mkdir()
    assert "no regular file" in upload(env, host).err


def test_the_region_is_botocores(host, tmp_path):
    """AWS_REGION, which botocore does not read, counts last, and is told where it says something else."""
    k = Keys("env")
    keys = {"AWS_ACCESS_KEY_ID": k.id, "AWS_SECRET_ACCESS_KEY": k.secret}
    files(tmp_path, "[x]\n", "[default]\nregion = r-file\n")
    env = {**bare(tmp_path, **keys), "AWS_DEFAULT_REGION": "r-default", "AWS_REGION": "r-last"}

    def region(env):
        answer = upload(env, host, "--dry-run", "--json")
        codes = [d["code"] for d in parse(answer.out)["diagnostics"]]
        return parse(answer.out)["region"], "SPAA-W487" in codes
    assert region(env) == ("r-default", True)
    del env["AWS_DEFAULT_REGION"]
    assert region(env) == ("r-file", True)
    (tmp_path / "config").write_text("[default]\n")
    assert region(env) == ("r-last", False)
    assert parse(upload(env, host, "--dry-run", "--json", "--region", "r-given").out)["region"] == "r-given"


@pytest.mark.parametrize("text, fine", [
    ("2099-01-01T00:00:00Z", True), ("2099-01-01T00:00:00.5Z", True), ("20990101T000000Z", True), ("2099-01-01 00:00:00Z", True),
    ("2099-01-01T00:00Z", True), ("2099-01-01T00:00:00z", True), ("2099-01-01T00:00:00+0000", True), ("2099-01-01T00:00:00-07:30", True),
    ("2099-01-01T00:00:00+02", True), ("", True), ("2020-01-01T00:00:00Z", False), ("20200101T000000Z", False), ("2020-01-01 00:00Z", False), ("soon", False),
    ("2099-01-01T00:00:00+1", False), ("2099-01-01T00:00:00+1:00", False), ("2099-01-01T00:00:00Zx", False), ("2099-13-01T00:00:00Z", False)])
def test_times_in_the_forms_of_iso_8601(host, tmp_path, text, fine):
    env = bare(tmp_path, AWS_ACCESS_KEY_ID="AKIAX0001", AWS_SECRET_ACCESS_KEY="x", AWS_CREDENTIAL_EXPIRATION=text)
    assert "SPAA-E461" not in upload(env, host, "--dry-run", code=0).err if fine else "SPAA-E461" in upload(env, host, "--dry-run", code=3).err


def test_a_time_east_of_utc(host, tmp_path):
    """In two hours on a clock that is five hours ahead: it is over."""
    soon = datetime.datetime.utcnow() + datetime.timedelta(hours=2)
    for zone, code in (("+05:00", 3), ("+0500", 3), ("+05", 3), ("-05:00", 0), ("Z", 0)):
        upload(bare(tmp_path, AWS_ACCESS_KEY_ID="AKIAX0001", AWS_SECRET_ACCESS_KEY="x", AWS_CREDENTIAL_EXPIRATION=soon.strftime("%Y-%m-%dT%H:%M:%S") + zone),
               host, "--dry-run", code=code)


@pytest.mark.parametrize("env, config, used", [
    ({"AWS_DEFAULT_REGION": ""}, "region = r-file", "AWS_DEFAULT_REGION is set, and empty"),
    ({"AWS_DEFAULT_REGION": "", "AWS_REGION": "r-last"}, "", "AWS_DEFAULT_REGION is set, and empty"),
    ({}, "region =", "the profile's region is set, and empty"), ({"AWS_REGION": "r-last"}, "region =", "the profile's region is set, and empty"),
    ({"AWS_REGION": ""}, "region = r-file", "r-file"), ({"AWS_REGION": ""}, "", "SPAA-E462"), ({"AWS_DEFAULT_REGION": "r-1", "AWS_REGION": ""}, "region =", "r-1"),
    ({"AWS_DEFAULT_REGION": " "}, "region = r-file", 'no region " "'), ({"AWS_DEFAULT_REGION": "eu_west"}, "", 'no region "eu_west"'),
    ({"AWS_DEFAULT_REGION": "-a"}, "", 'no region "-a"'), ({"AWS_DEFAULT_REGION": "12"}, "", 'no region "12"')])
def test_a_region_that_is_set_to_nothing_is_not_passed_over(host, tmp_path, env, config, used):
    """botocore makes no client then (1.44: "Invalid endpoint: https://codeguru-profiler..amazonaws.com"); AWS_REGION it does not read."""
    k = Keys("env")
    files(tmp_path, "", "[default]\n" + config + "\n")
    env = {**bare(tmp_path, AWS_ACCESS_KEY_ID=k.id, AWS_SECRET_ACCESS_KEY=k.secret), "AWS_DEFAULT_REGION": None, **env}
    env = {name: value for name, value in env.items() if value is not None}
    if used.startswith("r-"):
        assert parse(upload(env, host, "--dry-run", "--json").out)["region"] == used
    else:
        assert used in upload(env, host, "--dry-run", code=2).err
        assert parse(upload(env, host, "--dry-run", "--json", "--region", "r-given").out)["region"] == "r-given"


def test_web_identity(host, tmp_path):
    k = Keys("web")
    host.routes["POST /"] = (200, k.xml())
    env = web(host, tmp_path)
    found(env, host, k, "web identity", since=(1, 31))
    method, path, headers, body = next(r for r in host.requests if r[1] == "/")
    assert "authorization" not in headers
    assert urllib.parse.parse_qs(body.decode()) == {"Action": ["AssumeRoleWithWebIdentity"], "Version": ["2011-06-15"], "RoleArn": [ROLE],
                                                    "RoleSessionName": ["pod-1"], "WebIdentityToken": [WEB_TOKEN]}
    # of a profile; before the keys of a file, behind those of the environment
    files(tmp_path, "[default]\n" + pair(Keys("cred")), "[default]\nrole_arn = %s\nweb_identity_token_file = %s\n" % (ROLE, tmp_path / "web"))
    env = bare(tmp_path, AWS_ENDPOINT_URL=host.url)
    found(env, host, k, "web identity", since=(1, 31))
    assert re.fullmatch(r"spaa-\d+", urllib.parse.parse_qs(next(r[3] for r in host.requests[::-1] if r[1] == "/" and b"spaa-" in r[3]).decode())["RoleSessionName"][0])
    e = Keys("env")
    found({**env, "AWS_ACCESS_KEY_ID": e.id, "AWS_SECRET_ACCESS_KEY": e.secret}, host, e, "environment", token=False)


@pytest.mark.parametrize("section", ["endpoint_url = URL\n", "services = here\n[services here]\nsts =\n  endpoint_url = URL\n"])
def test_the_address_of_sts_in_a_profile(host, tmp_path, section):
    k = Keys("web")
    host.routes["POST /"] = (200, k.xml())
    files(tmp_path, None, "[default]\n" + section.replace("URL", host.url))
    env = web(host, tmp_path)
    del env["AWS_ENDPOINT_URL_STS"]
    found(env, host, k, "web identity", since=(1, 31))


def test_web_identity_fails(host, tmp_path):
    env = web(host, tmp_path)
    host.routes["POST /"] = (400, b"<ErrorResponse><Error><Type>Sender</Type><Code>InvalidIdentityToken</Code><Message>bad &amp; old "
                             + WEB_TOKEN.encode() + b"</Message></Error></ErrorResponse>")
    refused(env, host, "web identity: STS: InvalidIdentityToken: bad & old *** (HTTP 400)")
    for answer, words in (((200, Keys("web").xml(PAST)), "its credentials expired"), ((200, b"{}"), "no AccessKeyId"),
                          ((200, Keys("web").xml().replace(b"SessionToken", b"X")), "no SessionToken"),
                          ((302, b"", {"Location": host.url + "/x"}), "(HTTP 302)"), ((200, b"x" * 200000), "more than 64 KiB")):
        host.routes["POST /"] = answer
        refused(env, host, "web identity", words, secrets=secrets_of(Keys("web")))
    refused({**env, "AWS_ROLE_ARN": ""}, host, "web identity: there is no role")
    (tmp_path / "web").unlink()
    refused(env, host, "web identity: ", "web: No such file")


def container(tmp_path, host, **more):
    return bare(tmp_path, AWS_CONTAINER_CREDENTIALS_FULL_URI=host.url + "/v2/credentials/x", **more)


def test_container(host, tmp_path):
    k = Keys("pod")
    host.routes["GET /v2/credentials/x"] = lambda headers, body: (200, k.json()) if headers.get("authorization") == BASIC else (401, b"no")
    found(container(tmp_path, host, AWS_CONTAINER_AUTHORIZATION_TOKEN=BASIC), host, k, "container")
    (tmp_path / "token").write_text(BASIC)
    found(container(tmp_path, host, AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE=tmp_path / "token", AWS_CONTAINER_AUTHORIZATION_TOKEN="old"), host, k,
          "container", since=(1, 31))
    f = Keys("cred")
    files(tmp_path, "[default]\n" + pair(f))
    found(container(tmp_path, host), host, f, "credentials file")


@pytest.mark.parametrize("url, asked", [
    ("http://example.com/x", False), ("http://10.0.0.1/", False), ("http://169.254.169.254/x", False), ("http://127.0.0.1.example.com/", False),
    ("http://127.0.0.1@example.com/", False), ("ftp://127.0.0.1/", False), ("file:///etc/passwd", False), ("no url", False),
    ("http://localhost.example.com/", False), ("http://[fd00:ec2::24]/", False)])
def test_hosts_that_may_not_be_asked(host, tmp_path, url, asked):
    refused(bare(tmp_path, AWS_CONTAINER_CREDENTIALS_FULL_URI=url, AWS_CONTAINER_AUTHORIZATION_TOKEN=BASIC), host, "container: ")
    if botocore_version():
        assert botocores(bare(tmp_path, AWS_CONTAINER_CREDENTIALS_FULL_URI=url)) is None


def test_container_answers_as_python_reads_them(host, tmp_path):
    k, at = Keys("pod"), "GET /v2/credentials/x"
    host.routes[at] = (200, b'{"AccessKeyId": "AKIAOTHER", "SecretAccessKey": 1, "Token": null, ' + k.json()[1:])
    found(container(tmp_path, host), host, k, "container")
    host.routes[at] = (200, json.dumps({**json.loads(k.json()), "Token": None}).encode())
    found(container(tmp_path, host), host, k, "container", token=False)
    host.routes[at] = (200, k.json())
    (tmp_path / "token").write_text("")
    found(container(tmp_path, host, AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE=tmp_path / "token"), host, k, "container")
    env = bare(tmp_path, AWS_ACCESS_KEY_ID=k.id, AWS_SECRET_ACCESS_KEY=k.secret)
    found({**env, "AWS_CREDENTIAL_EXPIRATION": "Fri, 31 Dec 2100 12:00:00 GMT"}, host, k, "environment", token=False)
    host.requests.clear()
    refused({**env, "AWS_CREDENTIAL_EXPIRATION": "Fri, 31 Jan 2020 12:00:00 GMT"}, host, "expired: 2020-01-31T12:00:00Z")


@pytest.mark.parametrize("variable", ["FULL_URI", "RELATIVE_URI"])
def test_a_container_without_an_address_is_one(host, tmp_path, variable):
    """The instance's keys are other keys; a relative address goes before a full one, even an empty one."""
    metadata(host, Keys("inst"))
    env = instance(host, tmp_path, AWS_CONTAINER_CREDENTIALS_FULL_URI=host.url + "/v2/credentials/x")
    refused({**env, "AWS_CONTAINER_CREDENTIALS_" + variable: ""}, host, "container: ", variable if variable == "FULL_URI" else "169.254.170.2")
    assert not host.requests


def test_container_fails(host, tmp_path):
    k = Keys("pod")
    at = "GET /v2/credentials/x"
    for answer, words in (((200, k.json(until=PAST)), "its credentials expired"), ((200, b"<html>"), "no JSON object"),
                          ((200, k.json(until="soon")), "its Expiration is no time"), ((200, k.json()[:-1]), "no JSON object"),
                          ((200, k.json(until=None)), "no Expiration"), ((200, k.json(token="X")), "no Token"),
                          ((200, json.dumps({"AccessKeyId": 1}).encode()), "no AccessKeyId"),
                          ((200, b"[" * 100000), "more than 64 KiB"), ((200, k.json(x="y" * 70000)), "more than 64 KiB")):
        host.routes[at] = answer
        refused(container(tmp_path, host), host, "container", words, secrets=secrets_of(k))
    host.requests.clear()
    host.routes[at] = (302, b"", {"Location": host.url + "/y"})
    refused(container(tmp_path, host), host, "container: 127.0.0.1 answered with HTTP 302")
    assert [p for _, p, _, _ in host.requests] == ["/v2/credentials/x"] * 3 # as often as botocore
    refused(container(tmp_path, host, AWS_CONTAINER_AUTHORIZATION_TOKEN="a\r\nb: c"), host, "no header may have")
    (tmp_path / "token").write_text(BASIC + "\n")
    refused(container(tmp_path, host, AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE=tmp_path / "token"), host, "no header may have")
    for path in (tmp_path / "none", ""):
        refused(container(tmp_path, host, AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE=path, AWS_CONTAINER_AUTHORIZATION_TOKEN=BASIC), host, "container: ", "No such file")


@pytest.mark.parametrize("version", [2, 1])
def test_instance(host, tmp_path, version):
    k = Keys("ec2")
    metadata(host, k, token=version == 2)
    found(instance(host, tmp_path), host, k, "instance metadata")
    shown = upload(instance(host, tmp_path, AWS_EC2_METADATA_SERVICE_ENDPOINT=host.url + "/"), host, "--dry-run")
    assert "instance metadata (role my-role)" in shown.out
    assert "none were found" in upload(instance(host, tmp_path, AWS_EC2_METADATA_DISABLED="TRUE"), host, "--dry-run").out
    host.requests.clear()
    if version == 1:
        refused(instance(host, tmp_path, AWS_EC2_METADATA_V1_DISABLED="true"), host, "instance metadata: the service gives no token")
        assert [m for m, _, _, _ in host.requests] == ["PUT"]
    files(tmp_path, None, "[default]\nec2_metadata_service_endpoint = %s\n" % host.url)
    found(bare(tmp_path, AWS_EC2_METADATA_DISABLED="false"), host, k, "instance metadata")


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_a_role_with_the_end_of_its_line(host, tmp_path, end):
    k = Keys("ec2")
    metadata(host, k, role=b"my-role" + end)
    found(instance(host, tmp_path), host, k, "instance metadata")


def test_instance_behind_a_proxy(host, tmp_path):
    """Whatever the environment says of proxies: they would answer with their own keys."""
    k = Keys("ec2")
    metadata(host, k)
    env = {**instance(host, tmp_path), "http_proxy": "http://127.0.0.1:9", "no_proxy": ""}
    assert "instance metadata" in upload(env, host, "--dry-run").out


def test_an_instance_whose_keys_are_late(host, tmp_path):
    """botocore extends their time, and uses them."""
    k = Keys("ec2")
    metadata(host, k, answer=k.json(until=PAST))
    answer = upload(instance(host, tmp_path), host)
    assert "SPAA-W482" in answer.err and host.requests[-1][2]["authorization"].startswith("AWS4-HMAC-SHA256 Credential=" + k.id)
    if botocore_version():
        assert botocores(instance(host, tmp_path))[0] == k.id


def test_instance_fails(host, tmp_path):
    k = Keys("ec2")
    error = json.dumps({"Code": "AssumeRoleUnauthorizedAccess", "Message": "EC2 cannot assume the role"}).encode()
    for answer, words in ((error, "no AccessKeyId: AssumeRoleUnauthorizedAccess: EC2 cannot assume"), (b"<html>", "no credentials for it|no JSON"),
                          (k.json(until=None), "no Expiration"), (b"x" * 200000, "no credentials for it")):
        metadata(host, k, answer=answer)
        said = refused(instance(host, tmp_path), host, "instance metadata: ", secrets=secrets_of(k))
        assert re.search(words, said.err)
    for role in (b"../../../secret", b"my-role\nother", b"\n"):
        metadata(host, k, role=role)
        assert not botocore_version() or botocores(instance(host, tmp_path)) is None
        refused(instance(host, tmp_path), host, "instance metadata: the answer is no name of a role")
    host.routes["GET /latest/meta-data/iam/security-credentials/"] = (404, b"") # an instance without a role
    refused(instance(host, tmp_path), host, "no AWS credentials")
    host.requests.clear()
    host.routes["PUT /latest/api/token"] = (400, b"")
    refused(instance(host, tmp_path), host, "no AWS credentials")
    assert len(host.requests) == 1
    for more in ({"AWS_METADATA_SERVICE_TIMEOUT": "x"}, {"AWS_METADATA_SERVICE_TIMEOUT": ""}, {"AWS_METADATA_SERVICE_NUM_ATTEMPTS": "0"}, {"AWS_EC2_METADATA_SERVICE_ENDPOINT": "x"},
                 {"AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE": "ipv5"}):
        assert next(iter(more)) in upload(instance(host, tmp_path, **more), host, code=2).err


def test_an_instance_that_does_not_answer(host, tmp_path):
    host.routes["PUT /latest/api/token"] = "hang" # as where it is a hop too far: version 1 is tried
    host.requests.clear()
    k = Keys("ec2")
    metadata(host, k, token=False)
    assert "instance metadata" in upload(instance(host, tmp_path, AWS_METADATA_SERVICE_TIMEOUT="1"), host, "--dry-run").out
    refused(instance(host, tmp_path, AWS_EC2_METADATA_SERVICE_ENDPOINT="http://127.0.0.1:9"), host, "no AWS credentials")


# ---- what the aws command follows ----

def command(tmp_path, script):
    at = tmp_path / "bin" / "aws"
    at.parent.mkdir(exist_ok=True)
    at.write_text("#!/bin/sh\n" + script)
    at.chmod(at.stat().st_mode | stat.S_IXUSR)
    return "%s:/usr/bin:/bin" % at.parent


PROFILES = {"role_arn": "role_arn = %s\nsource_profile = base\n" % ROLE, "sso_role_name": "sso_session = s\nsso_account_id = 1\nsso_role_name = r\n",
            "credential_process": "credential_process = /bin/false\n", "login_session": "login_session = arn:x\n"}


@pytest.mark.parametrize("setting", PROFILES)
def test_the_aws_command(host, tmp_path, setting):
    k = Keys("cli")
    files(tmp_path, None, "[profile p]\n" + PROFILES[setting] + "[profile base]\n" + pair(Keys("base")))
    env = bare(tmp_path, AWS_PROFILE="p")
    (tmp_path / "answer").write_bytes(k.json("SessionToken", SOON.replace("Z", "+00:00"), Version=1))
    env["PATH"] = command(tmp_path, 'printf "%%s\\n" "$*" > %s/args; cat %s/answer\n' % (tmp_path, tmp_path))
    answer = upload(env, host)
    assert host.requests[-1][2]["x-amz-security-token"] == k.token and k.secret not in answer.out + answer.err
    assert (tmp_path / "args").read_text() == "configure export-credentials --profile=p --format process\n"
    assert "credentials: aws command (%s), access key ****************0001" % setting in upload(env, host, "--dry-run").out
    host.requests.clear()
    env["PATH"] = "/nowhere"
    refused(env, host, "aws command: ", setting, "`aws` is not installed")
    for how, end in (("exit 255", "exit status 255"), ("kill -9 $$", "signal 9")):
        env["PATH"] = command(tmp_path, "echo first >&2; echo '%s' >&2; echo '%s'; %s\n" % (k.secret, k.secret, how))
        said = refused(env, host, "aws command: it failed with %s (for the profile's %s)" % (end, setting), "`aws configure export-credentials --profile p` shows why")
        assert k.secret not in said.out + said.err and "first" not in said.err
        assert ("`aws sso login --profile p`" in unwrapped(said.err)) == (setting == "sso_role_name")
    env["PATH"] = command(tmp_path, "echo 'aws: error: argument subcommand: Invalid choice, valid choices are:' >&2; echo 'set | add-model' >&2; exit 2\n")
    refused(env, host, "aws command: this `aws` has no `configure export-credentials`", "version 2")
    env["PATH"] = command(tmp_path, "cat /dev/zero\n")
    refused(env, host, "aws command: it wrote more than 64 KiB")
    env["PATH"] = command(tmp_path, "echo no\n")
    refused(env, host, "aws command: the answer is no JSON object")
    env["PATH"] = command(tmp_path, "echo '%s'\n" % json.dumps({"Code": "x", "Message": k.secret}))
    assert k.secret not in refused(env, host, "aws command: the answer has no AccessKeyId").err


def test_a_role_goes_before_keys_and_needs_a_source(host, tmp_path):
    k = Keys("cli")
    files(tmp_path, "[p]\n" + pair(Keys("cred")), "[profile p]\nrole_arn = %s\nsource_profile = p\n" % ROLE)
    (tmp_path / "answer").write_bytes(k.json("SessionToken"))
    env = {**bare(tmp_path, AWS_PROFILE="p"), "PATH": command(tmp_path, "cat %s/answer\n" % tmp_path)}
    assert "aws command (role_arn)" in upload(env, host, "--dry-run").out
    files(tmp_path, None, "[profile p]\nrole_arn = %s\n" % ROLE)
    refused(env, host, "role_arn: the profile \"p\" has no source_profile and no credential_source")
    assert not botocore_version() or botocores(env) is None
    # keys of the credentials file go before a command of the profile, those of the config file behind it
    files(tmp_path, None, "[profile p]\ncredential_process = x\n")
    assert "credentials file" in upload(env, host, "--dry-run").out
    files(tmp_path, "[q]\nregion = x\n", "[profile p]\ncredential_process = x\n" + pair(Keys("conf")))
    assert "aws command (credential_process)" in upload(env, host, "--dry-run").out


# ---- all of them ----

def test_no_secret_in_the_arguments_of_a_process(host, tmp_path):
    """Nor in those of the command that it starts."""
    k = Keys("cli")
    files(tmp_path, None, "[default]\nsso_account_id = 1\n")
    script = "cat /proc/$$/cmdline /proc/$PPID/cmdline | tr '\\0' ' ' > %s/seen; cat %s/answer\n" % (tmp_path, tmp_path)
    (tmp_path / "answer").write_bytes(k.json("SessionToken"))
    host.routes["POST /profilingGroups/my-group/agentProfile"] = "hang"
    p = subprocess.Popen([BIN, "upload", "codeguru", "-", "--group", "my-group", "--endpoint", host.url, "--timeout", "30"], stdin=subprocess.PIPE,
                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**os.environ, **bare(tmp_path), "PATH": command(tmp_path, script)})
    p.stdin.write(PROFILE.encode())
    p.stdin.close()
    for _ in range(1000):
        if host.requests:
            break
        time.sleep(0.01)
    with open("/proc/%d/cmdline" % p.pid, "rb") as f:
        line = f.read().decode()
    p.kill()
    p.wait()
    line += (tmp_path / "seen").read_text()
    assert "upload" in line and "export-credentials" in line and not any(s in line for s in [*secrets_of(k), k.id])


def test_the_order(host, tmp_path):
    """All sources at once, then without the first, and so on."""
    env_keys, web_keys, pod, ec2, cred, conf = (Keys(n) for n in ("env", "web", "pod", "ec2", "cred", "conf"))
    host.routes["POST /"] = (200, web_keys.xml())
    host.routes["GET /v2/credentials/x"] = (200, pod.json())
    metadata(host, ec2)
    files(tmp_path, "[default]\n" + pair(cred), "[default]\n" + pair(conf))
    env = {**web(host, tmp_path), **instance(host, tmp_path), **container(tmp_path, host), "AWS_EC2_METADATA_DISABLED": "false",
           "AWS_EC2_METADATA_SERVICE_ENDPOINT": host.url, "AWS_WEB_IDENTITY_TOKEN_FILE": str(tmp_path / "web"),
           "AWS_ACCESS_KEY_ID": env_keys.id, "AWS_SECRET_ACCESS_KEY": env_keys.secret, "AWS_SESSION_TOKEN": env_keys.token}
    found(env, host, env_keys, "environment")
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"):
        del env[name]
    found(env, host, web_keys, "web identity", since=(1, 31))
    del env["AWS_WEB_IDENTITY_TOKEN_FILE"]
    found(env, host, cred, "credentials file")
    (tmp_path / "credentials").unlink()
    del env["AWS_SHARED_CREDENTIALS_FILE"]
    found(env, host, conf, "config file")
    (tmp_path / "config").unlink()
    del env["AWS_CONFIG_FILE"]
    found(env, host, pod, "container")
    del env["AWS_CONTAINER_CREDENTIALS_FULL_URI"]
    found(env, host, ec2, "instance metadata")


def test_the_service_has_the_address_that_the_environment_gives(host, tmp_path):
    k = Keys("env")
    env = bare(tmp_path, AWS_ACCESS_KEY_ID=k.id, AWS_SECRET_ACCESS_KEY=k.secret, AWS_ENDPOINT_URL_CODEGURUPROFILER=host.url)
    run("upload", "codeguru", "-", "--group", "my-group", stdin=PROFILE, env=env)
    assert len(host.requests) == 1
    env.update(AWS_IGNORE_CONFIGURED_ENDPOINT_URLS="true")
    assert "codeguru-profiler.eu-west-1.amazonaws.com" in run("upload", "codeguru", "-", "--group", "my-group", "--dry-run", stdin=PROFILE, env=env).out


SERVICES = "[default]\nservices = s\nendpoint_url = http://profile\n[services s]\n"


@pytest.mark.parametrize("config, env, want", [
    ("[default]\nuse_fips_endpoint = True\n", {}, "https://codeguru-profiler-fips.eu-west-1.amazonaws.com"),
    ("[default]\nuse_fips_endpoint = true\n", {"AWS_USE_FIPS_ENDPOINT": ""}, "https://codeguru-profiler.eu-west-1.amazonaws.com"),
    ("[default]\nuse_dualstack_endpoint = true\n", {"AWS_USE_FIPS_ENDPOINT": "true"}, "https://codeguru-profiler-fips.eu-west-1.api.aws"),
    ("[default]\nuse_dualstack_endpoint = yes\n", {}, "https://codeguru-profiler.eu-west-1.amazonaws.com"),
    ("", {"AWS_DEFAULT_REGION": "fips-us-gov-west-1"}, "https://codeguru-profiler-fips.us-gov-west-1.amazonaws.com"),
    ("[default]\nuse_fips_endpoint = true\nendpoint_url = http://profile/p/\n", {}, "http://profile/p"),
    (SERVICES + "codeguruprofiler =\n  endpoint_url = http://service\n", {}, "http://service"),
    (SERVICES + "codeguruprofiler =\n  endpoint_url =\n", {}, "http://profile"),
    (SERVICES + "s3 =\n  x = 1\n", {}, "http://profile"),
    (SERVICES + "[DEFAULT]\nx = 1\n", {}, "http://profile"),
    (SERVICES, {"AWS_ENDPOINT_URL": "http://env"}, "http://env"),
    (SERVICES, {"AWS_IGNORE_CONFIGURED_ENDPOINT_URLS": "True"}, "https://codeguru-profiler.eu-west-1.amazonaws.com"),
    (SERVICES + "codeguruprofiler =\n  endpoint_url = http://service\nignore_configured_endpoint_urls = true\n", {}, "http://service"),
    ("[default]\nendpoint_url = http://p\nignore_configured_endpoint_urls = true\n", {"AWS_IGNORE_CONFIGURED_ENDPOINT_URLS": ""}, "http://p"),
    (SERVICES, {}, "nothing in [services s]"), ("[default]\nservices = none\n", {}, "nothing in [services none]"),
    ("[default]\nservices =\n", {}, "nothing in [services ]"), (SERVICES + "codeguruprofiler = x\n", {}, "has no settings of the service"),
    ("[default]\nuse_dualstack_endpoint = true\nregion = us-isof-south-1\n", {"AWS_DEFAULT_REGION": None}, "of aws-iso-f none is known")])
def test_the_address_is_botocores(host, tmp_path, config, env, want):
    """FIPS, dual stack and sections of services: what botocore 1.44 sends the request to, or stops at."""
    k = Keys("env")
    files(tmp_path, None, config)
    env = {k: v for k, v in {**bare(tmp_path, AWS_ACCESS_KEY_ID=k.id, AWS_SECRET_ACCESS_KEY=k.secret), **env}.items() if v is not None}
    fine = want.startswith("http")
    answer = run("upload", "codeguru", "-", "--group", "my-group", "--dry-run", stdin=PROFILE, env=env, code=0 if fine else 2)
    if fine:
        assert "POST %s/profilingGroups/my-group/agentProfile?" % want in answer.out
    else:
        assert want in unwrapped(answer.err)
    given = run("upload", "codeguru", "-", "--group", "my-group", "--dry-run", "--endpoint", "http://given", stdin=PROFILE, env=env)
    assert "POST http://given/profilingGroups" in given.out


def test_no_password_of_an_address_is_said(host, tmp_path):
    for more in ({"AWS_EC2_METADATA_SERVICE_ENDPOINT": "http://user:SEPW@127.0.0.1/"}, {"AWS_EC2_METADATA_SERVICE_ENDPOINT": "user:SE/PW@127.0.0.1/"}):
        said = upload(instance(host, tmp_path, **more), host, code=2).err
        assert "PW" not in said and "***@127.0.0.1/" in said
    env = web(host, tmp_path)
    env["AWS_ENDPOINT_URL_STS"] = "https://user:SEPW@sts.example"
    said = refused(env, host, "web identity: ").err
    assert "PW" not in said and "AWS_ENDPOINT_URL_STS" in said and "https://***@sts.example" in said
    env = {**web(host, tmp_path), "AWS_ENDPOINT_URL_STS": "http://sts.invalid", "http_proxy": "http://user:SEPW/1@127.0.0.1:9", "no_proxy": ""}
    said = refused(env, host, "web identity: ").err
    assert "PW" not in said and "http_proxy is no proxy" in said
