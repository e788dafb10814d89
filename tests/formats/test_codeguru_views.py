"""Views and thread states of CodeGuru profiles."""

import collections
import json
import shlex

import pytest

import gen_codeguru as gen
from codeguru_kit import back, stacks, to_spaa
from conftest import ask, run


VIEWS = {"cpu": lambda s: s in gen.CPU, "latency": lambda s: s != "IDLE", "all": lambda s: True}


def kept(cells, view=None, state=None):
    fits = (lambda s: s in state.split(",")) if state else VIEWS[view or "cpu"]
    return {k: int(v) for k, v in cells.items() if fits(k[1])}


def test_the_default_view_has_something(tmp_path):
    def file(name, counts):
        (tmp_path / name).write_text(json.dumps({"callgraph": {"children": {"f": {"counts": counts}}}}))
        return tmp_path / name
    cpu, off, idle = file("cpu", {"NATIVE": 1, "WAITING": 5}), file("off", {"WAITING": 7, "IDLE": 3}), \
        file("idle", {"IDLE": 2})
    for path, view, total in (cpu, "cpu", 1), (off, "latency", 7), (idle, "all", 2):
        answer = ask("top", path)
        assert (answer["profile"]["view"], answer["whole"]) == (view, total)
    assert ask("top", off, "--view", "cpu")["whole"] == 0
    answer = ask("diff", cpu, file("both", {"NATIVE": 3, "WAITING": 1}))
    assert (answer["base"]["whole"], answer["new"]["whole"]) == (1, 3)
    answer = ask("diff", off, cpu) # one view for both
    assert (answer["base"]["whole"], answer["new"]["whole"]) == (7, 6)


@pytest.mark.parametrize("options", [{}, {"view": "cpu"}, {"view": "latency"}, {"view": "all"}, {"state": "IDLE"},
                                     {"state": "WAITING,NATIVE"}, {"state": "RUN_QUEUE"}, {"state": "IDLE,my state,"}], ids=str)
def test_views_of_every_command(options, tmp_path):
    """The description's table; counters that it does not know are in latency and in lists."""
    top = gen.profile(11, odd=False, nodes=150, states=gen.STATES + ["RUN_QUEUE", "my state", "runnable"])
    path = tmp_path / "x.codeguru.json"
    path.write_text(gen.text(top, 1))
    as_spaa = tmp_path / "x.spaa"
    run("convert", path, "-o", as_spaa, code=0)
    want = kept(gen.cells(top), **options)
    flags = [x for k, v in options.items() for x in ("--" + k, v)]
    flat, cum = collections.Counter(), collections.Counter()
    for (p, _), v in want.items():
        flat[p[-1] if p else "[no stack]"] += v
        for name in set(p) or {"[no stack]"}:
            cum[name] += v
    for file in (path, as_spaa):
        answer = ask("top", file, "-n", "0", *flags)
        assert answer["whole"] == sum(want.values())
        assert answer["profile"]["view"] == ("custom" if "state" in options else options.get("view", "cpu"))
        assert answer["profile"]["event_whole"] == sum(int(v) for v in gen.cells(top).values())
        assert {r.get("function", r.get("name")): (r["self"], r["total"]) for r in answer["rows"]} == {n: (flat[n], cum[n]) for n in cum}
        assert ask("tree", file, "--min-percent", "0", "-n", 0, *flags)["nodes"][0]["total"] == sum(want.values())
        assert ask("summary", file, *flags)["whole"] == sum(want.values())
        svg = run("flamegraph", file, "-o", "-", *flags, code=0).out
        assert "{:,}".format(sum(want.values())) in svg
        if not options:  # a view that nobody asked for is named, with what shows all
            assert "(--view all)" in svg and "(--view all)" in run("top", file, *flags).out
        by_state = ask("top", file, "--by", "state", *flags)["rows"]
        split = collections.Counter()
        for (_, s), v in (want if options else kept(gen.cells(top), "all")).items():
            split[s] += v
        assert {r["name"]: r["self"] for r in by_state} == split


def test_an_empty_counter_name_is_one_that_the_table_does_not_know():
    text = '{"agentMetadata":{},"callgraph":{"counts":{"":5,"RUNNABLE":2}}}'
    assert ask("top", "-", stdin=text)["whole"] == 2
    assert ask("top", "-", "--view", "latency", stdin=text)["whole"] == 7


def test_states_can_be_left_out():
    text = '{"agentMetadata":{},"callgraph":{"children":{"a":{"counts":{"IDLE":5,"RUNNABLE":2}}}}}'
    records, raw = to_spaa(text, "--group-by", "none")
    assert stacks(records) == {(("a",), None): "7"}
    assert json.loads(back(raw))["callgraph"] == {"children": {"a": {"counts": {"WALL_TIME": 7}}}}


def test_labels_that_can_be_asked_for_are_named(tmp_path):
    text = ('{"agentMetadata":{"agentInfo":{"type":"a"},"fleetInfo":{"fleetInstanceId":"i-%d"}},'
            '"callgraph":{"children":{"f":{"counts":{"RUNNABLE":2}}}}}')
    paths = [tmp_path / f"{i}.codeguru.json" for i in (1, 2)]
    for i, path in enumerate(paths):
        path.write_text(text % i)
    for inputs in (paths[:1], paths):
        for how in (["--by", "label:region"], ["--label", "region=x"], ["--tagroot", "region"]):
            assert "there are agent, fleet_instance" in run("top", *inputs, *how, code=1).err
        assert "did you mean fleet_instance" in run("top", *inputs, "--by", "label:fleet_instanse", code=1).err
    assert {r["name"] for r in ask("top", *paths, "--by", "label:fleet_instance")["rows"]} == {"i-0", "i-1"}
    run("merge", *paths, "-o", tmp_path / "m.spaa", code=0)
    hint = "--group-by state,label:fleet_instance"
    assert hint in run("top", tmp_path / "m.spaa", "--by", "label:fleet_instance", code=1).err
    run("merge", *paths, *hint.split(), "-o", tmp_path / "m.spaa", code=0)
    assert {r["name"] for r in ask("top", tmp_path / "m.spaa", "--by", "label:fleet_instance")["rows"]} == {"i-0", "i-1"}


def test_a_state_of_several_that_is_nowhere_is_told():
    text = '{"start":1,"end":2,"agentMetadata":{},"callgraph":{"children":{"f":{"counts":{"RUNNABLE":1,"WAITING":2}}}}}'
    said = run("top", "-", "--state", "RUNNABLE,NOPE", stdin=text, code=0)
    assert "a filter fits nothing: --state NOPE" in said.out and said.out.count("SPAA-W611") == 1
    both = run("top", "-", "--state", " RUNNABLE , WAITING", stdin=text, code=0)
    assert "W611" not in both.out + both.err and "keeps all" in both.out
    assert "W611" not in run("top", "-", "--state", "NOPE,NONE", stdin=text, code=1).err


STATES_TEXT = '{"start":1,"end":2,"agentMetadata":{},"callgraph":{"children":{"f":{"counts":{"RUNNABLE":1,"WAITING":2,"IDLE":4}}}}}'


@pytest.mark.parametrize("command", ["top", "tree", "waits", "convert", "flamegraph"])
def test_a_view_and_states_are_not_asked_for_at_once(command, tmp_path):
    out = ["-o", tmp_path / ("out.svg" if command == "flamegraph" else "out.spaa")] if command in ("convert", "flamegraph") else []
    said = run(command, "-", "--view", "cpu", "--state", "IDLE", *out, stdin=STATES_TEXT, code=2).err
    assert "--view and --state exclude each other" in said and "drop --view" in said


def test_commands_that_answers_name_have_one_of_view_and_states(tmp_path):
    (tmp_path / "p.codeguru.json").write_text(STATES_TEXT)
    for how in (["--state", "WAITING"], ["--view", "latency"]):
        for command in ask("waits", tmp_path / "p.codeguru.json", *how)["next"]:
            words = command["command"] if isinstance(command, dict) else command
            assert words.count("--view") + words.count("--state") <= 1
            run(*shlex.split(words)[1:], code=0)
