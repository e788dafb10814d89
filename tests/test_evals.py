"""evals/: the keys of its questions, and a whole run with agents, tools and a server that are scripts. No recording is made."""

import contextlib
import io
import json
import os
import subprocess
import sys

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
EVALS = os.path.join(ROOT, "evals")
HERE = os.path.join(ROOT, "tests", "evals")
sys.path.insert(0, EVALS)

import counted  # noqa: E402
import peers  # noqa: E402
import run as runner  # noqa: E402
import scoring  # noqa: E402

ALL = scoring.all_questions()
TINY = [
    {"id": "name", "files": ["a.txt"], "question": "Which one?", "name": {"is": r"\balpha\b", "not": r"\bbeta\b"}},
    {"id": "both", "files": ["a.txt", "sub/b.txt"], "question": "From where to where?", "within": 0.5},
    {"id": "dark", "files": ["a.txt"], "question": "What is not in it?", "cannot": True},
    {"id": "deep", "files": ["a.txt"], "question": "What else is not in it?", "cannot": True},
    {"id": "gone", "files": ["not-recorded"], "question": "Nobody asks this."},
]


# ---- the keys ----

def test_questions_are_twenty_and_say_why():
    assert len(ALL) == len({q["id"] for q in ALL}) == 20
    assert sum(bool(q.get("cannot")) for q in ALL) == 5
    for q in ALL:
        assert q["why"] and q["files"] and q["id"] in peers.CHECKS, q["id"]
        assert bool(q.get("cannot")) != bool("name" in q or "within" in q), q["id"]
        assert "name" not in q or (q["right"] and q["wrong"]), q["id"]


@pytest.mark.parametrize("q", [q for q in ALL if "name" in q], ids=lambda q: q["id"])
def test_keys_accept_what_is_right_and_refuse_what_is_wrong(q):
    words = {member: q[member] for member in q if member != "within"}
    for text in q["right"]:
        assert scoring.verdict(words, {"answer": text}, {}) == "right", text
    for text in q["wrong"]:
        assert scoring.verdict(words, {"answer": text}, {}) == "wrong", text


def test_verdicts():
    q = {"id": "q", "within": 1, "name": {"is": "foo", "not": "bar"}}
    say = lambda given, truths={"q": 10.0}: scoring.verdict(q, given, truths)
    assert say({"answer": "foo", "number": 10.9}) == "right"
    assert say({"answer": "foo, not bar", "number": "9.5"}) == "right"
    assert say({"answer": "bar, not foo", "number": 10}) == "wrong"
    assert say({"answer": "foo", "number": 11.1}) == say({"answer": "foo"}) == say({"answer": "foo", "number": "ten"}) == "wrong"
    assert say({"answer": "foo", "number": float("nan")}) == say({"answer": "foo", "number": "10 or 90"}) == "wrong"
    assert say({"answer": "foo", "number": "~10.5 %"}) == say({"answer": "foo", "number": "9.5x"}) == "right"
    assert say({"answer": "foo", "number": 10}, {}) == "wrong"
    assert say({"answer": "foo", "number": 10, "cannot": True}) == "wrong abstention"
    assert say(None) == say({}) == say({"answer": "", "cannot": False}) == say("foo") == "none"
    two = {"id": "q", "within": 1}
    assert scoring.verdict(two, {"number": 4, "number2": 6.1}, {"q": [4.0, 6.0]}) == "right"
    assert scoring.verdict(two, {"number": 4, "number2": 8}, {"q": [4.0, 6.0]}) == "wrong"
    cannot = {"id": "q", "cannot": True}
    assert scoring.verdict(cannot, {"answer": "between 1 and 90 %", "cannot": True}, {}) == "right abstention"
    assert scoring.verdict(cannot, {"answer": "14"}, {}) == scoring.verdict(cannot, {"answer": "14", "cannot": "no"}, {}) == "invented"


def test_percentile_is_the_nearest_rank():
    assert scoring.percentile([1] * 9 + [7], 0.9) == 1
    assert scoring.percentile([1] * 8 + [7, 8], 0.9) == 7
    assert scoring.percentile([3], 0.9) == 3


def test_answers_that_were_printed():
    text = 'I {think}: {"a": 1}\n{"q": {"answer": "x", "cannot": false}} and so {"r": {"cannot": true}} {'
    assert runner.printed_answers(text) == {"r": {"cannot": True}}
    assert runner.printed_answers("nothing {} here") is None


# ---- what is true: with the peers' tools saying what they are told to ----

def switch(time, off, state, on):
    return f" {time:.6f}: sched:sched_switch: prev_comm={off[0]} prev_pid={off[1]} prev_prio=120 prev_state={state} ==> " \
           f"next_comm={on[0]} next_pid={on[1]} next_prio=120\n"


def stall(preempted):
    """Two stops of twelve threads, of 0.2 s; the refresher waits for a CPU meanwhile, or for something else."""
    text, idle, fresh = "", ("swapper/0", 0), ("refresher", 99)
    for began in (1.0, 2.0):
        text += "".join(switch(began + n / 1e4, (f"http-{n}", n + 1), "S", idle) for n in range(12))
        text += switch(began + 0.05, fresh, "R" if preempted else "S", ("sh", 500)) + switch(began + 0.15, ("sh", 500), "R", fresh)
        text += "".join(switch(began + 0.2 + n / 1e4, idle, "R", (f"http-{n}", n + 1)) for n in range(12))
    return text


def test_who_is_waited_for(monkeypatch):
    monkeypatch.setattr(peers, "out", lambda *_: stall(True))
    assert "12 http-* off 200 ms, refresher 100 of it preempted" in peers.holder("x")
    monkeypatch.setattr(peers, "out", lambda *_: stall(False))
    with pytest.raises(peers.Untrue):
        peers.holder("x")


@pytest.mark.parametrize("name,types,sound", [
    ("cycles:P", "IP|TID|TIME|CALLCHAIN|PERIOD", True), ("cpu-clock:ppp", "IP|TID|TIME|CALLCHAIN|PERIOD|REGS_USER|STACK_USER", False),
    ("syscalls:sys_enter_write", "IP|TID|TIME|RAW", False), ("sched:sched_switch", "IP|TID|TIME", False)])
def test_what_cannot_be_known(monkeypatch, name, types, sound):
    monkeypatch.setattr(peers, "out", lambda *_: f"{name}: type: 1, size: 136, sample_type: {types}, disabled: 1\n")
    for find in (peers.write_size, peers.waited, peers.wrong_kind):
        if sound:
            assert types in find("x")
        else:
            with pytest.raises(peers.Untrue):
                find("x")


def test_samples_of_perf(monkeypatch):
    text = "my prog 12 3.500000: \n\t 12ab f(int) (/bin/x)\n\t 7f [unknown] ([vdso])\n\nmy prog 12 4.0: \n\t 1 f(int) (/bin/x)\n\n"
    monkeypatch.setattr(peers, "out", lambda *_: text)
    first, second = peers.samples("x")
    assert first == ("my prog", 12, 3.5, [(0x12ab, "f(int)", "/bin/x"), (0x7f, "[unknown]", "[vdso]")]) and second.time == 4
    assert peers.percent("x", peers.has(r"\[unknown\]")) == (50, 2) and peers.percent("x", peers.has("f")) == (0, 2)


@pytest.mark.parametrize("tue,sound", [((100, 104, 97), True), ((103, 104, 103), True), ((110, 112, 111), False), ((150, 90, 150), False)])
def test_noise_that_is_none(monkeypatch, tue, sound):
    mon = (100, 101, 102)
    counts = {f"nightly-{day}-{n}": c for day, side in (("mon", mon), ("tue", tue)) for n, c in enumerate(side, 1)}
    monkeypatch.setattr(peers, "leaves", lambda path: peers.collections.Counter(f=counts[os.path.basename(path).split(".")[0]], g=300))
    if sound:
        assert "f x" in peers.noise("x")
    else:
        with pytest.raises(peers.Untrue):
            peers.noise("x")


def test_percentages_of_pprof(monkeypatch):
    rows = "      flat  flat%   sum%        cum   cum%\n     0.03s  1.18% 22.35%      0.18s  7.06%  main.makeBasket\n" \
           "         0     0%  4.11%  4112.90kB 72.01%  main.deepCopy (inline)\n  -0.5MB -2.1% 1%  -3MB -12.5%  main.(*T).f\n"
    monkeypatch.setattr(peers, "out", lambda *_: rows)
    assert peers.cumulative("x") == {"main.makeBasket": 7.06, "main.deepCopy (inline)": 72.01, "main.(*T).f": -12.5}


# ---- whole runs ----

@pytest.fixture
def bench(tmp_path, monkeypatch):
    """A folder of recordings with truths, and a way to call run.py (within this process: its start takes most of the time)."""
    folder = tmp_path / "recorded"
    (folder / "sub").mkdir(parents=True)
    (folder / "a.txt").write_text("alpha 7\nbeta 3\n")
    (folder / "sub" / "b.txt").write_text("from 1 to 2\n")
    (folder / "truths.json").write_text('{"both": [1.0, 2.0]}')
    (tmp_path / "q.json").write_text(json.dumps(TINY))
    monkeypatch.chdir(tmp_path)

    def call(*args, code=0):
        monkeypatch.setattr(sys, "argv", ["run.py", "--questions", str(tmp_path / "q.json"), *map(str, args)])
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            try:
                done = runner.main() or 0
            except SystemExit as why:
                done = why.code if isinstance(why.code, int) else 1
        assert done == code, printed.getvalue()
        return printed.getvalue()
    call.folder, call.tmp = folder, tmp_path
    return call


def act(bench, run, commands, answers, **more):
    script = bench.tmp / "script.json"
    script.write_text(json.dumps({"commands": commands, "answers": answers, **more}))
    bench("agent", run, "--", sys.executable, os.path.join(HERE, "agent.py"), script)


def cells(table, name):
    line = next(x for x in table.splitlines() if x.startswith(f"| {name} |"))
    return [c.strip() for c in line.strip("|").split("|")][1:]


def spaa_and_peers(bench):
    skill = bench.tmp / "skill"
    skill.mkdir()
    (skill / "SKILL.md").write_text("x" * 99 + "\n")
    # cat plays spaa's part.
    bench("prepare", "recorded", "ours", "--side", "spaa", "--spaa", "/bin/cat", "--skill", skill)
    bench("prepare", "recorded", "theirs", "--side", "peers")
    act(bench, "ours", [["setup", "spaa skill/SKILL.md"], ["name", "spaa a.txt"], ["both", "spaa sub/b.txt"], ["both", "exit 3"]],
        {"name": {"answer": "alpha"}, "both": {"answer": "", "number": 1, "number2": 2.2}, "dark": {"cannot": True},
         "deep": {"answer": "gamma"}})
    act(bench, "theirs", [["setup", "echo hi"], ["name", "head -c 5 a.txt; cat /etc/passwd >/dev/null"]],
        {"name": {"answer": "beta"}, "both": {"cannot": True}}, prints=True)


def test_one_table_for_both_sides(bench):
    spaa_and_peers(bench)
    table = bench("score", "recorded", "ours", "theirs")
    ours, theirs = cells(table, "name")[:5], cells(table, "name")[5:]
    assert ours[:3] == ["right", "1", "14"] and theirs[:3] == ["wrong", "1", "5"]
    assert cells(table, "both")[:3] == ["right", "2", "11"] and cells(table, "both")[5] == "wrong abstention"
    assert [cells(table, "dark")[0], cells(table, "deep")[0]] == ["right abstention", "invented"]
    assert cells(table, "dark")[5] == "none" and "gone" not in table
    expected = {
        "right, of all": ["3 of 4 (75 %)", "0 of 4 (0 %)"], "right answers": ["2", "0"], "right abstentions": ["1", "0"],
        "wrong abstentions": ["0", "1"], "wrong answers": ["0", "1"], "confident answers where the data cannot tell": ["1", "0"],
        "no answer": ["0", "2"], "calls": ["4, 1 for no question", "2, 1 for no question"],
        "calls a question: median, p90": ["0.5, 2", "0, 1"], "bytes of answers, help and errors": ["25", "7"],
        "bytes of tool schemas": ["0", "0"], "bytes of skill text": ["100", "0"], "bytes, all": ["125", "7"],
        "bytes a question": ["31", "2"],
    }
    assert {name: cells(table, name) for name in expected} == expected
    assert all(float(x) >= 0 for x in cells(table, "seconds from the agent's start to its first output"))
    assert "! theirs, name: looks outside its folder: head -c 5 a.txt; cat /etc/passwd" in table and "! ours" not in table


def test_transcripts(bench):
    spaa_and_peers(bench)
    text = bench("transcript", "ours", "both")
    assert "From where to where?" in text and "$ spaa sub/b.txt    # 11 bytes" in text and "from 1 to 2\n" in text and "exit 3" in text
    assert 'answer: {"answer": "", "number": 1, "number2": 2.2}' in text
    bench("transcript", "ours", "never", code=1)
    two = bench("worst", "recorded", "ours")
    assert two.index("## deep: invented") < two.index("## name: right") and two.count("## ") == 2
    assert bench("worst", "recorded", "theirs", 1).startswith("## name: wrong")


def test_agents_see_neither_answers_nor_sources(bench):
    bench("prepare", "recorded", "r", "--side", "peers")
    found = {os.path.relpath(os.path.join(d, f), bench.tmp / "r") for d, _, files in os.walk(bench.tmp / "r") for f in files}
    assert {f for f in found if not f.startswith("tools/")} == {"a.txt", "sub/b.txt", "t", "prompt.md"}
    assert "spaa" not in (bench.tmp / "r" / "prompt.md").read_text() and not os.path.exists(bench.tmp / "r" / "tools" / "spaa")
    done = subprocess.run(["./t", "name", "type spaa; echo $PATH"], cwd=bench.tmp / "r", capture_output=True, text=True, check=False)
    assert "not found" in done.stdout and str(bench.tmp / "r" / "tools") in done.stdout.splitlines()[-1].split(":")


def server_runs(folder):
    counted.FOLDER = str(folder)
    with open("/proc/net/unix", encoding="utf-8") as f:
        return counted.door_name().replace("\0", "@") in f.read()


@pytest.mark.parametrize("era", ["modern", "legacy"])
def test_tools_of_a_server(bench, era):
    server = ["--server", sys.executable, os.path.join(HERE, "fake_mcp.py"), era]
    bench("prepare", "recorded", "m", "--side", "mcp", "--spaa", "/bin/cat", *server)
    assert json.loads((bench.tmp / "m.run.json").read_text())["era"] == era
    act(bench, "m", [["name", "echo", '{"é": 1}'], ["name", "echo", "[1]"], ["dark", "fail", "{}"], ["dark", "echo"],
                      ["setup", "fake://schema/echo"]],
        {"name": {"answer": "alpha"}, "dark": {"cannot": True}})
    log = [json.loads(line) for line in (bench.tmp / "m.log.jsonl").read_text().splitlines()]
    assert [(x["question"], x["command"], x["code"]) for x in log] == [
        ("name", 'echo {"é": 1}', 0), ("name", "echo [1]", 1), ("dark", "fail {}", 1), ("dark", "echo {}", 0),
        ("setup", "fake://schema/echo", 0)]
    # One server for all calls, and none afterwards.
    assert json.loads(log[0]["output"]) == {"é": 1, "call": 1} and json.loads(log[3]["output"]) == {"call": 3}
    assert not server_runs(bench.tmp / "m")
    assert log[4]["output"] == "all of fake://schema/echo" and "not a JSON object" in log[1]["output"] and "no such file" in log[2]["output"]
    table = bench("score", "recorded", "m")
    schemas = int(cells(table, "bytes of tool schemas")[0])
    printed = subprocess.run(["./t", "setup", "tools"], cwd=bench.tmp / "m", capture_output=True, text=True, check=True).stdout
    assert printed.startswith("Ask echo.\n[{") and len(printed.rstrip("\n").encode()) == schemas
    assert [t["name"] for t in json.loads(printed.split("\n", 1)[1])] == ["echo", "fail"]
    # Read once or a hundred times: what was read is counted, and once at least.
    assert cells(bench("score", "recorded", "m"), "bytes of tool schemas") == [str(schemas)]
    subprocess.run(["./t", "setup", "tools"], cwd=bench.tmp / "m", capture_output=True, check=True)
    assert cells(bench("score", "recorded", "m"), "bytes of tool schemas") == [str(2 * schemas)]


def test_a_skill_without_a_shell(bench):
    (bench.tmp / "skill" / "references").mkdir(parents=True)
    (bench.tmp / "skill" / "SKILL.md").write_text("Ask echo first.")
    (bench.tmp / "skill" / "references" / "more.md").write_text("Then fail.")
    server = ["--server", sys.executable, os.path.join(HERE, "fake_mcp.py"), "modern"]
    bench("prepare", "recorded", "k", "--side", "mcp", "--spaa", "/bin/cat", "--skill", "skill", *server)
    assert cells(bench("score", "recorded", "k"), "bytes of skill text") == ["15"]
    act(bench, "k", [["setup", "skill"], ["setup", "skill", "references/more.md"], ["setup", "skill", "../t"]], {})
    log = [json.loads(line) for line in (bench.tmp / "k.log.jsonl").read_text().splitlines()]
    assert [x["output"] for x in log] == ["Ask echo first.", "Then fail.", "there is no skill/../t"]
    assert cells(bench("score", "recorded", "k"), "bytes of skill text") == [str(15 + 10 + 22)]


def test_a_client_of_mcp_is_counted_as_it_passes(bench):
    server = ["--server", sys.executable, os.path.join(HERE, "fake_mcp.py"), "legacy"]
    bench("prepare", "recorded", "c", "--side", "mcp", "--client", "--spaa", "/bin/cat", *server)
    assert "./t" not in (bench.tmp / "c" / "prompt.md").read_text()
    entry = json.loads((bench.tmp / "c" / "mcp.json").read_text())["mcpServers"]["spaa"]
    asks = [{"id": 1, "method": "initialize"}, {"method": "notifications/initialized"}, {"id": 2, "method": "tools/list"},
            {"id": "x", "method": "tools/call", "params": {"name": "echo", "arguments": {"a": 1}}}]
    done = subprocess.run([entry["command"], *entry["args"]], input="".join(json.dumps(a) + "\n" for a in asks), text=True,
                          capture_output=True, timeout=30, check=True)
    assert [a["id"] for a in map(json.loads, done.stdout.splitlines()) if "id" in a] == [1, 2, "x"]
    log = [json.loads(line) for line in (bench.tmp / "c.log.jsonl").read_text().splitlines()]
    assert [(x["question"], x["command"], x["bytes"]) for x in log][1] == ("client", 'echo {"a": 1}', 19) and log[0]["schema"]


def test_a_server_that_dies_is_said(bench):
    server = ["--server", "/bin/true"]
    done = subprocess.run([os.path.join(EVALS, "run.py"), "--questions", bench.tmp / "q.json", "prepare", bench.folder, bench.tmp / "d",
                           "--side", "mcp", "--spaa", "/bin/cat", *server], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1 and "no server of MCP: /bin/true" in done.stderr and "Traceback" not in done.stderr
    assert not (bench.tmp / "d").exists()
