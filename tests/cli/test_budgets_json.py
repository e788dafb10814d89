"""Whatever --budget leaves out, JSON is whole, says how much is missing, and rows are those of the whole answer."""
import pytest

import profiles
from conftest import ask, run

QUESTIONS = [["top"], ["top", "--by", "comm,function"], ["top", "--with", "samples"], ["tree", "--min-percent", 0], ["stacks"],
             ["function", "/fn/"], ["timeline"], ["summary"], ["leaks"], ["diff"]]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("budgets")
    for seed in (9, 10):
        (folder / ("%d.spaa" % seed)).write_text(profiles.random_text(seed, stacks=25, samples=60))
    heap = [([f, "main"], {"live_bytes": 40 - n, "live_count": 1}) for n, f in enumerate("abcdefghij")]
    (folder / "heap.spaa").write_text(profiles.text(heap, [profiles.event("malloc", "live_bytes", "allocation", "event")]))
    return folder


def lists_of(answer, path=""):
    """{path: rows} of lists of objects that do not stand in another."""
    if isinstance(answer, list):
        return {path: answer} if answer and isinstance(answer[0], dict) else {}
    found = {}
    for key, value in answer.items() if isinstance(answer, dict) else ():
        if key not in ("diagnostics", "quality"):
            found.update(lists_of(value, path + "." + key if path else key))
    return found


@pytest.mark.parametrize("args", QUESTIONS, ids=lambda a: " ".join(map(str, a)))
def test_json_is_whole_under_every_budget(args, files):
    name, inputs = args[0], [files / ("heap.spaa" if args[0] == "leaks" else "9.spaa")]
    if name == "diff":
        inputs.append(files / "10.spaa")
    args = [name, *inputs, *args[1:]]
    everything = args if name == "summary" else [*args, "-n", 0]
    whole = lists_of(ask(*everything))
    size, before = len(run(*everything, "--json", code=0).raw), 0
    step = max(1, size // 3 // 24)
    for budget in [1, 2, 3, *range(step, size // 3 + 2 * step, step)]:
        answer = run(*everything, "--json", "--budget", budget, code=0)
        cut = lists_of(ask(*everything, "--budget", budget))  # valid, each member declared
        assert len(answer.raw) <= 3 * budget or "I617" in answer.err + answer.out
        for path, rows in cut.items():
            if name == "tree":
                assert {r["name"] for r in rows} <= {r["name"] for r in whole[path]}
            elif name not in ("diff", "summary"):
                assert rows == whole[path][:len(rows)], path
        rows = sum(map(len, cut.values()))
        assert rows >= before, "a larger budget shows no fewer"
        before = rows
    assert {p: len(r) for p, r in cut.items()} == {p: len(r) for p, r in whole.items()}
