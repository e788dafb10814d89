"""dhat.out: against sums over the JSON itself, as dh_view shows them."""

import json

import pytest

from conftest import run
from valgrind_files import Profile, fixture, lower, profile, records, text

PAIRS = {"alloc_bytes": "tb", "alloc_count": "tbk", "live_bytes": "eb", "live_count": "ebk", "peak_bytes": "gb",
         "x_peak_count": "gbk", "x_max_bytes": "mb", "x_max_count": "mbk", "x_lifetime": "tl",
         "x_read_bytes": "rb", "x_written_bytes": "wb"}


def raw(name):
    return json.loads(text("dhat", name + ".dhat"))


def by_stack(data, key):
    found = {}
    for p in data["pps"]:
        path = tuple(lower(data["ftbl"][i]) for i in p["fs"])
        if p.get(key):
            found[path] = found.get(path, 0) + p[key]
    return found


@pytest.mark.parametrize("metric", sorted(PAIRS))
@pytest.mark.parametrize("name", ["heap", "cpp"])
def test_each_number_by_stack(name, metric):
    assert profile("dhat", name + ".dhat").weights(metric) == by_stack(raw(name), PAIRS[metric])


@pytest.mark.parametrize("name,metric", [("copy", "x_copied_bytes"), ("adhoc", "x_units")])
def test_other_modes(name, metric):
    ours = profile("dhat", name + ".dhat")
    assert ours.weights(metric) == by_stack(raw(name), "tb")
    assert ours.weights("count") == by_stack(raw(name), "tbk")


def test_rust():
    ours = profile("dhat", "rust.dhat")
    assert ours.whole("alloc_bytes") == sum(p["tb"] for p in raw("rust")["pps"])
    assert "x_read_bytes" not in {w["metric"] for s in ours.stacks.values() for w in s["weights"]}
    assert any(f.get("srcline", "").endswith("main.rs:10") or "main.rs:" in f.get("srcline", "")
               for f in ours.frames.values())
    assert float(ours.header["x_spaa"]["duration"]) * 1e6 == raw("rust")["te"]


def test_known_amounts():
    ours = profile("dhat", "heap.dhat")
    assert ours.whole("live_bytes") == 13840 and ours.whole("live_count") == 19
    assert ours.whole("free_bytes") == ours.whole("alloc_bytes") - 13840


def test_never_read_and_never_written():
    ours = profile("dhat", "heap.dhat")
    assert ours.whole("x_never_read_bytes") == sum(p["tb"] for p in raw("heap")["pps"] if not p["rb"])
    assert ours.whole("x_never_written_bytes") == sum(p["tb"] for p in raw("heap")["pps"] if not p["wb"]) >= 4700


def test_accesses_are_kept():
    kept = [s["x_dhat"]["acc"] for s in profile("dhat", "cpp.dhat").stacks.values() if "x_dhat" in s]
    assert sorted(kept) == sorted(p["acc"] for p in raw("cpp")["pps"] if "acc" in p)


def test_the_peak_adds_and_the_most_of_each_does_not():
    assert "218" in run("top", fixture("dhat", "heap.dhat"), "--metric", "peak_bytes", code=0).out
    assert run("info", fixture("dhat", "heap.dhat"), code=0)
    ours = profile("dhat", "heap.dhat", "--frames", "function")
    assert ours.whole("peak_bytes") == sum(p["gb"] for p in raw("heap")["pps"])
    kept = [s for s in ours.stacks.values() if not any(w["metric"] == "x_max_bytes" for w in s["weights"])]
    assert kept  # five calls of lose() in main are one stack: the most that was live of them together is not told


def test_facts():
    x = profile("dhat", "heap.dhat").header["x_dhat"]
    data = raw("heap")
    assert (x["version"], x["mode"], x["end"], x["peak"], x["pid"]) == (2, "heap", data["te"], data["tg"], data["pid"])


def test_any_order_of_members():
    data = raw("heap")
    turned = {"dhatFileVersion": 2, **dict(reversed([x for x in data.items() if x[0] != "dhatFileVersion"]))}
    ours = Profile(records("-", stdin=json.dumps(turned).encode()))
    assert ours.weights("alloc_bytes") == by_stack(data, "tb")


def test_bad_program_points_are_left_out_and_said():
    data = raw("heap")
    data["pps"][1]["tb"] = "many"
    data["pps"].append(5)
    out = run("convert", "-", "--to", "spaa", "-o", "-", stdin=json.dumps(data).encode(), code=0)
    assert out.err.count("SPAA-L302") >= 1
    rows = [json.loads(x) for x in out.raw.decode().splitlines()]
    del data["pps"][1], data["pps"][-1]
    assert Profile(rows).weights("alloc_bytes") == by_stack(data, "tb")


def test_frames_that_are_not_there():
    data = raw("heap")
    data["ftbl"] = data["ftbl"][:5]
    err = run("convert", "--to", "spaa", "-o", "-", "-", stdin=json.dumps(data)).err
    assert "frames are not in the table" in err


def test_cut_off_anywhere():
    data = text("dhat", "heap.dhat").encode()
    table = data.index(b'"ftbl"')
    for n in range(40, len(data) - 3):
        answer = run("convert", "-", "--from", "dhat", "--to", "spaa", "-o", "-", stdin=data[:n]) if n % 5 == 0 or n > table else None
        if answer:
            assert answer.code != 0 or "SPAA-L301" in answer.err, n
    assert run("info", "-", "--from", "dhat", stdin=data[:table - 100]).code != 0


def test_a_later_version():
    data = raw("heap")
    data["dhatFileVersion"] = 3
    assert "version 3" in run("info", "-", stdin=json.dumps(data)).err


def test_what_was_not_watched_has_no_numbers():
    data = raw("heap")
    data["bklt"] = False
    ours = Profile(records("-", "--frames", "function", stdin=json.dumps(data).encode()))
    assert {w["metric"] for s in ours.stacks.values() for w in s["weights"]} == {"alloc_bytes", "alloc_count"}
    del data["mode"], data["bklt"], data["bkacc"]
    data["dhatFileVersion"] = 1
    assert Profile(records("-", stdin=json.dumps(data).encode())).weights("x_read_bytes") == by_stack(data, "rb")
