"""convert with filters: what is written has the answers that the filters have on the input."""

import pytest

import profiles
from conftest import ask, run
from profiles import Profile

FILTERS = [{"pid": "10"}, {"comm": "w1"}, {"thread": "w0"}, {"dso": "lib"}, {"focus": "fn1"}, {"ignore": "fn1"}, {"hide": "fn3"},
           {"root-at": "fn2"}, {"user": ""}, {"kernel": ""}, {"merge-inlined": ""}, {"time": "1..2.5"},
           {"time": "0.25..", "focus": "fn1", "hide": "fn4"}, {"state": "RUNNABLE"}, {"state": "WAITING,IDLE"}, {"view": "latency"},
           {"view": "all"}, {"view": "cpu", "root-at": "fn1", "merge-inlined": ""}]
KINDS = {"plain": {}, "decimals": {"decimals": True}, "states": {"states": True}, "linked": {"linked": True},
         "all": {"decimals": True, "states": True, "linked": True}}


def options(filters):
    return [x for k, v in filters.items() for x in ["--" + k, v] if x]


def rows(answer):
    return sorted((r["name"] if "name" in r else r["function"], r.get("dso") or "", r["self"], r["total"], r["samples"])
                  for r in answer["rows"])


def errors(path):
    return {f["code"] for f in ask("validate", path, code=None)["findings"] if f["severity"] == "error"}


@pytest.fixture(params=sorted(KINDS))
def file(request, tmp_path):
    path = tmp_path / "p.spaa"
    path.write_text(profiles.random_text(7, stacks=60, samples=300, **KINDS[request.param]))
    return path


@pytest.mark.parametrize("filters", FILTERS, ids=str)
def test_the_result_has_the_answers_of_the_filters(file, filters, tmp_path):
    out = tmp_path / "out.spaa"
    for event in Profile(file.read_text()).primary:
        asked = ["--event", event, *options(filters), *([] if {"view", "state"} & set(filters) else ["--view", "all"])]
        want = run("top", file, "-n", 0, "--json", *asked)
        answer = run("convert", file, "-o", out, "--event", event, *options(filters))
        assert answer.code == want.code
        if want.code:
            continue
        assert "SPAA-I608" in answer.err and "of event " + event in answer.err
        assert errors(out) <= errors(file)
        got = ask("top", out, "-n", 0, "--event", event, "--view", "all")
        for have, asked_for in zip(rows(got), rows(ask("top", file, "-n", 0, *asked)), strict=True):
            assert have[:4] == asked_for[:4] and have[4] in (None, asked_for[4])
        assert got["whole"] == ask("top", file, *asked)["kept"]


@pytest.mark.parametrize("to", ["folded", "pprof", "perf-script", "dtrace", "codeguru", "sample"])
def test_in_every_format(to, tmp_path):
    context = {"pid": 7, "tid": 7, "comm": "app", "event": "cycles"}
    path, out = tmp_path / "in.spaa", tmp_path / "out"
    path.write_text(profiles.text([(["a", "main"], {"samples": 1, "period": 100}, context),
                                   (["b", "main"], {"samples": 3, "period": 700}, context),
                                   (["a", "main"], {"samples": 9, "period": 5}, {**context, "pid": 8, "tid": 8, "comm": "no"})]))
    run("convert", path, "--to", to, "-o", out, "--pid", 7, "--hide", "main", code=0)
    shares = {r["function"]: r["self_percent"] for r in ask("top", out)["rows"] if r["self"]}
    assert shares == {"a": 12.5, "b": 87.5}


def test_what_is_not_kept_is_gone(tmp_path):
    path, out = tmp_path / "in.spaa", tmp_path / "out.spaa"
    path.write_text(profiles.text([([{"func": "a", "dso": "/bin/a"}], 1, {"pid": 7, "tid": 7, "comm": "app"}),
                                   ([{"func": "b", "dso": "/bin/b"}], 2, {"pid": 8, "tid": 8, "comm": "no"})]))
    run("convert", path, "-o", out, "--pid", 7, code=0)
    assert "/bin/b" not in out.read_text() and '"no"' not in out.read_text()


def test_filters_go_before_the_grouping(tmp_path):
    path = tmp_path / "in.spaa"
    path.write_text(profiles.text([(["a"], 1, {"pid": 7, "tid": 7, "comm": "app"}), (["a"], 2, {"pid": 8, "tid": 8, "comm": "no"})]))
    assert run("convert", path, "--to", "folded", "-o", "-", "--pid", 8, "--group-by", "none", code=0).out == "a 2\n"


def test_refused(tmp_path):
    path = tmp_path / "in.spaa"
    path.write_text(profiles.text([(["a"], 1, {"pid": 7, "tid": 7, "comm": "app"})]))
    for filters in FILTERS:
        answer = run("convert", path, "-o", tmp_path / "x.spaa", "--lossless", *options(filters), code=2)
        assert "--lossless" in answer.err
    assert "there is only app" in run("convert", path, "-o", "-", "--to", "folded", "--comm", "nobody", code=1).err
    run("convert", path, "-o", "-", "--to", "folded", "--focus", "(", code=2)
    run("convert", path, "-o", "-", "--to", "folded", "--time", "0..1", code=2)
