"""A client of `spaa mcp`: messages as lines, in both forms of the protocol."""

import json
import os
import queue
import select
import subprocess
import threading

import pytest

import profiles
from conftest import BIN, SANITIZERS

MODERN, LEGACY = "2026-07-28", "2025-11-25"
KEY = "io.modelcontextprotocol/"
META = {KEY + "protocolVersion": MODERN, KEY + "clientCapabilities": {}}


class Server:
    """A running server. Reads in a thread, so that nothing blocks."""

    def __init__(self, *args, cwd=None, modern=True, env=None):
        self.modern, self.last, self.kept = modern, 0, []
        to, self.to = os.pipe()
        self.got, got = os.pipe()
        self.p = subprocess.Popen([BIN, "mcp", *map(str, args)], stdin=to, stdout=got, stderr=subprocess.PIPE, cwd=cwd,
                                  env={**os.environ, **SANITIZERS, **(env or {})})
        os.close(to)
        os.close(got)
        self.lines, self.errors, self.closed = queue.Queue(), [], False
        for target in (self.pump_lines, self.pump_errors):
            threading.Thread(target=target, daemon=True).start()

    def pump_lines(self):
        text = b""
        while not self.closed:
            if not select.select([self.got], [], [], 0.05)[0]:
                continue
            more = os.read(self.got, 1 << 16)
            *lines, text = (text + more).split(b"\n")
            for line in lines:
                self.lines.put(line + b"\n")
            if not more:
                break
        if text:
            self.lines.put(text)
        self.lines.put(None)
        os.close(self.got)

    def pump_errors(self):
        for line in self.p.stderr:
            self.errors.append(line)

    def close(self):
        """Both ends, as of a client that was killed."""
        self.closed = True
        self.hang_up()

    def hang_up(self):
        if self.to is not None:
            os.close(self.to)
        self.to = None

    def __enter__(self):
        return self

    def __exit__(self, *failed):
        if failed[0]:
            self.p.kill()
        self.end()

    def end(self):
        """Closes its input; it ends, and has said nothing that is no protocol."""
        self.hang_up()
        code = self.p.wait(timeout=60)
        said = b"".join(self.errors)
        assert b"Sanitizer" not in said and b"runtime error" not in said, said.decode()
        return code

    def raw(self, data):
        data = memoryview(data if isinstance(data, bytes) else data.encode())
        while data:
            data = data[os.write(self.to, data):]

    def write(self, message):
        self.raw(json.dumps(message) + "\n")

    def read(self, timeout=60):
        line = self.lines.get(timeout=timeout)
        assert line is not None, b"".join(self.errors)
        assert line.endswith(b"\n")
        message = json.loads(line)
        assert message["jsonrpc"] == "2.0"
        return message

    def rest(self):
        """What still comes until it ends."""
        self.end()
        found = list(self.kept)
        self.kept.clear()
        while (line := self.lines.get(timeout=60)) is not None:
            found.append(json.loads(line))
        return found

    def send(self, method, params=None, id=None, token=None):
        """A request, not waited for: its id."""
        self.last += 1
        id = self.last if id is None else id
        params = dict(params or {})
        if self.modern:
            params["_meta"] = dict(META)
        if token is not None:
            params.setdefault("_meta", {})["progressToken"] = token
        self.write({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
        return id

    def notify(self, method, **params):
        self.write({"jsonrpc": "2.0", "method": method, "params": params})

    def answer(self, id):
        """The message that answers id; others are kept."""
        for i, message in enumerate(self.kept):
            if message.get("id") == id and "method" not in message:
                return self.kept.pop(i)
        while True:
            message = self.read()
            if message.get("id") == id and "method" not in message:
                return message
            self.kept.append(message)

    def ask(self, method, params=None, **more):
        return self.answer(self.send(method, params, **more))

    def result(self, method, params=None, **more):
        message = self.ask(method, params, **more)
        assert "result" in message, message
        assert (message["result"].get("resultType") == "complete") == self.modern
        return message["result"]

    def initialize(self, version=LEGACY, capabilities=None):
        self.modern = False
        found = self.result("initialize", {"protocolVersion": version, "capabilities": capabilities or {},
                                           "clientInfo": {"name": "test", "version": "1"}})
        self.notify("notifications/initialized")
        return found

    def start(self, tool, **arguments):
        return self.send("tools/call", {"name": tool, "arguments": arguments})

    def call(self, tool, **arguments):
        return self.result("tools/call", {"name": tool, "arguments": arguments})

    def text(self, tool, **arguments):
        """The text of an answer that is no error."""
        found = self.call(tool, **arguments)
        assert found["isError"] is False, found
        assert [c["type"] for c in found["content"]] == ["text"]
        return found["content"][0]["text"]

    def refused(self, tool, **arguments):
        found = self.call(tool, **arguments)
        assert found["isError"] is True and "structuredContent" not in found
        return found["content"][0]["text"]


def code(message):
    return message["error"]["code"]


@pytest.fixture(params=["modern", "legacy"])
def server(request, tmp_path):
    """A server in a folder of its own, in both forms of the protocol."""
    with Server(cwd=tmp_path) as s:
        if request.param == "legacy":
            s.initialize()
        yield s


@pytest.fixture
def alone(tmp_path):
    with Server(cwd=tmp_path) as s:
        yield s


@pytest.fixture
def app(tmp_path):
    """A small profile: main calls parse, which calls hash."""
    path = tmp_path / "app.spaa"
    path.write_text(profiles.text([(["hash", "parse", "main"], 70, {"pid": 1, "tid": 1, "comm": "app"}),
                                   (["parse", "main"], 20, {"pid": 1, "tid": 1, "comm": "app"}),
                                   (["idle", "main"], 10, {"pid": 1, "tid": 2, "comm": "pool-1"})]))
    return path
