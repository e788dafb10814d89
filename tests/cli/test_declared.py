"""Members that are not declared optional stand in every answer: whoever reads it need not ask for them."""
import re

import pytest

import profiles
from conftest import ask, parse, run

QUESTIONS = [["top"], ["top", "--by", "line"], ["top", "--by", "dso"], ["top", "--by", "thread"], ["top", "--by", "process"],
             ["top", "--by", "event"], ["top", "--by", "comm"], ["top", "--by", "comm,cpu"], ["top", "--by", "comm,function"],
             ["top", "--sum", "fn"], ["top", "--with", "samples"], ["tree"], ["function", "/./"], ["stacks"], ["timeline"],
             ["summary"]]


def required(part):
    for prefix, columns in [("", part["facts"])] + [(t["name"] + ".", t["columns"]) for t in part["tables"]]:
        for c in columns:
            if not c["optional"]:
                yield re.sub(r"\.\d+", "", prefix + c["name"])


def objects(value, path=""):
    """(path, object) for all, lists left out of the paths."""
    if isinstance(value, dict):
        yield path, value
    for key, inner in value.items() if isinstance(value, dict) else [("", x) for x in value] if isinstance(value, list) else ():
        yield from objects(inner, ".".join(filter(None, (path, key))))


@pytest.fixture(scope="module")
def declared():
    answer = parse(run("help", "--json", code=0).out)
    return {q["schema"]: {*required(answer["common"]), *required(q)} for q in answer["questions"]}


@pytest.fixture(params=["random", "plain"])
def path(request, tmp_path):
    path = tmp_path / "p.spaa"
    path.write_text(profiles.random_text(5, stacks=40, samples=80) if request.param == "random" else
                    profiles.text([(["fn", "main"], 3), (["g", "main"], 2)]))
    return path


@pytest.mark.parametrize("args", QUESTIONS, ids=" ".join)
def test_what_is_not_optional_is_there(args, path, declared):
    answer = run(args[0], path, *args[1:], "--json")
    if answer.code:  # a plain profile has no times
        return
    answer = parse(answer.out)
    need = declared[answer["schema"]]
    for at, one in objects(answer):
        missing = {p for p in need if p.rpartition(".")[0] == at and p.rpartition(".")[2] not in one}
        assert not missing or at in ("omitted", "diagnostics"), (at, missing)
