"""convert --embed-source: what annotate shows with the sources and the binary here, it shows without them."""

import hashlib
import json
import os
import shutil

import profiles
import pytest
from conftest import ask, run
from test_annotate import SOURCE, build, needs_tools
from test_annotate_diff import NEW, version

TEXT = "".join("line %d of it\n" % i for i in range(1, 101))


def records(path, kind="x_spaa_source"):
    return [r for r in map(json.loads, path.read_text().splitlines()) if r["type"] == kind]


def held(path):
    """{(file, sha256, build-id): {line: text}} of the pieces of a file."""
    out = {}
    for r in records(path):
        lines = out.setdefault((r["file"], r["sha256"], r.get("build_id")), {})
        for i, text in enumerate(r["text"].split("\n")[:-1]):
            assert r["first"] + i not in lines, "told twice"
            lines[r["first"] + i] = text
    return out


def lined(folder, lines, name="app.c", text=TEXT, dso="/bin/app", weight=None, func="f"):
    """A profile whose lines a source below `folder` has; no binary."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    stacks = [([{"func": func, "dso": dso, "srcline": "%s:%d" % (folder / name, line)}], (weight or {}).get(line, 10))
              for line in lines]
    (folder / "p.spaa").write_text(profiles.text(stacks))
    return folder / "p.spaa"


def embed(profile, n, out, *more):
    return run("convert", profile, "--embed-source", n, "-o", out, *more, code=0)


def listing(*args):
    return run("annotate", *args, code=0).out


def said(*args):
    """The same with single blanks: where lines are broken depends on how long paths are."""
    return " ".join(listing(*args).split())


# ---- what annotate shows ----

@needs_tools
@pytest.mark.parametrize("context", (0, 2, 5))
def test_annotate_says_the_same_without_sources_and_binary(tmp_path, context):
    home = tmp_path / "home"
    profile, _, _ = build(home)
    embed(profile, context, home / "kept.spaa")
    how = ("sum", "-n", "0", "--context", context)
    before, text = ask("annotate", profile, *how), listing(profile, *how)
    os.rename(home, tmp_path / "away")
    after = ask("annotate", tmp_path / "away" / "kept.spaa", *how)
    for table in ("ranges", "inlines"):
        assert [r for r in before[table] if r.get("text", "")] == [r for r in after[table] if r.get("text", "")]
    assert any(r["text"] for r in after["ranges"])
    assert (before["self"], before["total"]) == (after["self"], after["total"])
    file = after["files"][0]
    assert (file["source"], file["read"], file["newer"], file["binary"]) == ("profile", None, False, None)
    assert file["path"] == str(home / "src" / "shop.cpp") and file["comp_dir"] == str(home)
    assert file["lines"] == len(SOURCE.splitlines()) and file["missing"] == file["lines"] - sum(
        len(lines) for (name, *_), lines in held(tmp_path / "away" / "kept.spaa").items() if name == file["file"])
    carried = said(tmp_path / "away" / "kept.spaa", *how)
    assert carried.replace(", lines that the profile carries", "") == " ".join(text.split())


@needs_tools
def test_asm_needs_the_binary_but_not_the_sources(tmp_path):
    profile, _, _ = build(tmp_path)
    embed(profile, 0, tmp_path / "kept.spaa")
    before = listing(profile, "sum", "--asm")
    os.rename(tmp_path / "src", tmp_path / "gone")
    if "no instructions" not in before:
        after = said(tmp_path / "kept.spaa", "sum", "--asm")
        assert after.replace(", lines that the profile carries", "") == " ".join(before.split())
    os.unlink(tmp_path / "shop")
    assert "its binary is not here" in ask("annotate", tmp_path / "kept.spaa", "sum", "--asm")["no_instructions"]


def test_the_whole_function_says_which_lines_are_not_in_the_profile(tmp_path):
    profile = lined(tmp_path / "a", (10, 40))
    embed(profile, 1, tmp_path / "kept.spaa")
    os.unlink(tmp_path / "a" / "app.c")
    out = listing(tmp_path / "kept.spaa", "f", "--whole", "--context", "0")
    assert "no text in the profile of lines 12-38 (the file has 100)" in out and "⋮" in out
    answer = ask("annotate", tmp_path / "kept.spaa", "f", "--whole", "--context", "0")
    assert [(r["first"], r["last"], r["text"]) for r in sorted(answer["ranges"], key=lambda r: r["first"])] == [
        (a, b, "\n".join("line %d of it" % i for i in range(a, b + 1))) for a, b in ((10, 11), (39, 40))]
    assert (answer["files"][0]["lines"], answer["files"][0]["missing"]) == (100, 94)
    wide = listing(tmp_path / "kept.spaa", "f", "--context", "3")
    assert "no text in the profile of lines 7-8, 12-13, 37-38, 42-43" in wide and "line 9 of it" in wide and "line 8" not in wide


def test_a_line_with_weight_that_is_not_in_the_profile_stands_alone(tmp_path):
    embed(lined(tmp_path / "a", (10, 13, 60)), 2, tmp_path / "kept.spaa")
    os.unlink(tmp_path / "a" / "app.c")
    piece, _ = records(tmp_path / "kept.spaa")
    piece["text"] = "".join(piece["text"].splitlines(True)[:5])  # 8 to 12
    rest = [line for line in (tmp_path / "kept.spaa").read_text().splitlines() if "x_spaa_source" not in line]
    (tmp_path / "part.spaa").write_text("\n".join(rest + [json.dumps(piece)]) + "\n")
    ranges = ask("annotate", tmp_path / "part.spaa", "f", "--context", "1")["ranges"]
    assert sorted((r["first"], r["last"], (r["text"] or "").count("line")) for r in ranges) == [
        (9, 12, 4), (13, 13, 0), (60, 60, 0)]


def test_a_recorded_file_that_is_the_same_is_shown_whole(tmp_path):
    profile = lined(tmp_path / "a", (10,))
    embed(profile, 0, tmp_path / "kept.spaa")
    assert ask("annotate", tmp_path / "kept.spaa", "f")["files"][0]["source"] == "recorded"
    (tmp_path / "a" / "app.c").write_text(TEXT.replace("line 10 ", "another "))
    file = ask("annotate", tmp_path / "kept.spaa", "f")
    assert file["files"][0]["source"] == "profile" and file["ranges"][0]["text"] == "line 10 of it"


def test_a_source_path_goes_before_the_profile(tmp_path):
    profile = lined(tmp_path / "a", (10,))
    embed(profile, 0, tmp_path / "kept.spaa")
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "app.c").write_text(TEXT.upper())
    os.unlink(tmp_path / "a" / "app.c")
    answer = ask("annotate", tmp_path / "kept.spaa", "f", "--source-path", tmp_path / "b")
    assert answer["files"][0]["source"] == "source-path" and "LINE 10" in answer["ranges"][0]["text"]


@needs_tools
def test_whether_a_source_was_newer_stays_known(tmp_path):
    profile, _, _ = build(tmp_path)
    when = os.stat(tmp_path / "shop").st_mtime
    os.utime(tmp_path / "src" / "shop.cpp", (when + 100, when + 100))
    embed(profile, 2, tmp_path / "kept.spaa")
    os.unlink(tmp_path / "src" / "shop.cpp")
    os.unlink(tmp_path / "shop")
    assert ask("annotate", tmp_path / "kept.spaa", "sum")["files"][0]["newer"] is True
    assert "written after the binary" in said(tmp_path / "kept.spaa", "sum")


def test_without_a_binary_nobody_knows_whether_it_was_newer(tmp_path):
    embed(lined(tmp_path / "a", (10,)), 0, tmp_path / "kept.spaa")
    os.unlink(tmp_path / "a" / "app.c")
    (record,) = records(tmp_path / "kept.spaa")
    assert "newer" not in record and "older" not in record
    assert ask("annotate", tmp_path / "kept.spaa", "f")["files"][0]["newer"] is None
    assert "not known when the profile took its text" in said(tmp_path / "kept.spaa", "f")


# ---- --diff ----

def compared(new, base, *more):
    answer = ask("annotate", new, "sum", "--diff", base, "-n", "0", *more)
    return answer, [r for r in answer["compared"] if (r["file"] or r["base_file"]).endswith("shop.cpp")]


@needs_tools
@pytest.mark.parametrize("context", (0, 2, 50))
def test_versions_are_matched_as_with_their_sources(tmp_path, context):
    base, new = version(tmp_path / "a", SOURCE), version(tmp_path / "b", NEW)
    _, truth = compared(new, base, "--context", "100")
    embed(base, context, tmp_path / "base.spaa")
    embed(new, context, tmp_path / "new.spaa")
    shutil.rmtree(tmp_path / "a")
    shutil.rmtree(tmp_path / "b")
    answer, rows = compared(tmp_path / "new.spaa", tmp_path / "base.spaa", "--context", "100" if context == 50 else "2")
    assert not answer["diff"]["by_number"]
    key = ("base_line", "line", "change", "text")
    known = {tuple(r[k] for k in key) for r in truth}
    assert {tuple(r[k] for k in key) for r in rows if r["change"] != "unknown"} <= known
    sums = lambda rows, side: {r[side + "line"]: r[side + "self"] for r in rows if r[side + "self"]}  # noqa: E731
    for side in ("", "base_"):
        assert sums(rows, side) == sums(truth, side)
    if context == 50:
        assert {tuple(r[k] for k in key) for r in rows} == known and not answer["diff"]["partial"]
    else:
        assert answer["diff"]["partial"] == any(r["change"] == "unknown" for r in rows)


@needs_tools
def test_lines_of_one_file_are_the_same_by_number(tmp_path):
    base = version(tmp_path / "a", SOURCE)
    embed(base, 0, tmp_path / "base.spaa")
    embed(base, 3, tmp_path / "new.spaa")
    shutil.rmtree(tmp_path / "a")
    for a, b in (("new", "base"), ("base", "new")):
        _, rows = compared(tmp_path / (a + ".spaa"), tmp_path / (b + ".spaa"))
        weighted = [r for r in rows if r["self"] or r["base_self"]]
        assert weighted and all(r["change"] == "same" and r["line"] == r["base_line"] and r["self"] == r["base_self"]
                                for r in weighted)


@needs_tools
def test_text_that_was_newer_is_no_text_as_compiled(tmp_path):
    base, new = version(tmp_path / "a", SOURCE), version(tmp_path / "b", NEW)
    when = os.stat(tmp_path / "a" / "shop").st_mtime
    os.utime(tmp_path / "a" / "src" / "shop.cpp", (when + 100, when + 100))
    embed(base, 9, tmp_path / "base.spaa")
    shutil.rmtree(tmp_path / "a")
    answer, rows = compared(new, tmp_path / "base.spaa")
    assert answer["diff"]["by_number"] and {r["change"] for r in rows if r["line"] and r["base_line"]} == {"unknown"}


# ---- what is written ----

@pytest.mark.parametrize("n", (0, 1, 3, 7, 1000))
def test_lines_around_each_line_with_weight_are_kept(tmp_path, n):
    lines = (1, 10, 14, 50, 99)
    said = embed(lined(tmp_path / "a", lines), n, tmp_path / "kept.spaa").err
    ((key, got),) = held(tmp_path / "kept.spaa").items()
    wanted = {i for line in lines for i in range(max(1, line - n), min(100, line + n) + 1)}
    assert got == {i: "line %d of it" % i for i in wanted}
    assert key == (str(tmp_path / "a" / "app.c"), hashlib.sha256(TEXT.encode()).hexdigest(), None)
    runs = sum(i - 1 not in wanted for i in wanted)
    assert len(records(tmp_path / "kept.spaa")) == runs and {r["lines"] for r in records(tmp_path / "kept.spaa")} == {100}
    assert "%d lines of 1 file" % len(wanted) in said
    run("validate", tmp_path / "kept.spaa", code=0)
    assert [json.loads(line)["type"] for line in (tmp_path / "kept.spaa").read_text().splitlines()][-runs:] == ["x_spaa_source"] * runs


def test_spaa_of_spaa_keeps_it_to_the_byte(tmp_path):
    embed(lined(tmp_path / "a", (10, 40)), 2, tmp_path / "kept.spaa")
    whole = (tmp_path / "kept.spaa").read_bytes()
    for more in ((), ("--samples",), ("--jobs", "1"), ("--stack-ids", "content")):
        run("convert", tmp_path / "kept.spaa", "-o", tmp_path / "again.spaa", *more, code=0)
        assert (tmp_path / "again.spaa").read_bytes().splitlines()[-2:] == whole.splitlines()[-2:]
    assert (tmp_path / "again.spaa").read_bytes().count(b"x_spaa_source") == 2
    embed(tmp_path / "kept.spaa", 2, tmp_path / "again.spaa")
    assert (tmp_path / "again.spaa").read_bytes() == whole
    os.unlink(tmp_path / "a" / "app.c")
    embed(tmp_path / "kept.spaa", 9, tmp_path / "again.spaa")  # nothing more is to be had
    assert (tmp_path / "again.spaa").read_bytes() == whole
    for filters in (("--frames", "line"), ("--group-by", "none")):
        run("convert", tmp_path / "kept.spaa", "-o", tmp_path / "part.spaa", *filters, code=0)
        assert held(tmp_path / "part.spaa") == held(tmp_path / "kept.spaa")


def test_bytes_that_are_no_utf8_come_back(tmp_path):
    text = b"caf\xe9\r\n\x00tab\there\n\xff\xfe\nlast"
    profile = lined(tmp_path / "a", (1, 2, 3, 4), text=text)
    before = run("annotate", profile, "f", "--format", "csv", code=0).raw
    embed(profile, 0, tmp_path / "kept.spaa")
    run("validate", tmp_path / "kept.spaa", code=0)
    (record,) = records(tmp_path / "kept.spaa")
    assert bytes.fromhex(record["x_raw_hex"]["text"]) == text + b"\n" and record["lines"] == 4
    run("convert", tmp_path / "kept.spaa", "-o", tmp_path / "again.spaa", code=0)
    assert (tmp_path / "again.spaa").read_bytes() == (tmp_path / "kept.spaa").read_bytes()
    os.unlink(tmp_path / "a" / "app.c")
    assert run("annotate", tmp_path / "kept.spaa", "f", "--format", "csv", code=0).raw == before


def test_sources_that_are_not_there_are_counted(tmp_path):
    profile = lined(tmp_path / "a", (10,))
    (tmp_path / "a" / "app.c").unlink()
    said = embed(profile, 2, tmp_path / "kept.spaa").err
    assert "0 lines of 0 files; 1 source was not found: %s" % (tmp_path / "a" / "app.c") in said and "--source-path" in said
    assert not records(tmp_path / "kept.spaa")
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "app.c").write_text(TEXT)
    assert "5 lines of 1 file" in embed(profile, 2, tmp_path / "kept.spaa", "--source-path", tmp_path / "b").err


def test_beyond_the_limit_the_heaviest_lines_stay(tmp_path):
    weight = {}
    for name in ("a.c", "b.c"):
        (tmp_path / name).write_text("".join("%07d" % i + "x" * 1000000 + "\n" for i in range(1, 41)))
        weight.update({(name, i): (1000 - i if i > 20 else i) + (name == "b.c") for i in range(1, 41)})
    (tmp_path / "p.spaa").write_text(profiles.text([([{"func": "f", "srcline": "%s/%s:%d" % (tmp_path, name, i)}], w)
                                                    for (name, i), w in weight.items()]))
    said = embed(tmp_path / "p.spaa", 0, tmp_path / "kept.spaa").err
    got = [weight[os.path.basename(file), line] for (file, *_), lines in held(tmp_path / "kept.spaa").items() for line in lines]
    assert sorted(got) == sorted(weight.values())[-len(got):] and len(got) == (64 << 20) // 1000008
    assert "%d lines beyond 64 MiB" % (80 - len(got)) in said


def test_a_line_longer_than_any_that_is_read_is_left_out(tmp_path):
    text = "short\n" + "y" * (1 << 21) + "\nshort too\n"
    said = embed(lined(tmp_path / "a", (2,), text=text), 1, tmp_path / "kept.spaa").err
    assert [(r["first"], r["text"]) for r in records(tmp_path / "kept.spaa")] == [(1, "short\n"), (3, "short too\n")]
    assert "1 lines" in said


# ---- merging ----

def test_equal_text_is_there_once_and_pieces_are_joined(tmp_path):
    a, b = tmp_path / "a.spaa", tmp_path / "b.spaa"
    embed(lined(tmp_path / "x", (10, 40)), 2, a)
    embed(lined(tmp_path / "x", (13, 40)), 2, b)
    run("merge", a, b, "-o", tmp_path / "ab.spaa", code=0)
    run("merge", b, a, "-o", tmp_path / "ba.spaa", code=0)
    assert (tmp_path / "ab.spaa").read_bytes() == (tmp_path / "ba.spaa").read_bytes()
    assert [(r["first"], r["text"].count("\n")) for r in records(tmp_path / "ab.spaa")] == [(8, 8), (38, 5)]
    run("validate", tmp_path / "ab.spaa", code=0)
    os.unlink(tmp_path / "x" / "app.c")
    assert ask("annotate", a, b, "f")["files"][0]["source"] == "profile"  # views of several files have it, too


@needs_tools
def test_sources_of_two_builds_are_not_mixed_up(tmp_path):
    home = tmp_path / "home"
    kept, alone = [], {}
    for i, source in enumerate((SOURCE, NEW)):
        profile = version(home, source)
        embed(profile, 3, tmp_path / ("%d.spaa" % i))
        kept.append(tmp_path / ("%d.spaa" % i))
        shutil.rmtree(home)
        alone[i] = {r["line"]: t for r in ask("annotate", kept[i], "sum", "-n", "0")["ranges"] for t in [r["text"]]
                    for r in r["lines"] if t}
    run("merge", *kept, "-o", tmp_path / "all.spaa", code=0)
    assert len({r["sha256"] for r in records(tmp_path / "all.spaa") if r["file"].endswith("shop.cpp")}) == 2
    answer = ask("annotate", tmp_path / "all.spaa", "sum", "-n", "0")
    texts = [{line: text for r in answer["ranges"] if r["text"] for line, text in
              zip(range(r["first"], r["last"] + 1), r["text"].split("\n"))}]
    assert [f["source"] for f in answer["files"] if (f["file"] or "").endswith("shop.cpp")] == ["profile", "profile"]
    shown = {text for t in texts for text in t.values()}
    assert shown <= set(SOURCE.split("\n")) | set(NEW.split("\n"))
    by_digest = {hashlib.sha256(s.encode()).hexdigest(): s.split("\n") for s in (SOURCE, NEW)}
    for (name, digest, _), lines in held(tmp_path / "all.spaa").items():
        if name.endswith("shop.cpp"):
            assert all(by_digest[digest][i - 1] == text for i, text in lines.items())


def test_two_texts_that_nothing_tells_apart_are_not_guessed_at(tmp_path):
    a, b = tmp_path / "a.spaa", tmp_path / "b.spaa"
    embed(lined(tmp_path / "x", (10,)), 2, a)
    embed(lined(tmp_path / "x", (10,), text=TEXT.upper()), 2, b)
    os.unlink(tmp_path / "x" / "app.c")
    run("merge", a, b, "-o", tmp_path / "ab.spaa", code=0)
    assert len(records(tmp_path / "ab.spaa")) == 2
    answer = ask("annotate", tmp_path / "ab.spaa", "f")
    assert answer["files"][0]["source"] is None and answer["ranges"][0]["text"] is None
    assert "several texts of it" in said(tmp_path / "ab.spaa", "f")
    (tmp_path / "x" / "app.c").write_text(TEXT)  # who embeds again says which one it is
    embed(tmp_path / "ab.spaa", 2, tmp_path / "c.spaa")
    assert [r["sha256"] for r in records(tmp_path / "c.spaa")] == [hashlib.sha256(TEXT.encode()).hexdigest()]


# ---- what does not go together ----

def test_only_spaa_has_a_place_for_it(tmp_path):
    profile = lined(tmp_path / "a", (10,))
    refused = run("convert", profile, "--embed-source", "3", "--to", "folded", code=2)
    assert "folded has no place for source text" in refused.err and "spaa" in refused.err and not refused.out
    assert run("convert", profile, "--embed-source", "many", "-o", tmp_path / "x.spaa").code == 2
    assert run("convert", profile, "--embed-source", "-1", "-o", tmp_path / "x.spaa").code == 2
    assert run("convert", profile, "--embed-source", "3", "--plain", "-o", tmp_path / "x.spaa").code == 2
    assert run("convert", profile, "--source-path", ".", "-o", tmp_path / "x.spaa").code == 2
    embed(profile, 3, tmp_path / "kept.spaa")
    assert "source text" in run("convert", tmp_path / "kept.spaa", "--to", "folded", code=0).err
    plain = run("convert", tmp_path / "kept.spaa", "--to", "spaa", "--plain", code=0)
    assert "line 10" not in plain.out and "x_spaa_source" in plain.err


@pytest.mark.parametrize("rules", ("host", "paths", "all", "/nothing/"))
def test_no_text_is_left_where_names_are_hashed(tmp_path, rules):
    profile = lined(tmp_path / "a", (10,))
    refused = run("convert", profile, "--embed-source", "3", "--redact", rules, "-o", tmp_path / "x.spaa", code=2)
    assert "--redact" in refused.err and not (tmp_path / "x.spaa").exists()
    embed(profile, 3, tmp_path / "kept.spaa")
    shared = run("convert", tmp_path / "kept.spaa", "--redact", rules, "-o", "-", "--to", "spaa", code=0)
    assert "of it" not in shared.out and "x_spaa_source" not in shared.out and "members that no rule knows" in shared.err


# ---- records that are wrong ----

GOOD = {"type": "x_spaa_source", "file": "/src/app.c", "binary": "/bin/app", "lines": 100, "first": 10, "text": "ten\neleven\n"}


def with_records(tmp_path, *sources):
    stack = ([{"func": "f", "dso": "/bin/app", "srcline": "/src/app.c:10"}], 5)
    (tmp_path / "in.spaa").write_text(profiles.text([stack], after=sources))
    return tmp_path / "in.spaa"


def test_records_of_others_are_read(tmp_path):
    profile = with_records(tmp_path, GOOD, {**GOOD, "first": 12, "text": "twelve\n", "x_more": [1, {"a": None}]})
    assert ask("annotate", profile, "f", "--context", "5")["ranges"][0]["text"] == "ten\neleven\ntwelve"
    run("validate", profile, code=0)
    run("convert", profile, "-o", tmp_path / "out.spaa", code=0)
    assert [r.get("x_more") for r in records(tmp_path / "out.spaa")] == [None, [1, {"a": None}]]


@pytest.mark.parametrize("bad, words", (
    ({"first": 0}, "first"), ({"first": -3}, "first"), ({"first": 100}, "first"), ({"first": 2 ** 40}, "first"),
    ({"first": "10"}, "first"), ({"first": 10.5}, "first"), ({"first": None}, "first"),
    ({"lines": 0}, "lines"), ({"lines": 2 ** 62}, "lines"), ({"lines": "x"}, "lines"),
    ({"text": ""}, "text"), ({"text": 5}, "text"), ({"text": "no newline"}, "text"), ({"text": ["a\n"]}, "text"),
    ({"file": ""}, "file"), ({"file": None}, "file"),
    ({"x_raw_hex": {"text": "zz"}}, "x_raw_hex"), ({"x_raw_hex": {"more": "61"}}, "x_raw_hex"), ({"x_raw_hex": 3}, "x_raw_hex"),
))
def test_a_record_that_cannot_be_used_is_said_and_kept(tmp_path, bad, words):
    profile = with_records(tmp_path, {**GOOD, **bad})
    answer = run("annotate", profile, "f", "--verbose", code=0)
    assert words in answer.out + answer.err and "SPAA-W225" in answer.out + answer.err and "  ten" not in answer.out
    said = run("convert", profile, "-o", tmp_path / "out.spaa", code=0)
    assert records(tmp_path / "out.spaa") == [{**GOOD, **bad}] and words in said.err
    found = [f for f in ask("validate", profile)["findings"] if f["code"] == "SPAA-W225"]
    assert [f["path"] for f in found] == [words] and f"field {words} " in answer.err and found[0]["message"] in answer.err


def test_text_that_contradicts_itself_is_used_by_nobody(tmp_path):
    profile = with_records(tmp_path, GOOD, {**GOOD, "first": 11, "text": "another\n"})
    answer = run("annotate", profile, "f", code=0)
    assert "SPAA-L300" in answer.err and "twice, differently" in answer.err and "ten" not in answer.out
    same = with_records(tmp_path, GOOD, {**GOOD, "first": 11, "text": "eleven\ntwelve\n"}, GOOD)
    answer = run("annotate", same, "f", code=0)
    assert "SPAA-L300" not in answer.err and "twelve" in answer.out


def test_a_small_file_cannot_ask_for_much(tmp_path):
    profile = with_records(tmp_path, {**GOOD, "lines": 1 << 26, "first": (1 << 26) - 1})
    assert "SPAA-W225" not in run("annotate", profile, "f", "--whole", code=0).err
    many = [{**GOOD, "first": 2 * i + 1, "text": "x\n", "lines": 1 << 26} for i in range(20000)]
    assert run("annotate", with_records(tmp_path, *many), "f", "--whole", code=0).out.count("x") < 500


# ---- what cannot be known ----

@needs_tools
def test_without_the_binary_nobody_knows_what_was_compiled(tmp_path):
    profile = version(tmp_path / "a", SOURCE)
    os.unlink(tmp_path / "a" / "shop")
    there = ("--source-path", tmp_path / "a")
    answer = ask("annotate", profile, "sum", *there)
    assert {f["newer"] for f in answer["files"] if f["source"]} == {None}
    assert "the binary is not known: that is not here" in said(profile, "sum", *there)
    _, rows = compared(profile, profile, "--context", "2", *there)
    assert {r["change"] for r in rows} == {"unknown"}


@needs_tools
def test_another_text_than_that_of_the_profile_is_told(tmp_path):
    profile = version(tmp_path / "a", SOURCE)
    embed(profile, 2, tmp_path / "kept.spaa")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "shop.cpp").write_text(SOURCE.replace("1.5", "2.5"))
    assert "another text of this file" in said(tmp_path / "kept.spaa", "sum", "--source-path", tmp_path / "other")


@needs_tools
def test_text_of_a_binary_without_build_id_is_none_of_an_input_that_has_no_text(tmp_path):
    plain = lined(tmp_path / "x", (10,))
    embed(plain, 2, tmp_path / "a.spaa")
    run("convert", plain, "--no-symbols", "-o", tmp_path / "b.spaa", code=0)
    out = run("merge", tmp_path / "a.spaa", tmp_path / "b.spaa", "-o", tmp_path / "ab.spaa", code=0)
    assert "source text of binaries that have no build-id" in out.err and records(tmp_path / "ab.spaa") == []
    run("merge", tmp_path / "a.spaa", tmp_path / "a.spaa", "-o", tmp_path / "aa.spaa", code=0)
    assert len(records(tmp_path / "aa.spaa")) == 1


@needs_tools
def test_what_filters_leave_has_no_text_of_the_rest(tmp_path):
    embed(lined(tmp_path / "x", (10,)), 2, tmp_path / "a.spaa")
    out = run("convert", tmp_path / "a.spaa", "--focus", "f", "-o", tmp_path / "b.spaa", code=0)
    assert "source text" in out.err and records(tmp_path / "b.spaa") == []
    run("convert", tmp_path / "a.spaa", "--focus", "f", "--embed-source", "1", "-o", tmp_path / "c.spaa", code=0)
    assert len(records(tmp_path / "c.spaa")) == 1


@needs_tools
def test_a_ratio_is_of_one_version(tmp_path):
    profile = version(tmp_path / "a", SOURCE)
    assert "--ratio is of one version" in run("annotate", profile, "sum", "--diff", profile, "--ratio", "ipc", code=2).err
