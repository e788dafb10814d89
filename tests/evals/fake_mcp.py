"""A server of MCP that has two tools, in one era or the other: fake_mcp.py modern|legacy. Its answers count its calls, so that
one can see whether it is still the same."""

import json
import sys

ERA, CALLS = sys.argv[1], 0
TOOLS = [{"name": "echo", "description": "Says what it is given.", "inputSchema": {"type": "object"}},
         {"name": "fail", "description": "Fails.", "inputSchema": {"type": "object"}}]
INFO = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "fake", "version": "1"},
        "instructions": "Ask echo."}


def call(params):
    global CALLS
    CALLS += 1
    text = json.dumps({**params["arguments"], "call": CALLS}) if params["name"] == "echo" else "no such file: name one of this folder"
    return {"content": [{"type": "text", "text": text}], "isError": params["name"] == "fail"}


def read(params):
    return {"contents": [{"uri": params["uri"], "text": "all of " + params["uri"]}]}


def page(params):
    return {"tools": TOOLS[1:]} if params.get("cursor") else {"tools": TOOLS[:1], "nextCursor": "2"}


def answer(method, params, ready):
    modern = "io.modelcontextprotocol/protocolVersion" in params.get("_meta", {})
    if method == "initialize" and ERA == "legacy":
        return INFO
    if (ERA == "modern") != modern or (ERA == "legacy" and not ready):
        return None
    if method == "server/discover" and ERA == "modern":
        return {"resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": {}, "instructions": "Ask echo."}
    return {"tools/list": page, "tools/call": call, "resources/read": read}.get(method, lambda _: None)(params)


def main():
    ready = False
    for line in sys.stdin:
        message = json.loads(line)
        ready = ready or message["method"] == "notifications/initialized"
        if "id" not in message:
            continue
        result = answer(message["method"], message.get("params", {}), ready)
        print(json.dumps({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "on it"}}))
        end = {"result": result} if result else {"error": {"code": -32602, "message": "not so"}}
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **end}), flush=True)


main()
