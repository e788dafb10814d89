#!/usr/bin/python3 -I
"""The only door of an agent's folder: runs one command, or calls one tool of an MCP server, and keeps count of it.

    ./t QUESTION 'shell command'        what it prints is printed and counted        (sides spaa and peers)
    ./t setup tools                     the server's instructions and its tools      (side mcp)
    ./t QUESTION TOOL '{"a": 1}'        one call of a tool: its text                 (side mcp)
    ./t QUESTION spaa://schema/top      one of its resources                         (side mcp)
    ./t setup skill [FILE]              a file of the manual, if there is one        (side mcp)
    ./t --serve                         the server itself for a client of MCP: calls and schemas are counted as they pass

`run.py prepare` copies this file into the folder as `t`; what it needs to know is FOLDER.run.json, what it counts goes to
FOLDER.log.jsonl, one line a call, both beside the folder."""

import hashlib
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time

FOLDER = os.path.dirname(os.path.abspath(__file__))
KEPT = 200_000  # characters of an output that transcripts can show
LIMIT, IDLE = 300, 1800  # seconds: what takes longer is ended; a server that nobody calls ends
MODERN, LEGACY = "2026-07-28", "2025-11-25"


def settings():
    with open(FOLDER + ".run.json", encoding="utf-8") as f:
        return json.load(f)


def note(question, command, output, started, code=0, **more):
    """One line of the log; what was printed is counted in bytes, its last end of line not."""
    entry = {"question": question, "command": command, "bytes": len(output.encode()), "start": round(started, 3),
             "seconds": round(time.time() - started, 3), "code": code, "output": output[:KEPT], **more}
    with open(FOLDER + ".log.jsonl", "a", encoding="utf-8") as f:
        f.write(json.dumps(entry) + "\n")


def environment(known):
    """What commands see: the folder of links as PATH, nothing of the caller's but where home is."""
    return {"PATH": known["path"], "HOME": os.environ.get("HOME", "/"), "LANG": "C.UTF-8", "DEBUGINFOD_URLS": ""}


def shell(known, question, command):
    started = time.time()
    # A file, not a pipe: a command that leaves a daemon behind has still ended.
    with tempfile.TemporaryFile() as kept:
        try:
            code = subprocess.run(["/bin/bash", "-c", command], cwd=FOLDER, env=environment(known), stdin=subprocess.DEVNULL,
                                  stdout=kept, stderr=subprocess.STDOUT, timeout=LIMIT, check=False).returncode
        except subprocess.TimeoutExpired:
            code = 124
            kept.write(f"ended after {LIMIT} s".encode())
        kept.seek(0)
        output = kept.read().decode("utf-8", "replace").rstrip("\n")
    note(question, command, output, started, code)
    print(output)
    return code


# ---- one server, for all calls: handles of its profiles hold while it runs ----

class Server:
    """A server of MCP over stdio, spoken to as its era wants it. `with` ends it."""

    def __init__(self, command, era=None, env=None):
        self.process = subprocess.Popen(command, cwd=FOLDER, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True, encoding="utf-8", errors="replace")
        self.last, self.era, self.instructions = 0, "modern", ""
        if era != "legacy":
            said = self.ask("server/discover") if era is None else {}
            self.instructions = said.get("result", {}).get("instructions") or ""
            if "error" not in said:
                return
        self.era = "legacy"
        said = self.ask("initialize", protocolVersion=LEGACY, capabilities={}, clientInfo={"name": "evals", "version": "1"})
        self.instructions = said.get("result", {}).get("instructions") or ""
        if "error" not in said:
            self.say({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def say(self, message):
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()

    def ask(self, method, **params):
        """The answer to one request; what comes between (progress, logs) is passed over."""
        self.last += 1
        if self.era == "modern":
            params["_meta"] = {"io.modelcontextprotocol/protocolVersion": MODERN, "io.modelcontextprotocol/clientCapabilities": {},
                               "io.modelcontextprotocol/clientInfo": {"name": "evals", "version": "1"}}
        limit = threading.Timer(LIMIT, self.process.kill)
        limit.start()
        try:
            self.say({"jsonrpc": "2.0", "id": self.last, "method": method, "params": params})
            for line in self.process.stdout:
                answer = json.loads(line)
                if answer.get("id") == self.last and "method" not in answer:
                    return answer
        except (OSError, ValueError) as why:
            return {"error": {"code": 0, "message": f"the server cannot be understood: {why}"}}
        finally:
            limit.cancel()
        return {"error": {"code": 0, "message": "the server ended without an answer"}}

    def tools(self):
        """All tools, of all pages, as one text: what a client puts before its model."""
        found, more = [], {}
        while True:
            page = self.ask("tools/list", **more)
            if "error" in page:
                raise OSError(f"tools/list: {page['error'].get('message')}")
            found += page["result"]["tools"]
            if not page["result"].get("nextCursor"):
                return schemas(self.instructions, found)
            more = {"cursor": page["result"]["nextCursor"]}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.process.stdin.close()
            self.process.wait(10)
        except (OSError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()


def schemas(instructions, tools):
    return (instructions + "\n" if instructions else "") + json.dumps(tools, separators=(",", ":"), ensure_ascii=False)


def said(answer):
    """What a model would read of the answer to tools/call or resources/read: its texts. And whether it is an error."""
    if "error" in answer:
        return f"error {answer['error'].get('code')}: {answer['error'].get('message')}", True
    result = answer.get("result", {})
    texts = [c.get("text", f"({c.get('type', 'blob')})") for c in result.get("content", []) + result.get("contents", [])]
    if not texts and "structuredContent" in result:
        texts = [json.dumps(result["structuredContent"])]
    return "\n".join(texts).rstrip("\n"), bool(result.get("isError"))


def keep(known):
    """The process that has the server: takes one call a connection, until it is told to stop or nobody calls any more."""
    with socket.socket(socket.AF_UNIX) as door:
        try:
            door.bind(door_name())
        except OSError:
            return 0  # there is one already
        door.listen(16)
        door.settimeout(IDLE)
        with Server(known["mcp"], known["era"], environment(known)) as server:
            while server.process.poll() is None:
                try:
                    caller, _ = door.accept()
                except TimeoutError:
                    return 0
                with caller, caller.makefile("rw", encoding="utf-8") as wire:
                    asked = json.loads(wire.readline() or "null")
                    if not asked:
                        door.close()  # before the caller knows
                        return 0
                    wire.write(json.dumps(server.ask(asked["method"], **asked["params"])) + "\n")
    return 0


def door_name():
    return "\0evals-" + hashlib.sha256(FOLDER.encode()).hexdigest()[:32]


def kept_server(call, start=True):
    """The answer of the server that runs for this folder; the first call starts it, None ends it."""
    for wait in range(200):
        with socket.socket(socket.AF_UNIX) as wire:
            try:
                wire.connect(door_name())
                wire.sendall(json.dumps(call).encode() + b"\n")
                answer = wire.makefile(encoding="utf-8").readline()
                return json.loads(answer) if answer else {"error": {"code": 0, "message": "the server ended without an answer"}}
            except ConnectionRefusedError:
                if not start:
                    break
            except OSError as why:
                return {"error": {"code": 0, "message": f"the server ended: {why}"}}
        if wait == 0:
            subprocess.Popen([sys.executable, "-I", os.path.join(FOLDER, "t"), "--keep"], start_new_session=True,
                             stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(0.05)
    return {"error": {"code": 0, "message": "the server cannot be started"}}


def tool(known, question, name, arguments):
    started, command = time.time(), f"{name} {arguments}"
    try:
        given = json.loads(arguments)
        if not isinstance(given, dict):
            raise ValueError("an object is wanted")
    except ValueError as why:
        output, bad = f"the arguments are not a JSON object: {why}", True
    else:
        output, bad = said(kept_server({"method": "tools/call", "params": {"name": name, "arguments": given}}))
    note(question, command, output, started, int(bad))
    print(output)
    return int(bad)


def resource(question, uri):
    started = time.time()
    output, bad = said(kept_server({"method": "resources/read", "params": {"uri": uri}}))
    note(question, uri, output, started, int(bad))
    print(output)
    return int(bad)


def list_tools(known, question):
    started = time.time()
    with Server(known["mcp"], None, environment(known)) as server:
        output = server.tools()
    note(question, "tools", output, started, schema=True)
    print(output)
    return 0


def read_skill(question, name):
    """For those who have no shell: a file of skill/ (SKILL.md)."""
    started, home = time.time(), os.path.join(FOLDER, "skill")
    path = os.path.realpath(os.path.join(home, name))
    output, code = f"there is no skill/{name}", 1
    if path.startswith(home + os.sep) and os.path.isfile(path):
        with open(path, encoding="utf-8") as f:
            output, code = f.read(), 0
    note(question, f"skill/{name}", output, started, code)
    print(output)
    return code


# ---- a client of MCP on the other side ----

def watch(asked, line):
    """Counts what passes from the server to the client: answers to tools/list and tools/call."""
    try:
        answer = json.loads(line)
        method, params, started = asked.pop(answer["id"])
    except (ValueError, KeyError, TypeError):
        return
    if method == "tools/list" and "result" in answer:
        note("setup", "tools", schemas("", answer["result"].get("tools", [])), started, schema=True)
    elif method in ("tools/call", "resources/read"):
        output, bad = said(answer)
        command = params.get("uri") or f"{params.get('name')} {json.dumps(params.get('arguments', {}))}"
        note(os.environ.get("EVAL_QUESTION", "client"), command, output, started, int(bad))


def serve(known):
    asked = {}
    server = subprocess.Popen(known["mcp"], cwd=FOLDER, env=environment(known), stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def back():
        for line in server.stdout:
            watch(asked, line)
            sys.stdout.buffer.write(line)
            sys.stdout.buffer.flush()

    reader = threading.Thread(target=back)
    reader.start()
    for line in sys.stdin.buffer:
        try:
            message = json.loads(line)
            asked[message["id"]] = message["method"], message.get("params", {}), time.time()
        except (ValueError, KeyError, TypeError):
            pass
        server.stdin.write(line)
        server.stdin.flush()
    server.stdin.close()
    reader.join()
    return server.wait()


def main(args):
    known = settings()
    if known.get("mcp"):
        if args == ["--serve"]:
            return serve(known)
        if args == ["--keep"]:
            return keep(known)
        if len(args) == 2 and args[1] == "tools":
            return list_tools(known, args[0])
        if len(args) in (2, 3) and args[1] == "skill" and "skill_bytes" in known:
            return read_skill(args[0], (args + ["SKILL.md"])[2])
        if len(args) == 2 and "://" in args[1]:
            return resource(*args)
        if len(args) in (2, 3):
            return tool(known, args[0], args[1], (args + ["{}"])[2])
        print("usage: ./t QUESTION TOOL 'JSON object'   or   ./t QUESTION RESOURCE-URI   or   ./t setup tools")
    else:
        if len(args) == 2:
            return shell(known, *args)
        print("usage: ./t QUESTION 'shell command'")
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
