"""spaa validate on folders and several files; and the ids of --stack-ids."""

import json
import os

import gen_spaa
import profiles
import pytest
from conftest import ask, run

GOOD = profiles.text([(["f", "main"], 3)])
BAD = GOOD.replace('"kind":"user"', '"kind":"usr"')


@pytest.fixture
def tree(tmp_path):
    for name, text in {"b.spaa": GOOD, "a/z.spaa": GOOD, "a/deep/er/noname": GOOD, "c.txt": "hello\n", "d.bin": "\0\1",
                       "e.folded": "main;f 1\n"}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def test_a_folder_of_valid_files(tree):
    answer = run("validate", tree, code=0)
    assert answer.out == "valid: 0 errors, 0 warnings in 3 files\n"
    assert "SPAA-I627" in answer.err and "3 of no format" in answer.err
    assert ask("validate", tree)["files"] == 3


def test_files_are_named_and_come_sorted(tree):
    for name in ("a/x.spaa", "z.spaa", "a.spaa"):
        (tree / name).write_text(BAD)
    answer = ask("validate", tree, code=1)
    assert not answer["valid"] and answer["files"] == 6
    files = [f["file"] for f in answer["findings"] if f["severity"] == "error"]
    assert sorted(set(files)) == sorted({str(tree / n) for n in ("a/x.spaa", "a.spaa", "z.spaa")})
    assert list(dict.fromkeys(files)) == [str(tree / n) for n in ("a/x.spaa", "a.spaa", "z.spaa")]
    assert run("validate", tree, "--json").out == run("validate", tree, "--json").out


def test_no_file_hides_the_findings_of_another(tmp_path):
    for i in range(30):
        (tmp_path / ("%02d.spaa" % i)).write_text(BAD)
    answer = ask("validate", tmp_path, code=1)
    assert len({f["file"] for f in answer["findings"] if f["file"]}) == 30


def test_a_broken_file_with_the_extension_is_checked(tree):
    (tree / "broken.spaa").write_text("not json\n")
    (tree / "empty.spaa").write_text("")
    findings = ask("validate", tree, code=1)["findings"]
    assert {str(tree / "broken.spaa"), str(tree / "empty.spaa")} <= {f["file"] for f in findings}


def test_links_make_no_loop_and_links_to_files_are_checked(tree):
    os.symlink(tree, tree / "a" / "loop")
    os.symlink(tree / "b.spaa", tree / "link.spaa")
    os.symlink(tree / "nothing", tree / "dangling.spaa")
    assert ask("validate", tree)["files"] == 4


def test_depth_is_bounded_and_told(tmp_path):
    at = tmp_path
    for _ in range(70):
        at = at / "d"
    at.mkdir(parents=True)
    (at / "x.spaa").write_text(BAD)
    (tmp_path / "x.spaa").write_text(GOOD)
    answer = ask("validate", tmp_path, code=3)
    assert [f["code"] for f in answer["findings"]][0] == "SPAA-E007"


def test_the_worst_exit_code_counts(tree):
    (tree / "x.spaa").write_text(BAD)
    run("validate", tree / "b.spaa", tree / "a", code=0)
    run("validate", tree / "b.spaa", tree / "x.spaa", tree / "a", code=1)
    answer = ask("validate", tree / "missing.spaa", tree / "x.spaa", tree / "b.spaa", code=3)
    assert answer["files"] == 3 and {f["code"] for f in answer["findings"]} == {"SPAA-E001", "SPAA-E111"}
    run("validate", tree / "e.folded", tree / "b.spaa", code=3)


def test_a_folder_with_nothing_to_check_is_no_success(tmp_path):
    (tmp_path / "x.txt").write_text("hello\n")
    assert "SPAA-E011" in run("validate", tmp_path, code=3).err


# --stack-ids

@pytest.mark.parametrize("seed", range(8))
def test_local_ids(seed, tmp_path):
    source, local, again = tmp_path / "a.spaa", tmp_path / "local.spaa", tmp_path / "again.spaa"
    source.write_text("".join(gen_spaa.profile(seed=seed, stacks=40, samples=20, windows=2)))
    run("convert", "-q", source, "--stack-ids", "local", "-o", local, code=0)
    run("validate", local, code=0)
    records = [json.loads(line) for line in local.read_text().split("\n") if line]
    stacks = [r for r in records if r["type"] == "stack"]
    assert records[0]["stack_id_mode"] == "local" and [s["id"] for s in stacks] == list(range(1, len(stacks) + 1))
    ids = {s["id"] for s in stacks}
    assert all(r["stack_id"] in ids for r in records if r["type"] == "sample")
    assert all(row["stack_id"] in ids for r in records if r["type"] == "window" for row in r["by_stack"])
    assert all(set(s.get("related_stacks", [])) <= ids for s in stacks)
    for options in ([], ["--stack-ids", "local"]):
        run("convert", "-q", local, *options, "-o", again, code=0)
        assert again.read_bytes() == local.read_bytes()
    want = run("convert", "-q", source, "--stack-ids", "content", "--to", "spaa", "-o", "-", code=0).raw
    assert run("convert", "-q", local, "--stack-ids", "content", "--to", "spaa", "-o", "-", code=0).raw == want
    first = json.loads(want.split(b"\n", 1)[0])
    assert first["stack_id_mode"] == "content_addressable"


def test_local_ids_of_a_merge(tmp_path):
    for name in ("a.folded", "b.folded"):
        (tmp_path / name).write_text("main;f 1\nmain;g 2\n")
    answer = run("merge", "-q", tmp_path / "a.folded", tmp_path / "b.folded", "--stack-ids", "local", "--to", "spaa", "-o", "-",
                 code=0)
    assert [json.loads(x)["id"] for x in answer.out.splitlines() if '"stack"' in x] == [1, 2]


def test_an_unknown_mode_is_refused(tmp_path):
    (tmp_path / "a.folded").write_text("app;main 1\n")
    answer = run("convert", tmp_path / "a.folded", "--stack-ids", "globl", "-o", tmp_path / "x.spaa", code=2)
    assert "content, local" in answer.err and not (tmp_path / "x.spaa").exists()
