"""What the views say against a plain reading of the same file (tests/profiles.py), number by number."""

import collections
import random

import gen_spaa
import pytest

import profiles
from conftest import ask, run
from profiles import D, Profile, percent

BYS = ["function", "line", "address", "dso", "thread", "process", "comm", "cpu", "state", "event", "source"]
KINDS = {
    "plain": {}, "decimals": {"decimals": True}, "64-bit": {"big": True}, "states": {"states": True},
    "linked": {"linked": True}, "all": {"decimals": True, "states": True, "linked": True},
}


@pytest.fixture(params=sorted(KINDS))
def files(request, tmp_path):
    """Two random files of a kind, with their plain reading."""
    made = []
    for seed in (1, 2):
        path = tmp_path / ("%d.spaa" % seed)
        path.write_text(profiles.random_text(seed, **KINDS[request.param]))
        made.append((path, Profile(path.read_text())))
    return made


def rows_of(answer):
    return [((r.get("name", r.get("function")), r.get("dso")), (r["self"], r["total"], r["samples"], r["total_samples"]))
            for r in answer["rows"]]


def check_top(path, selection, by="function"):
    answer = ask("top", path, "--by", by, "-n", 0, "--no-pool", "--keep-allocators", *selection.options())
    rows = rows_of(answer)
    expected = selection.top(by)
    if by == "dso":
        rows = [((name, None), numbers) for (name, _), numbers in rows]
    assert dict(rows) == expected and len(rows) == len(expected)
    assert (answer["whole"], answer["kept"], answer["profile"]["event_whole"]) == \
        (selection.base, selection.total, selection.all)
    assert answer["omitted"] == {"rows": 0, "self": 0}
    for row, (_, (flat, cum, *_rest)) in zip(answer["rows"], rows):
        assert row["self_percent"] == percent(flat, selection.base), row
        assert row["total_percent"] == percent(cum, selection.base), row
    order = [(-flat, -cum, name.encode()) for (name, _), (flat, cum, *_rest) in rows]
    assert order == sorted(order)
    return answer


def check_tree(path, selection, *options, inverted=False, depth=None):
    answer = ask("tree", path, "--min-percent", 0, "-n", 0, "--keep-allocators", *selection.options(), *options)
    nodes = answer["nodes"]
    paths, found, last = {}, {}, {}
    assert nodes[0]["parent"] is None and nodes[0]["depth"] == 0
    for i, n in enumerate(nodes):
        assert n["id"] == i
        paths[i] = () if i == 0 else paths[n["parent"]] + ((n["name"], n["dso"]),)
        assert n["depth"] == len(paths[i])
        assert paths[i] not in found, "a path stands twice"
        found[paths[i]] = (n["self"], n["total"])
        assert n["total"] <= last.get(n["parent"], n["total"]), "children are not sorted by weight"
        last[n["parent"]] = n["total"]
        assert n["total_percent"] == percent(n["total"], selection.base)
    assert found == selection.tree(inverted, depth)
    return answer


@pytest.mark.parametrize("by", BYS)
def test_top_by_everything(by, tmp_path):
    path = tmp_path / "p.spaa"
    path.write_text(profiles.random_text(len(by), stacks=90, **KINDS["all"]))
    check_top(path, Profile(path.read_text()).select(view="all"), by)


@pytest.mark.parametrize("filters", [{}, {"focus": "fn1"}, {"view": "all", "ignore": "fn2"}, {"comm": "t1"}], ids=str)
def test_top_by_event_shows_each_event_in_its_own_metric(filters, files):
    path, profile = files[0]
    options = [word for key, value in filters.items() for word in ("--" + key, value)]
    answer = ask("top", path, "--by", "event", *options)
    expected = {}
    for name, metric in profile.primary.items():
        selection = profile.select(name, **filters)
        if selection.rows:
            known = [r.samples for r in selection.rows if r.samples is not None]
            expected[name] = (metric, selection.all, selection.total, sum(known) if known else None)
    assert {r["name"]: (r["metric"], r["whole"], r["self"], r["samples"]) for r in answer["rows"]} == expected
    assert len(expected) > 1 or filters
    order = [(r["samples"] is None, -(r["samples"] or 0), list(profile.primary).index(r["name"])) for r in answer["rows"]]
    assert order == sorted(order)
    for r in answer["rows"]:
        assert r["self_percent"] == r["total_percent"] == percent(r["self"], r["whole"]) and r["total"] == r["self"]
    assert answer["omitted"] == {"rows": 0, "self": None}


def test_top_and_tree_of_every_event_and_metric(files):
    path, profile = files[1]
    for name in profile.primary:
        metrics = {m for s in profile.stacks if s["context"]["event"] == name for m in s["weight"]}
        for metric in sorted(metrics):
            check_top(path, profile.select(name, metric))
        check_tree(path, profile.select(name))
        check_tree(path, profile.select(name), "--inverted", inverted=True)


@pytest.mark.parametrize("filters", [
    {"pid": "10"}, {"thread": "21"}, {"thread": "t1"}, {"comm": "t2"}, {"focus": "fn1"}, {"ignore": "fn2"},
    {"hide": "fn3"}, {"root-at": "fn4"}, {"user": ""}, {"kernel": ""}, {"dso": "/lib/"},
    {"focus": "fn1", "ignore": "fn2", "hide": "fn3", "pid": "10"}, {"root-at": "fn1", "user": ""},
    {"hide": "fn", "user": ""},
], ids=lambda f: "+".join(f))
def test_filters(filters, tmp_path):
    path = tmp_path / "p.spaa"
    path.write_text(profiles.random_text(4, stacks=150, linked=True))
    selection = Profile(path.read_text()).select(**filters)
    assert selection.rows
    check_top(path, selection)
    check_tree(path, selection, *["--inverted"] * (len(filters) % 2), inverted=len(filters) % 2 == 1)


@pytest.mark.parametrize("filters", [{"state": "WAITING"}, {"state": "WAITING,IDLE"}, {"view": "cpu"},
                                     {"view": "latency"}, {"view": "all"}, {}], ids=str)
def test_states_and_views(filters, tmp_path):
    path = tmp_path / "states.spaa"
    path.write_text(profiles.random_text(5, states=True, linked=True))
    selection = Profile(path.read_text()).select(**filters)
    answer = check_top(path, selection)
    assert answer["profile"]["view"] == selection.view
    check_top(path, selection if filters else Profile(path.read_text()).select(view="all"), "state") # the split of all
    check_tree(path, selection)


def test_regular_expressions_are_perl_compatible(tmp_path):
    path = tmp_path / "a.spaa"
    path.write_text(profiles.text([(["malloc", "main"], 3), (["free", "main"], 5), (["größe", "main"], 7)]))
    assert ask("top", path, "--focus", "^(?!malloc)m", "--ignore", "fr?ee")["kept"] == 10
    assert ask("top", path, "--focus", "gr.ße$")["kept"] == 7
    assert ask("top", path, "--sum", "malloc|free")["sum"]["total"] == 8
    assert ask("top", path, "--sum", "(?i)MAIN")["sum"]["total_percent"] == 100
    assert ask("top", path, "--focus", "(", code=2)["error"]["code"] == "SPAA-E035"


def test_sum_is_exact(files):
    path, profile = files[0]
    selection = profile.select()
    for word in ("fn1", "fn", "0x"):
        expected = sum(r.weight for r in selection.rows if any(word in f["func"] for f in r.frames))
        assert ask("top", path, "--sum", word, *selection.options())["sum"]["total"] == expected


def test_sort_limit_and_what_is_left_out(files):
    path, profile = files[0]
    selection = profile.select()
    everything = rows_of(ask("top", path, "-n", 0))
    for n in (1, 3, 22):
        answer = ask("top", path, "-n", n)
        assert rows_of(answer) == everything[:n]
        assert answer["omitted"]["rows"] == max(0, len(everything) - n)
        assert answer["omitted"]["self"] == sum(r[1][0] for r in everything[n:])
    cums = [r["total"] for r in ask("top", path, "-n", 0, "--sort", "total")["rows"]]
    assert cums == sorted(cums, reverse=True) and cums[0] == max(x[1] for x in selection.top().values())
    assert len(ask("top", path)["rows"]) == min(22, len(everything))


def test_tree_depth_and_pruning(files):
    path, profile = files[0]
    selection = profile.select()
    for depth in (1, 3):
        answer = check_tree(path, selection, "--depth", depth, depth=depth)
        assert answer["omitted"] == elided(selection.tree(), selection.tree(depth=depth))
    answer = ask("tree", path, "--min-percent", 10, "-n", 0)
    kept = {k: v for k, v in selection.tree().items() if 10 * v[1] >= selection.base or not k}
    assert len(answer["nodes"]) == len(kept)
    assert answer["omitted"] == elided(selection.tree(), kept)
    for n in answer["nodes"]:
        assert ("elided" in n) == ("elided_children" in n)
    assert sum(n.get("elided_children", 0) for n in answer["nodes"]) == answer["omitted"]["subtrees"]
    assert sum(n.get("elided", 0) for n in answer["nodes"]) == answer["omitted"]["total"]


def elided(tree, kept):
    """The topmost nodes that are not kept."""
    tops = [v[1] for k, v in tree.items() if k not in kept and k[:-1] in kept]
    return {"subtrees": len(tops), "total": sum(tops)}


def test_a_limited_tree_is_the_heaviest_part_of_the_whole(files):
    path, profile = files[1]
    tree = profile.select().tree()
    for n in (1, 4, 9):
        answer = ask("tree", path, "--min-percent", 0, "-n", n)
        paths = {}
        for x in answer["nodes"]:
            paths[x["id"]] = () if x["parent"] is None else paths[x["parent"]] + ((x["name"], x["dso"]),)
        kept = set(paths.values())
        assert len(kept) == len(answer["nodes"]) == min(n + 1, len(tree)), "the root is one more"
        assert answer["omitted"] == elided(tree, kept)
        rest = [v[1] for k, v in tree.items() if k not in kept and k[:-1] in kept]
        assert not rest or max(rest) <= min(tree[k][1] for k in kept)


def test_summary_numbers(files):
    for path, profile in files:
        selection = profile.select()
        answer = ask("summary", path, "--no-pool")
        assert (answer["whole"], answer["kept"]) == (selection.base, selection.total)
        for key, by in (("by_thread", "thread"), ("by_dso", "dso"), ("by_process", "process")):
            top = selection.top(by)
            expected = sorted(top.items(), key=lambda x: (-x[1][0], -x[1][1], x[0][0].encode()))[:5]
            assert [(r["name"], r["self"]) for r in answer[key]] == [(k[0], v[0]) for k, v in expected]
            assert [r["total_percent"] for r in answer[key]] == [percent(v[1], selection.base) for _, v in expected]
        unresolved = sum(r.weight for r in selection.rows if r.frames and not r.frames[0].get("func_resolved", True))
        assert answer["quality"]["unresolved_percent"] == percent(unresolved, selection.total)
        anywhere = sum(r.weight for r in selection.rows if any(not f.get("func_resolved", True) for f in r.frames))
        assert answer["quality"]["unresolved_anywhere_percent"] == percent(anywhere, selection.total)
        bare = sum(r.weight for r in selection.rows if not r.frames)
        assert answer["quality"]["no_stack_percent"] == percent(bare, selection.total)
        check_hot(answer, selection)
        check_path(answer, selection)


def is_own(frame):
    """Of these random files: what is in the program, and in nothing of the system's."""
    return frame["dso"]["name"] == "/bin/app"


def check_hot(answer, selection):
    weight = collections.Counter()
    for r in selection.rows:
        weight.update({profiles.function(f): 0 for f in r.frames if is_own(f)})
        if r.frames:
            own = next((profiles.function(f) for f in r.frames if is_own(f)), ("[no own function]", None))
            weight[own] += r.weight
    assert not answer["all_own"]
    top = selection.top()
    assert [r["weight"] for r in answer["hot"]] == sorted(weight.values(), reverse=True)[:5]
    for row in answer["hot"]:
        key = row["name"], row["dso"]
        assert row["weight"] == weight[key] and row["own"] == (None if key[1] is None else True)
        if key[1]:
            assert (row["self"], row["total_percent"]) == (top[key][0], percent(top[key][1], selection.base))


def check_path(answer, selection):
    """Down the tree of what is own, each step the heaviest."""
    totals = collections.Counter()
    for r in selection.rows:
        path = [profiles.function(f) for f in reversed(r.frames) if is_own(f)]
        for n in range(1, len(path) + 1):
            totals[tuple(path[:n])] += r.weight
    node = ()
    for step in answer["heaviest_path"]:
        for i in range(step["times"]):
            children = [k for k in totals if k[:-1] == node and len(k) == len(node) + 1]
            best = max(totals[k] for k in children)
            node = next(k for k in children if totals[k] == best and k[-1] == (step["name"], step["dso"]))
            assert i or step["total_percent"] == percent(best, selection.base)


def test_info_numbers(files):
    for path, profile in files:
        answer = ask("info", path)
        assert [e["name"] for e in answer["events"]] == list(profile.primary)
        for e in answer["events"]:
            selection = profile.select(e["name"], view="all")
            assert (e["whole"], e["stacks"]) == (selection.total, len(selection.rows))
            if not any("related_stacks" in s for s in profile.stacks):
                assert e["samples"] == profile.samples_of(e["name"])
        assert answer["stacks"] == len(profile.stacks)
        assert (answer["threads"], answer["dsos"]) == (len(profile.threads), len(profile.dsos))
        assert answer["frames"] == len(profile.frames)
        assert answer["processes"] == len({t["pid"] for t in profile.threads})


@pytest.mark.parametrize("seed", range(1, 7))
def test_any_valid_file(seed, tmp_path):
    """Files of the validator's generator: any order of keys, any ids, unknown members, states, DTrace pairs."""
    path = tmp_path / "any.spaa"
    path.write_text("".join(gen_spaa.profile(seed=seed, stacks=40, canonical=seed % 2 == 0)))
    profile = Profile(path.read_text())
    for name in profile.primary:
        selection = profile.select(name)
        check_top(path, selection, random.Random(seed).choice(BYS[:4]))
        check_tree(path, selection, *([] if seed % 2 else ["--inverted"]), inverted=seed % 2 == 0)


def test_recursion_counts_once(tmp_path):
    path = tmp_path / "r.spaa"
    path.write_text(profiles.text([(["f", "g", "f", "f", "main"], 10), (["g", "f", "main"], 1)]))
    rows = {r["function"]: (r["self"], r["total"]) for r in ask("top", path)["rows"]}
    assert rows == {"f": (10, 11), "g": (1, 11), "main": (0, 11)}


def test_both_frame_orders_mean_the_same(tmp_path):
    stacks = [(["a", "b", "c"], 3), (["b", "c"], 4)]
    answers = []
    for order in ("leaf_to_root", "root_to_leaf"):
        path = tmp_path / "x.spaa"
        path.write_text(profiles.text(stacks, order=order))
        answers.append([ask(*view, path) for view in (["top"], ["tree"], ["tree", "--inverted"], ["summary"])])
    assert answers[0] == answers[1]


def test_linked_stacks_count_once_with_the_kernel_at_the_leaf(tmp_path):
    path = tmp_path / "l.spaa"
    path.write_text(profiles.text([
        (["read", "main"], 5, {}, {"id": "u", "stack_type": "user", "related_stacks": ["k"]}),
        ([{"func": "vfs_read", "dso": "[kernel]"}], 5, {}, {"id": "k", "stack_type": "kernel",
                                                            "related_stacks": ["u"]})]))
    answer = ask("top", path)
    assert answer["whole"] == 5
    assert {r["function"]: (r["self"], r["total"]) for r in answer["rows"]} == \
        {"vfs_read": (5, 5), "read": (0, 5), "main": (0, 5)}
    assert [n["name"] for n in ask("tree", path)["nodes"]] == ["all", "main", "read", "vfs_read"]
    assert ask("info", path)["events"][0]["whole"] == 5


def test_several_files_are_one_profile(tmp_path):
    a, b = tmp_path / "a.spaa", tmp_path / "b.spaa"
    a.write_text(profiles.text([(["f", "main"], 3), (["g", "main"], 4)]))
    b.write_text(profiles.text([(["f", "main"], 10)], order="root_to_leaf"))
    rows = {r["function"]: (r["self"], r["total"]) for r in ask("top", a, b)["rows"]}
    assert rows == {"f": (13, 13), "g": (4, 4), "main": (0, 17)}
    assert {r["name"]: r["self"] for r in ask("top", a, b, "--by", "source")["rows"]} == {str(a): 7, str(b): 10}
    assert ask("tree", a, b)["nodes"][1]["total"] == 17


def test_metrics_that_do_not_add_are_not_added(tmp_path):
    path = tmp_path / "p.spaa"
    path.write_text(profiles.text([(["f"], {"alloc_bytes": 8, "peak_bytes": 5}), (["g"], {"alloc_bytes": 2, "peak_bytes": 6})],
                                  [profiles.event("malloc", "alloc_bytes", "allocation", "event")]))
    answer = ask("top", path, "--metric", "peak_bytes")
    assert answer["whole"] is None and answer["kept"] is None and answer["omitted"]["self"] is None
    assert {(r["self"], r["total"], r["self_percent"]) for r in answer["rows"]} == {(None, None, None)}
    tree = ask("tree", path, "--metric", "peak_bytes", "--min-percent", 0, "-n", 0)
    assert {(n["self"], n["total"], n["total_percent"]) for n in tree["nodes"]} == {(None, None, None)}
    assert {r["self"] for r in ask("summary", path, "--metric", "peak_bytes")["hot"]} == {None}
    assert "must not be added" in run("top", path, "--metric", "peak_bytes", code=0).out
    run("flamegraph", path, "--metric", "peak_bytes", "-o", "-", code=2)


def test_weights_beyond_64_bits_are_never_silently_wrong(tmp_path):
    path = tmp_path / "huge.spaa"
    most = 2**63 - 1
    for values in ([9 * 10**18, 9 * 10**18], [2**64 - 1, 1], [D("1e300"), 5]):
        path.write_text(profiles.text([(["f%d" % i, "main"], v) for i, v in enumerate(values)]))
        answer = ask("top", path)
        assert any(d["code"] == "SPAA-L304" for d in answer["diagnostics"])
        assert answer["whole"] == most
        assert all(0 <= r["self"] <= most and 0 <= r["total"] <= most for r in answer["rows"])
        assert sum(r["self"] for r in answer["rows"]) == most
        assert ask("tree", path)["nodes"][0]["total"] == most
        assert str(values[0]).replace("+", "") in run("convert", path, "--to", "spaa", "-o", "-").out.replace("+", "")


def test_negative_weights_are_shown(tmp_path):
    path = tmp_path / "n.spaa"
    path.write_text(profiles.text([(["f", "main"], 10), (["g", "main"], -4)]))
    check_top(path, Profile(path.read_text()).select())
    assert {n["name"]: n["total"] for n in ask("tree", path, "--min-percent", 0, "-n", 0)["nodes"]} == \
        {"all": 6, "main": 6, "f": 10, "g": -4}
    run("flamegraph", path, "-o", tmp_path / "n.svg", code=0)


@pytest.mark.parametrize("value", ["3.14", "0.1", "2.5e3", "1E2", "0.000000001", "12345678901234.56789"])
def test_decimals_add_exactly(value, tmp_path):
    path = tmp_path / "d.spaa"
    path.write_text(profiles.text([(["f"], D(value)), (["f", "main"], D(value)), (["f"], 1)]).replace(
        '"value":' + str(D(value)), '"value":' + value))
    assert ask("top", path)["whole"] == 2 * D(value) + 1


def test_decimals_too_fine_are_rounded_and_said_to_be(tmp_path):
    path = tmp_path / "d.spaa"
    path.write_text(profiles.text([(["f"], D("0.0000000000001")), (["g"], D("0.25"))]))
    answer = ask("top", path)
    assert answer["whole"] == D("0.25") and "rounded" in str(answer["diagnostics"])
    path.write_text(profiles.text([(["f"], D("0.123456789")), (["g"], 2**62)]))
    answer = ask("top", path)
    assert abs(answer["whole"] - 2**62) <= 1 and "rounded" in str(answer["diagnostics"])
