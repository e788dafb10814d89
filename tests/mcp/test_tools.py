"""`spaa mcp`: what its tools answer, and which files they touch."""

import json
import os
import re
import resource
import shutil
import signal
import time

import pytest

import gen_heaptrack
import profiles
from conftest import ask, parse, run
from mcp_client import Server, alone, app, code, server  # noqa: F401

FIXTURES = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "fixtures")
RECORDED = sorted(os.path.join(FIXTURES, "perf_data", f) for f in os.listdir(os.path.join(FIXTURES, "perf_data"))
                  if f.endswith(".data"))
CALL = re.compile(r"\b([a-z]+) (\{\".*\})")


def without_calls(text):
    """An answer without the lines that name what to ask next, of a shell or of an agent, and what the server adds."""
    lines = [line for line in text.split("\n") if "spaa " not in line and not CALL.search(line)]
    return "\n".join(line for line in lines if not re.match(r"p\d+ is ", line)).strip()


# ---- the same as on the command line ----

@pytest.mark.parametrize("path", RECORDED[:6], ids=os.path.basename)
@pytest.mark.parametrize("tool,arguments,words", [
    ("summary", {}, []), ("top", {}, []), ("top", {"by": "cpu"}, ["--by", "cpu"]),
    ("top", {"by": "thread", "sort": "total", "limit": 3}, ["--by", "thread", "--sort", "total", "-n", "3"]),
    ("tree", {"depth": 3, "inverted": True}, ["--depth", "3", "--inverted"]),
    ("timeline", {"buckets": 5}, ["--buckets", "5"]), ("stacks", {"limit": 2}, ["-n", "2"]),
    ("query", {"sql": "SELECT name, self FROM functions ORDER BY self DESC, name LIMIT 5"},
     ["SELECT name, self FROM functions ORDER BY self DESC, name LIMIT 5"])])
def test_answers_are_those_of_the_command_line(alone, path, tool, arguments, words):
    said = run(tool, path, *words)
    found = alone.call(tool, profile=path, budget=0, **arguments)
    assert found["isError"] == (said.code != 0)
    if said.code:
        return
    err = re.sub(r"(?m)^spaa: ", "", re.sub(r"(?m)^spaa: note: .*\n(  .*\n)*", "", said.err))
    said = without_calls((said.out + err).replace("(spaa top)", "(top)")).replace("-n 0 shows", "limit 0 shows").replace("(-v says", "(verbose says").replace(
        "more (-v)", "more (verbose)")
    assert without_calls(found["content"][0]["text"]) == re.sub(
        r"(?<=[ `(])--(min-percent|root-at|debug-dir|symfs|verbose)", lambda m: m.group(1).replace("-", "_"), said)


def test_json_is_structured_and_the_same_as_text(server, app):
    found = server.call("top", profile=str(app), format="json")
    answer = found["structuredContent"]
    assert json.loads(found["content"][0]["text"]) == answer
    said = parse(run("top", app, "--json", code=0).out)
    for member in set(said) - {"next"}:
        assert json.loads(json.dumps(answer[member])) == json.loads(json.dumps(said[member], default=float)), member
    assert answer["profiles"] == {"p1": str(app)}
    assert all(not c.startswith("spaa ") for c in answer["next"])


def test_what_to_ask_next_can_be_asked(server, app):
    """Every call that an answer names is answered."""
    todo, seen = [(tool, {"profile": str(app)}) for tool in ("summary", "top", "tree", "stacks")], set()
    while todo and len(seen) < 25:
        tool, arguments = todo.pop()
        if (tool, str(arguments)) in seen:
            continue
        seen.add((tool, str(arguments)))
        text = server.text(tool, **arguments)
        assert "spaa " not in text.replace("app.spaa ", ""), text
        todo += [(name, json.loads(given)) for name, given in CALL.findall(text)]
    assert len(seen) > 4


def test_sides(server, tmp_path):
    paths = []
    for name, hot in (("a", 50), ("b", 50), ("c", 400), ("d", 400)):
        (tmp_path / name).write_text("main;hash %d\nmain;parse 50\n" % hot)
        paths.append(str(tmp_path / name))
    assert "hash" in server.text("diff", base=[paths[0]], new=[paths[2]], budget=0)
    assert "hash" in server.text("diff", base=paths[:2], new=paths[2:], budget=0)
    assert "hash" in server.text("diff", base=paths[0], new=paths[2], budget=0)
    assert "new" in server.refused("diff", base=[paths[0]])
    assert "base" in server.refused("diff", new=[paths[0]])
    several = server.text("top", profiles=paths, budget=0)
    assert several.split("\n")[1:3] == run("top", *paths, code=0).out.split("\n")[1:3]


def test_one_file_as_both_sides(server, app):
    answer = server.text("diff", base=[str(app)], base_where=["comm=app"], new_where=["comm=pool-1"], budget=0)
    assert "idle" in answer


def test_sql(server, app):
    assert "70" in server.text("query", profile=str(app), sql="SELECT self FROM functions WHERE name = :n",
                               params={"n": "hash"})
    assert "it's" in server.text("query", profile=str(app), sql="SELECT :n || :m || ifnull(:k, 'none')",
                                 params={"n": "it's", "m": 7, "k": None})
    assert "CREATE TABLE functions" in server.text("query", sql=".schema functions")
    assert "no such" in server.refused("query", profile=str(app), sql="SELECT a FROM nowhere")
    assert server.refused("query", profile=str(app), sql="ATTACH 'x' AS y")
    numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 5000) SELECT i FROM n"
    for form in ({}, {"format": "json"}):
        answer = server.text("query", profile=str(app), sql=numbers, budget=300, **form)
        assert 300 < len(answer) <= 1100
    assert "limit 0 shows all" in server.text("query", profile=str(app), sql=numbers, budget=300)
    assert len(server.text("query", profile=str(app), sql=numbers, budget=0, limit=0).split("\n")) > 5000


# ---- budget ----

def test_a_budget_cuts_and_says_which_argument_shows_more(server, tmp_path):
    path = tmp_path / "many.folded"
    path.write_text("".join("main;function_number_%03d %d\n" % (i, i + 1) for i in range(300)))
    short, whole = server.text("top", profile=str(path)), server.text("top", profile=str(path), budget=0, limit=0)
    assert len(short) < 2000 < len(whole)
    assert "limit 0 shows all" in short and "--" not in short, "the rows that stand there unasked"
    assert "a larger budget shows more" in server.text("top", profile=str(path), limit=0)
    assert "limit 0 shows all" in server.text("top", profile=str(path), budget=0, limit=5)
    assert len(server.text("top", profile=str(path), budget=200)) < 800


# ---- arguments that are wrong ----

@pytest.mark.parametrize("tool,arguments,says", [
    ("top", {}, "profile"), ("open", {}, "path"), ("function", {"profile": "APP"}, "function"),
    ("query", {"profile": "APP"}, "sql"), ("top", {"profile": "APP", "focu": "x"}, "did you mean focus"),
    ("top", {"profile": "APP", "sort": "biggest"}, "sort"), ("top", {"profile": "APP", "limit": "many"}, "limit"),
    ("top", {"profile": "APP", "focus": {"a": 1}}, "string"), ("top", {"profile": "APP", "user": "yes"}, "true or false"),
    ("top", {"profile": "APP", "focus": ["a", "b"]}, "one value"), ("top", {"profile": "APP", "budget": -1}, "budget"),
    ("top", {"profile": "APP", "format": "csv"}, "json"), ("top", {"profile": "APP", "focus": "a\0b"}, "NUL"),
    ("top", {"profile": "p12345"}, "open the file again"), ("top", {"profile": "/no/such/file"}, "No such file"),
    ("top", {"profile": "/"}, "no file"), ("timeline", {"profiles": ["APP", "APP"]}, "one profile"),
    ("top", {"profile": "APP", "comm": "nobody"}, "nobody"), ("top", {"profile": "APP", "output": "x"}, "no argument"),
    ("query", {"profile": "APP", "sql": "SELECT 1", "file": "x"}, "no argument"),
    ("top", {"profile": "APP", "debuginfod": True}, "no argument"), ("top", {"profile": "APP", "jobs": 3}, "no argument"),
    ("function", {"profile": "APP", "function": "nothing_like_it"}, "nothing_like_it")])
def test_what_is_wrong_is_said(server, app, tool, arguments, says):
    text = json.dumps(arguments).replace("APP", str(app))
    said = server.refused(tool, **json.loads(text))
    assert says in said and "--" not in said and len(said) < 1000, said


def test_a_file_that_cannot_be_read(server, tmp_path):
    path = tmp_path / "odd.txt"
    path.write_text("main;draw 3\nno stack at all\n")
    said = server.refused("top", profile=str(path))
    assert "unknown format" in said and "`from folded`" in said and "--" not in said
    assert "p1" in server.text("open", path=str(path), **{"from": "folded"})
    assert "draw" in server.text("top", profile=str(path)) and "SPAA-L" in server.text("top", profile="p1")


# ---- profiles that stay open ----

def test_handles(server, app, tmp_path):
    opened = server.text("open", path=str(app))
    assert opened.startswith("p1 = %s\n" % app)
    assert server.text("open", path=str(app)).startswith("p1 = ")
    other = tmp_path / "other.folded"
    other.write_text("main;g 3\n")
    assert server.text("open", path="other.folded").startswith("p2 = ")
    assert "g" in server.text("top", profile="p2") and "hash" in server.text("top", profile="p1")
    assert "p2 is" in server.text("top", profile=str(other)) and "p2 is" not in server.text("top", profile="p2")
    both = server.text("open", paths=[str(app), str(other)])
    assert "p1 = " in both and "p2 = " in both


def test_a_file_that_changed_is_read_again(server, tmp_path):
    path = tmp_path / "x.folded"
    path.write_text("main;before 3\n")
    server.text("open", path=str(path))
    assert "before" in server.text("top", profile="p1")
    path.write_text("main;afterwards 33\n")
    answer = server.text("top", profile="p1")
    assert "afterwards" in answer and "had changed" in answer
    assert "had changed" not in server.text("top", profile="p1")
    path.unlink()
    assert "No such file" in server.refused("top", profile="p1")


def test_profiles_go_and_come_back(app, tmp_path):
    """With no memory to keep them they are read each time, and handles hold."""
    with Server("--memory", "0", cwd=tmp_path) as s:
        s.text("open", path=str(app))
        for i in range(5):
            other = tmp_path / ("%d.folded" % i)
            other.write_text("main;g%d 3\n" % i)
            assert "g%d" % i in s.text("top", profile=str(other))
        assert "hash" in s.text("top", profile="p1") and "g0" in s.text("top", profile="p2")


def test_open_profiles_leave_descriptors_for_others(tmp_path):
    """Each recording with samples holds one."""
    had = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (64, had[1]))
    try:
        with Server(cwd=tmp_path) as s:
            for i in range(90):
                shutil.copy(os.path.join(FIXTURES, "perf_data", "switch.perf.data"), tmp_path / f"{i}.data")
                assert "switches" in s.text("top", profile=str(tmp_path / f"{i}.data"))
            assert "switches" in s.text("top", profile="p1")
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, had)


def test_losses_are_said_with_each_answer(server, tmp_path):
    good = profiles.text([(["f", "main"], 3)]).split("\n")
    path = tmp_path / "bad.spaa"
    path.write_text("\n".join(good[:-1] + ["this is no record"]) + "\n")
    opened = server.call("open", path=str(path))
    if opened["isError"]:
        pytest.skip("not read at all")
    for _ in range(2):
        assert re.search(r"SPAA-[LWE]\d+", server.text("top", profile="p1"))
        found = server.call("top", profile="p1", format="json")["structuredContent"]
        assert any(re.match(r"SPAA-[LWE]", d["code"]) for d in found["diagnostics"])


# ---- which files ----

def test_roots(app, tmp_path):
    inside, outside = tmp_path / "in", tmp_path / "in-other"
    for folder in (inside, outside):
        folder.mkdir()
        shutil.copy(app, folder / "x.spaa")
    (inside / "link.spaa").symlink_to(outside / "x.spaa")
    (inside / "way").symlink_to(outside)
    (outside / "back.spaa").symlink_to(inside / "x.spaa")
    with Server("--root", inside, cwd=inside) as s:
        assert "hash" in s.text("top", profile=str(inside / "x.spaa"))
        assert "hash" in s.text("top", profile="x.spaa")
        assert "hash" in s.text("top", profile=str(outside / "back.spaa"))  # the file that is meant lies inside
        for path in (outside / "x.spaa", inside / "link.spaa", inside / "way" / "x.spaa", "../in-other/x.spaa",
                     "/etc/passwd", "/no/such/file", inside / ".." / "in-other" / "x.spaa"):
            said = s.refused("top", profile=str(path))
            assert str(inside) in said and "may be opened" in said
        assert "may be opened" in s.refused("open", path="x.spaa", symfs=str(outside))
        assert "may be opened" in s.refused("open", path="x.spaa", debug_dir="/usr/lib/debug")
        assert s.refused("top", profiles=["x.spaa", str(outside / "x.spaa")])
    with Server("--root", inside, "--root", outside, cwd=tmp_path) as s:
        assert "hash" in s.text("top", profile=str(inside / "link.spaa"))
        assert s.refused("top", profile=str(app))


def test_sources_are_shown_from_the_roots_alone(tmp_path):
    """A profile names source files, whoever made it: one in the roots made the tool tell any file of the machine."""
    inside, outside, out = tmp_path / "in", tmp_path / "other", tmp_path / "out"
    for folder in (inside, outside, out):
        folder.mkdir()
        (folder / "a.c").write_text(f"text of {folder.name}\n")
    (inside / "link.c").symlink_to(outside / "a.c")
    rows = [{"type": "header", "format": "spaa", "version": "1.0", "source_tool": "x", "frame_order": "leaf_to_root", "stack_id_mode": "local",
             "events": [{"name": "c", "kind": "hardware", "sampling": {"mode": "period", "primary_metric": "s"}}]},
            {"type": "dso", "id": 1, "name": "/d", "is_kernel": False}]
    files = [outside / "a.c", inside / "link.c", "a.c", "../other/a.c", f"/proc/self/root{outside}/a.c", inside / "a.c"]
    for i, file in enumerate(files):
        rows += [{"type": "frame", "id": i, "func": f"f{i}", "dso": 1, "ip": hex(16 + i), "srcline": f"{file}:1", "kind": "user"},
                 {"type": "stack", "id": i, "frames": [i], "context": {"event": "c"}, "weights": [{"metric": "s", "value": 1}]}]
    (inside / "x.spaa").write_text("".join(json.dumps(r) + "\n" for r in rows))
    with Server("--root", inside, "--out", out, cwd=inside) as s:
        for path in (None, str(outside), str(inside), f"{inside}={outside}", f"/={outside}"):
            for i in range(len(files)):
                said = json.dumps(s.call("annotate", profile="x.spaa", function=f"f{i}", **({"source_path": [path]} if path else {})))
                assert "text of other" not in said, (path, files[i])
                assert ("text of in" in said) or i != 5
            sql = json.dumps(s.call("query", profile="x.spaa", sql=f"SELECT * FROM ask_annotate('f0 --source-path {path or inside}')"))
            assert "text of other" not in sql and ("columns" in sql or "line" in sql)
        s.text("convert", profile="x.spaa", name="e.spaa", embed_source="3")
        kept = (out / "e.spaa").read_text()
        assert "text of in" in kept and "text of other" not in kept
    with Server(cwd=inside) as s:
        assert "text of other" in s.text("annotate", profile="x.spaa", function="f0")


def test_roots_of_a_client(alone, app, tmp_path):
    """Older clients list theirs when they are asked: nothing is opened before, and nothing elsewhere after."""
    folder = tmp_path / "a folder"
    folder.mkdir()
    shutil.copy(app, folder / "x.spaa")

    def tell(folders):
        asked = alone.read()
        assert asked["method"] == "roots/list"
        alone.write({"jsonrpc": "2.0", "id": asked["id"], "result": {"roots": [
            {"uri": "file://" + str(f).replace(" ", "%20")} for f in folders]}})

    alone.initialize(capabilities={"roots": {"listChanged": True}})
    early = alone.start("top", profile=str(folder / "x.spaa"))
    tell([folder])
    assert alone.answer(early)["result"]["isError"] is False
    assert "roots of the client" in alone.refused("top", profile=str(app))
    alone.notify("notifications/roots/list_changed")
    tell([tmp_path])
    assert "hash" in alone.text("top", profile=str(app))
    alone.notify("notifications/roots/list_changed")
    tell([tmp_path / "gone"])
    assert alone.refused("top", profile=str(app)) and alone.refused("top", profile="p1")
    alone.notify("notifications/roots/list_changed")
    tell([])
    assert "hash" in alone.text("top", profile=str(app))


def test_nothing_is_written_but_there(app, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    with Server("--out", out, cwd=tmp_path) as s:
        assert {"flamegraph", "convert"} <= {t["name"] for t in s.result("tools/list")["tools"]}
        assert str(out) in s.text("flamegraph", profile=str(app), name="a.svg")
        assert (out / "a.svg").read_text().startswith("<")
        s.text("convert", profile=str(app), name="a.folded")
        assert "main;parse;hash 70" in (out / "a.folded").read_text()
        for name in ("../a.svg", "/tmp/a.svg", "", ".", "..", ".hidden.svg", "-", "x/y.svg", "a\0b.svg"):
            assert s.refused("flamegraph", profile=str(app), name=name)
        assert "no argument" in s.refused("flamegraph", profile=str(app), name="b.svg", output="/tmp/x.svg")
        assert "no argument" in s.refused("flamegraph", profile=str(app), name="b.svg", diff="/etc/passwd")
        (out / "leads-away.folded").symlink_to(tmp_path / "elsewhere")
        assert s.refused("convert", profile=str(app), name="leads-away.folded")
    assert sorted(os.listdir(out)) == ["a.folded", "a.svg", "leads-away.folded"]
    assert sorted(os.listdir(tmp_path)) == ["app.spaa", "out"]
    with Server(cwd=tmp_path) as s:
        assert code(s.ask("tools/call", {"name": "flamegraph", "arguments": {"profile": str(app), "name": "a.svg"}})) == -32602


@pytest.mark.parametrize("words", [["--root", "nowhere"], ["--out", "nowhere"], ["--memory", "much"], ["x.spaa"],
                                   ["--memory", "-1"], ["--rot", "x"]])
def test_options_that_are_wrong(words, tmp_path):
    said = run("mcp", *words, cwd=tmp_path, code=2)
    assert said.out == "" and said.err


# ---- many calls at a time ----

SLOW = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n, functions"
WORKERS = 8  # at most, calls.h


def test_a_call_that_is_cancelled_is_not_answered(server, app):
    slow = server.start("query", profile=str(app), sql=SLOW)
    waiting = server.start("top", profile=str(app))  # for the same profile
    assert server.result("tools/list")  # it goes on reading
    server.notify("notifications/cancelled", requestId=slow, reason="enough")
    assert server.answer(waiting)["result"]["isError"] is False
    # One for each worker, whatever their number: what comes behind them waits, and no worker can be quicker.
    blocked = [server.start("query", profile=str(app), sql=SLOW) for _ in range(WORKERS)]
    never = [server.start("top", profile=str(app)) for _ in range(10)]
    for id in never + blocked + [999, "no such call"]:
        server.notify("notifications/cancelled", requestId=id)
    server.notify("notifications/cancelled")
    assert "hash" in server.text("top", profile=str(app))
    assert not {slow, *blocked, *never} & {m.get("id") for m in server.rest()}


def test_progress(server, tmp_path):
    path = tmp_path / "large.folded"
    path.write_text("".join("main;f%d;g%d %d\n" % (i % 977, i, i % 9 + 1) for i in range(400000)))
    id = server.send("tools/call", {"name": "top", "arguments": {"profile": str(path)}}, token="t/1")
    other = server.send("tools/call", {"name": "top", "arguments": {"profile": str(path)}})
    assert server.answer(id)["result"]["isError"] is False and server.answer(other)
    heard = [m["params"] for m in server.kept if m.get("method") == "notifications/progress"]
    assert heard and all(h["progressToken"] == "t/1" and h["message"] for h in heard)
    numbers = [h["progress"] for h in heard]
    assert numbers == sorted(set(numbers))


def test_calls_at_the_same_time(server, tmp_path):
    """Whatever runs beside it, a call is answered as if it ran alone."""
    for i in range(6):
        (tmp_path / ("%d.folded" % i)).write_text("".join("main;f%d_%d %d\n" % (i, k, k + 1) for k in range(200)))
    calls = [(tool, {"profile": "%d.folded" % i, "budget": 0, **more}) for i in range(6)
             for tool, more in (("top", {}), ("top", {"by": "cpu"}), ("tree", {}), ("summary", {}),
                                ("query", {"sql": "SELECT * FROM functions"}),
                                ("function", {"function": "f%d_199" % i}), ("top", {"format": "json"}))]
    calls += [("diff", {"base": ["%d.folded" % i], "new": ["%d.folded" % ((i + 1) % 6)], "budget": 0}) for i in range(6)]

    def normal(message):
        text = message["result"]["content"][0]["text"]
        return re.sub(r'\bp\d+ is .*\n|"p\d+"', "", text), message["result"]["isError"]

    alone = [normal(server.answer(server.start(tool, **given))) for tool, given in calls]
    for _ in range(3):
        ids = [server.start(tool, **given) for tool, given in calls]
        for k in range(0, len(ids), 9):
            server.notify("notifications/cancelled", requestId="%d" % ids[k])  # a text is another id
        assert [normal(server.answer(id)) for id in ids] == alone


def test_too_many_calls_are_refused(server, app):
    blocked = [server.start("query", profile=str(app), sql=SLOW) for _ in range(300)]
    found = server.answer(blocked[-1])
    assert code(found) == -32603 and "too many" in found["error"]["message"]
    for id in blocked:
        server.notify("notifications/cancelled", requestId=id)
    assert "hash" in server.text("top", profile=str(app))


def found(server, tool, **arguments):
    return server.call(tool, format="json", **arguments)["structuredContent"]


def test_growth_in_windows_is_known(server, tmp_path):
    path = tmp_path / "app.heaptrack"
    path.write_bytes(gen_heaptrack.Trace(1, events=4000).interpreted())
    mine, theirs = found(server, "leaks", profile=str(path)), ask("leaks", path)
    assert mine["growth_from"] == theirs["growth_from"] == "windows"
    quarters = {r["id"]: r["live_bytes_by_quarter"] for r in theirs["rows"]}
    assert mine["rows"] and all(r["live_bytes_by_quarter"] == quarters[r["id"]] for r in mine["rows"])


def test_commands_in_answers_are_calls(server, tmp_path):
    path = tmp_path / "alloc.folded"
    path.write_text("main;work;malloc 700\nmain;work 300\n")
    findings = found(server, "summary", profile=str(path))["findings"]
    assert findings and all(f["command"] is None or re.match(r"\w+ \{\"p", f["command"]) for f in findings), findings


def test_a_changed_file_is_told_in_json(server, tmp_path):
    path = tmp_path / "a.folded"
    path.write_text("main;a 10\n")
    assert "read_again" not in found(server, "top", profile=str(path))
    before = path.stat()
    path.write_text("main;b 10\n")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    changed = found(server, "top", profile=str(path))
    assert changed["read_again"] == [str(path)] and changed["rows"][0]["function"] == "b"


def test_limits_say_what_shows_more(server, tmp_path):
    path = tmp_path / "many.folded"
    path.write_text("".join("main;f%d %d\n" % (i, 50 - i) for i in range(30)))
    assert "limit 0 shows all" in server.text("top", profile=str(path), limit=1, budget=5000)
    assert "a larger budget shows more" in server.text("top", profile=str(path), limit=20, budget=100)


def test_arguments_that_are_too_long(server, app):
    said = server.refused("top", profile=str(app), focus="x" * (10 << 20))
    assert "focus" in said and "64 KiB" in said and len(said) < 200
    assert len(server.refused("top", profile="/" + "x" * (10 << 20))) < 300
    assert "1 MiB" in server.refused("query", profile=str(app), sql="SELECT " + "1+" * (1 << 20) + "1")


def test_open_reads_times_off_the_cpu(alone, tmp_path):
    path = tmp_path / "off.folded"
    path.write_text("app;main;read;[k]schedule 2500000\n")
    handle = re.search(r"^(p\d+) ", alone.text("open", path=str(path), off_cpu="us"), re.M).group(1)
    assert "2.50 s" in alone.text("waits", profile=handle)
    assert "ns, us, ms or s" in alone.refused("open", path=str(path), off_cpu="hours")
    assert "no argument" in alone.refused("waits", profile=handle, off_cpu="us")
