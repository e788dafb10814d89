"""Formats with one number for each stack hold the weight that views show, unless another one is asked for."""

import pytest

import profiles
from conftest import ask, run

ONE_NUMBER = ["folded", "dtrace", "bpftrace", "codeguru", "spindump", "sample", "speedscope", "firefox"]
FORMATS = ONE_NUMBER + ["pprof", "perf-script", "spaa"]
# Nine samples of ten, but a tenth of the cycles: what is rare runs long.
STACKS = [(["often", "main"], {"samples": 9, "period": 1000}, {"pid": 7, "tid": 7, "comm": "app", "event": "cycles"}),
          (["rare", "main"], {"samples": 1, "period": 9000}, {"pid": 7, "tid": 7, "comm": "app", "event": "cycles"})]


def shares(path, *more):
    return {r["function"].split(" (")[0]: r["self_percent"] for r in ask("top", path, "--json", *more)["rows"] if r["self"]}


@pytest.mark.parametrize("to", FORMATS)
def test_shares_are_those_of_the_profile(to, tmp_path):
    path, out = tmp_path / "in.spaa", tmp_path / "out"
    path.write_text(profiles.text(STACKS))
    run("convert", str(path), "--to", to, "-o", str(out), code=0)
    assert shares(str(out)) == shares(str(path)) == {"rare": 90, "often": 10}


@pytest.mark.parametrize("to", ONE_NUMBER)
def test_another_metric(to, tmp_path):
    path, out = tmp_path / "in.spaa", tmp_path / "out"
    path.write_text(profiles.text(STACKS))
    run("convert", str(path), "--to", to, "--metric", "samples", "-o", str(out), code=0)
    assert shares(str(out)) == shares(str(path), "--metric", "samples") == {"often": 90, "rare": 10}


def test_folded_by_its_bytes(tmp_path):
    path = tmp_path / "in.spaa"
    path.write_text(profiles.text(STACKS))
    assert run("convert", str(path), "--to", "folded", "-o", "-", code=0).out == \
        "app;main;often 1000\napp;main;rare 9000\n"


def test_decimals_stay_or_are_told(tmp_path):
    path, out = tmp_path / "in.spaa", tmp_path / "out"
    path.write_text(profiles.text([(["f"], 1.5), (["g"], 2.25)]))
    for to in ONE_NUMBER:
        answer = run("convert", str(path), "--to", to, "-o", str(out), code=0)
        assert answer.err or "1.5" in out.read_text(), to
    assert run("convert", str(path), "--to", "folded", "-o", "-", code=0).out == "f 1.5\ng 2.25\n"


def test_what_does_not_add_up_is_told(tmp_path):
    event = profiles.event("heap", "alloc_bytes", "allocation", "event")
    path, out = tmp_path / "in.spaa", tmp_path / "out"
    path.write_text(profiles.text([(["f"], {"alloc_bytes": 9, "peak_bytes": 5}), (["g"], {"alloc_bytes": 4, "peak_bytes": 3})],
                                  [event]))
    for to in ONE_NUMBER:
        assert "SPAA-W314" not in run("convert", str(path), "--to", to, "-o", str(out), code=0).err
        assert "SPAA-W314" in run("convert", str(path), "--to", to, "--metric", "peak_bytes", "-o", str(out), code=0).err


@pytest.mark.parametrize("to", ["folded", "dtrace", "bpftrace", "spindump", "sample"])
def test_the_event_is_the_one_of_views(to, tmp_path):
    few, many = profiles.event("few"), profiles.event("many")
    path, out = tmp_path / "in.spaa", tmp_path / "out"
    path.write_text(profiles.text([(["f", "main"], {"samples": 2, "period": 90}, {"event": "few"}),
                                   (["g", "main"], {"samples": 3, "period": 10}, {"event": "many"})], [few, many]))
    answer = run("convert", str(path), "--to", to, "-o", str(out), code=0)
    assert set(shares(str(out))) == set(shares(str(path))) == {"g"}
    assert "one event: many, not few" in answer.err


@pytest.mark.parametrize("to, most", [("firefox", 2**62 - 10), ("speedscope", 2**62 - 10), ("sample", 10**18 - 65), ("spindump", 10**18 - 65)])
@pytest.mark.parametrize("lines", ["a;b 9223372036854775808\na;c 5\n", "a;b 1e308\na;c 1e308\n",
                                   "a;b 9223372036854775807\na;c 9223372036854775807\n", "a;b 10000000000000000000\n"])
def test_weights_that_are_too_large_are_refused_not_lost(to, most, lines, tmp_path):
    out = tmp_path / "out"
    done = run("convert", "-", "--from", "folded", "--to", to, "-o", out, stdin=lines, code=3)
    assert "SPAA-E036" in done.err and not out.exists()
    fits = "a;b %d\na;c 5\n" % (most // 1024 * 1024 - 1024)
    run("convert", "-", "--from", "folded", "--to", to, "-o", out, stdin=fits, code=0)
    assert sorted(run("convert", out, "--from", to, "--to", "folded", "-o", "-", code=0).out.splitlines()) == fits.splitlines()
