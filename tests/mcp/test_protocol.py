"""`spaa mcp`: the protocol, in both forms, and what is not the protocol."""

import json
import os
import random
import re
import signal
import time

import pytest

from mcp_client import KEY, LEGACY, META, MODERN, alone, app, code, server  # noqa: F401

TOOLS = {"open", "summary", "top", "tree", "function", "diff", "timeline", "waits", "leaks", "query"}


def test_what_the_tools_cost(server):
    """Every session pays for them: at most 2,700 tokens of 4 characters."""
    found = server.result("tools/list")
    listed = json.dumps(found["tools"], ensure_ascii=False, separators=(",", ":"))
    assert len(listed) <= 10800, len(listed)
    assert TOOLS <= {t["name"] for t in found["tools"]} and found["tools"][0]["name"] == "open"
    assert not {"flamegraph", "convert"} & {t["name"] for t in found["tools"]}
    for tool in found["tools"]:
        assert re.fullmatch(r"[A-Za-z0-9_-]{1,128}", tool["name"])
        assert len(tool["description"]) < 2048
        assert tool["annotations"] == {"readOnlyHint": True, "openWorldHint": False}
        assert tool["inputSchema"]["type"] == "object"
        for name, schema in tool["inputSchema"]["properties"].items():
            assert re.fullmatch(r"[a-z_]+", name) and ("type" in schema) != ("enum" in schema)
            assert "--" not in schema.get("description", "")
        assert {"budget", "format"} <= set(tool["inputSchema"]["properties"])
    assert server.result("tools/list") == found  # in the same order


def test_discover(alone):
    found = alone.result("server/discover")
    assert found["supportedVersions"] == [MODERN]
    assert set(found["capabilities"]) == {"tools", "resources", "prompts"}
    assert found["ttlMs"] >= 0 and found["cacheScope"] in ("public", "private")
    assert found["_meta"][KEY + "serverInfo"]["name"] == "spaa"
    assert 0 < len(found["instructions"]) <= 2048


@pytest.mark.parametrize("method", ["tools/list", "resources/list", "resources/templates/list", "prompts/list"])
def test_lists_may_be_kept_in_the_newer_form(server, method):
    found = server.result(method)
    assert server.modern == ("ttlMs" in found) == ("cacheScope" in found)
    assert code(server.ask(method, {"cursor": "abc"})) == -32602


@pytest.mark.parametrize("asked,given", [(LEGACY, LEGACY), ("2025-06-18", "2025-06-18"), ("2024-11-05", "2024-11-05"),
                                         ("2025-03-26", "2024-11-05"), ("1999-01-01", LEGACY), (MODERN, LEGACY)])
def test_initialize(alone, asked, given):
    found = alone.initialize(asked)
    assert found["protocolVersion"] == given and found["serverInfo"]["name"] == "spaa"
    assert alone.result("ping") == {}
    assert alone.result("tools/list")["tools"]


def test_a_request_that_belongs_to_neither_form(alone):
    alone.modern = False
    assert code(alone.ask("tools/list")) == -32602
    assert code(alone.ask("tools/call", {"name": "top", "arguments": {}})) == -32602
    assert code(alone.ask("server/discover")) == -32602
    assert alone.result("ping") == {}
    assert code(alone.ask("initialize", {})) == -32602


def test_both_forms_on_one_connection(alone):
    assert alone.result("tools/list")["resultType"] == "complete"
    alone.initialize()
    assert "resultType" not in alone.result("tools/list")
    alone.modern = True
    assert alone.result("tools/list")["resultType"] == "complete"
    assert code(alone.ask("ping")) == -32601  # the newer form has none


@pytest.mark.parametrize("meta,expected", [({}, -32602), ({KEY + "protocolVersion": MODERN}, -32602),
                                           ({KEY + "protocolVersion": 7, KEY + "clientCapabilities": {}}, -32602),
                                           ({KEY + "protocolVersion": MODERN, KEY + "clientCapabilities": []}, -32602),
                                           ({**META, KEY + "protocolVersion": "2030-01-01"}, -32022),
                                           ({**META, KEY + "protocolVersion": LEGACY}, -32022)])
def test_the_envelope(alone, meta, expected):
    alone.modern = False
    found = alone.ask("tools/list", {"_meta": meta})
    assert code(found) == expected
    if expected == -32022:
        assert found["error"]["data"] == {"supported": [MODERN], "requested": meta[KEY + "protocolVersion"]}


def test_what_there_is_not(server):
    assert code(server.ask("tools/run")) == -32601
    assert code(server.ask("tools/call", {"name": "rm", "arguments": {}})) == -32602
    assert code(server.ask("tools/call", {"arguments": {}})) == -32602
    assert code(server.ask("tools/call", {"name": "top", "arguments": [1]})) == -32602
    assert code(server.ask("prompts/get", {"name": "nothing"})) == -32602
    found = server.ask("resources/read", {"uri": "spaa://schema/nothing"})
    assert code(found) == (-32602 if server.modern else -32002)
    assert found["error"]["data"] == {"uri": "spaa://schema/nothing"}
    assert code(server.ask("resources/read", {"uri": "file:///etc/passwd"})) < 0
    server.notify("notifications/of/another/kind")
    assert server.result("tools/list")


def test_ids_of_all_kinds(server):
    for id in (0, -1, 2**53, 1.5, "", "a\"b\\\n", "é", "x" * 100000):
        assert server.ask("tools/list", id=id)["id"] == id
    for id in (None, True, [1], {"a": 1}):
        server.write({"jsonrpc": "2.0", "id": id, "method": "tools/list"})
        message = server.read()
        assert message["id"] is None and code(message) == -32600


BROKEN = [("", None), ("   ", -32700), ("{", -32700), ("nonsense", -32700), ("{}", -32600), ("[]", -32600), ("7", -32600),
          ('"text"', -32600), ('{"jsonrpc":"1.0","id":1,"method":"ping"}', -32600), ('{"jsonrpc":"2.0","id":1}', -32600),
          ('{"jsonrpc":"2.0","id":1,"method":5}', -32600), ('{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}', -32602),
          ('[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32600), ('{"jsonrpc":"2.0","id":1,"method":"ping"} x', -32700),
          (b'{"jsonrpc":"2.0","id":1,"method":"\xff\xfe"}', -32700), (b"\x00\x01\x02", -32700),
          ('{"jsonrpc":"2.0","id":1,"method":"\\ud800"}', -32700), ("[" * 300000, -32700),
          ("[" * 100000 + "]" * 100000, -32600),
          ('{"jsonrpc":"2.0","id":1,"method":"ping","params":' + '{"a":' * 200000 + "1" + "}" * 200000 + "}", -32700)]


def test_lines_that_are_no_message(alone):
    for line, expected in BROKEN:
        alone.raw((line if isinstance(line, bytes) else line.encode()) + b"\n")
        if expected:
            assert code(alone.read()) == expected, line[:80]
    alone.raw('{"jsonrpc":"2.0","id":"last","method":"ping"}\r\n')
    assert alone.read() == {"jsonrpc": "2.0", "id": "last", "result": {}}


def test_long_arguments(server):
    """10 MB are an argument; more than 16 MiB are skipped to the end of the line."""
    word = "x" * 10_000_000
    found = server.call("query", sql="SELECT '%s'" % word)
    assert found["isError"]
    assert server.refused("top", profile="p1", **{word[:60]: 1})
    assert server.refused("top", profile=word)
    server.raw(b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":"' + b"y" * (17 << 20) + b'"}}\n')
    message = server.read()
    assert message["id"] is None and code(message) == -32600 and "16 MiB" in message["error"]["message"]
    assert server.result("tools/list")


def test_a_last_line_without_its_end(alone):
    alone.raw('{"jsonrpc":"2.0","id":1,"method":"ping"}')
    assert alone.rest() == [{"jsonrpc": "2.0", "id": 1, "result": {}}]


def test_garbage(alone, app):
    """Whatever comes, it goes on, and each line gets at most one answer."""
    r = random.Random(7)
    good = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
        "_meta": META, "name": "top", "arguments": {"profile": str(app), "by": "comm", "limit": 3}}}).encode()
    lines = 0
    for _ in range(400):
        line = bytearray(good)
        for _ in range(r.randrange(1, 6)):
            at = r.randrange(len(line))
            kind = r.randrange(4)
            if kind == 0:
                line[at] = r.randrange(256)
            elif kind == 1:
                del line[at:at + r.randrange(1, 20)]
            elif kind == 2:
                line[at:at] = bytes(r.randrange(256) for _ in range(r.randrange(8)))
            else:
                line[at:at] = line[r.randrange(len(line)):][:30]
        lines += bytes(line).count(b"\n") + 1
        alone.raw(bytes(line) + b"\n")
    assert alone.result("tools/list", id="end")
    assert len(alone.rest()) <= lines


def test_resources(server):
    found = server.result("resources/list")["resources"]
    assert {"spaa://schema/" + t for t in TOOLS} <= {r["uri"] for r in found}
    for resource in found:
        read = server.result("resources/read", {"uri": resource["uri"]})["contents"]
        assert [c["uri"] for c in read] == [resource["uri"]] and read[0]["text"]
        if resource["uri"].startswith("spaa://schema/"):
            schema = json.loads(read[0]["text"])
            assert schema["arguments"]["properties"]
    top = json.loads(server.result("resources/read", {"uri": "spaa://schema/top"})["contents"][0]["text"])
    assert {"sum", "label", "by"} <= set(top["arguments"]["properties"])
    assert top["answer"]["schema"].startswith("spaa.top/")


def test_prompts(server):
    for prompt in server.result("prompts/list")["prompts"]:
        given = {a["name"]: "VALUE%d" % i for i, a in enumerate(prompt["arguments"])}
        found = server.result("prompts/get", {"name": prompt["name"], "arguments": given})
        text = found["messages"][0]["content"]["text"]
        assert all(v in text for v in given.values()) and not re.search(r"\{(%s)\}" % "|".join(given or "x"), text)
        if any(a["required"] for a in prompt["arguments"]):
            assert code(server.ask("prompts/get", {"name": prompt["name"]})) == -32602


# ---- ends ----

def test_it_ends_with_its_input(alone, app):
    ids = {alone.start("top", profile=str(app)) for _ in range(20)}
    assert {m["id"] for m in alone.rest()} == ids  # what was asked is answered
    assert alone.p.returncode == 0


SLOW = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n, functions"


@pytest.mark.parametrize("how", ["gone", "SIGTERM"])
def test_it_is_left_with_calls_running(alone, app, tmp_path, how):
    """A client that was killed closes both ends: nobody waits for answers, and nothing stays behind."""
    for _ in range(6):
        alone.start("query", profile=str(app), sql=SLOW)
    time.sleep(0.3)
    began = time.monotonic()
    if how == "gone":
        alone.close()
    else:
        alone.p.send_signal(signal.SIGTERM)
    assert alone.p.wait(timeout=10) in (0, -signal.SIGTERM)
    assert time.monotonic() - began < 4
    assert os.listdir(tmp_path) == ["app.spaa"]
