"""`spaa skill`: the texts agents read are short, say what is so, and are installed whole or not at all."""

import os
import re
import shlex
import shutil
import stat
import subprocess
import sys

import pytest
from conftest import BIN, ROOT, parse, run
from test_docs import recorded  # noqa: F401: the recordings that examples talk of

sys.path.insert(0, os.path.join(ROOT, "tests", "formats"))
import perf_data_files as files  # noqa: E402

FOLDER = os.path.join(ROOT, "skill", "spaa")
REFERENCES = sorted(os.listdir(os.path.join(FOLDER, "references")))
TEXTS = ["SKILL.md"] + [os.path.join("references", name) for name in REFERENCES]
with open(os.path.join(ROOT, "src", "ask", "options.def"), encoding="utf-8") as declared:
    OPTIONS = {"--" + name for name in re.findall(r'^SPAA_OPT\(\w+, "([\w-]+)"', declared.read(), re.M)}
COMMANDS = set(re.findall(r"^  (\w+) +\S", run("help", code=0).out, re.M))


def read(name):
    with open(os.path.join(FOLDER, name), encoding="utf-8") as f:
        return f.read()


def tree(folder):
    """{path beneath it: content} of all files."""
    found = {}
    for at, _, names in os.walk(folder):
        for name in names:
            with open(os.path.join(at, name), encoding="utf-8") as f:
                found[os.path.relpath(os.path.join(at, name), folder)] = f.read()
    return found


# ---- what it costs to read ------------------------------------------------------------------------


def test_front_matter():
    m = re.match(r"---\nname: (\S+)\ndescription: (.*)\n---\n", read("SKILL.md"))
    assert m[1] == os.path.basename(FOLDER) == "spaa"
    assert 100 <= len(m[2]) <= 1024 and ": " not in m[2] and " #" not in m[2]  # a plain scalar of YAML


def test_texts_are_short():
    """An agent reads SKILL.md whole before its first command; of the others what it asks for."""
    text = read("SKILL.md")
    assert len(text.encode()) <= 3584 and text.count("\n") <= 60
    for name in TEXTS[1:]:
        text = read(name)
        assert len(text.encode()) <= 3072 and text.count("\n") <= 80, name


def test_every_text_can_be_found_from_the_first():
    text = read("SKILL.md")
    for name in REFERENCES:
        short = name.removesuffix(".md")
        assert any(form % short in text for form in ("`%s`", "spaa skill %s", "spaa query -q FILE %s")), name


# ---- what it says is so ---------------------------------------------------------------------------

# What stands for the reader's own names.
STANDS_FOR = {
    "FILE": "base.spaa", "HEAP": "heap.spaa", "LATER": "later.spaa", "FIRST": "heap.spaa", "LAST": "later.spaa", "BASE…": "a1.spaa a2.spaa a3.spaa",
    "NEW…": "b1.spaa b2.spaa b3.spaa", "FN": "checksum", "RE": "parse", "EVENT": "cpu-clock", "TABLE": "functions", "COMMAND": "top",
    "'SQL'": "'SELECT 1'", "'http-*'": "'wr*'", "DIR": "skills", "NAME": "checksum", "{profile}": "base.spaa", "{later}": "", "{base}": "a1.spaa a2.spaa a3.spaa",
    "{new}": "b1.spaa b2.spaa b3.spaa",
}
WORD = re.compile("|".join(r"(?<![\w/])%s(?!\w)" % re.escape(w) for w in sorted(STANDS_FOR, key=len, reverse=True)))
# Commands whose question needs another file.
FILES = {"waits": "report.spindump.txt", "leaks": "heap.spaa"}
EXPECTED = {"--rows": (0, 1), "--fail-on": (0, 1, 5)}


def prompts():
    with open(os.path.join(ROOT, "src", "guide", "prompts.c"), encoding="utf-8") as f:
        literals = re.findall(r'"((?:[^"\\]|\\.)*)"', f.read())
    return "".join(literals).replace("\\n", "\n").replace('\\"', '"')


def examples():
    """Every `spaa …` of the texts, in blocks of sh and between backticks."""
    for name in TEXTS + ["prompts"]:
        text = prompts() if name == "prompts" else read(name) if name.endswith(".md") else ""
        found = re.findall(r"(?ms)^```sh\n(.*?)^```$", text)
        found += re.findall(r"`(spaa [^`]*)`", re.sub(r"(?ms)^```.*?^```$", "", text))
        for i, example in enumerate(found):
            yield pytest.param(example, id=f"{name}:{i}")


def filled_in(example):
    for command, path in FILES.items():
        example = re.sub(r"(spaa %s )(?:FILE|\{profile\})" % command, r"\1" + path, example)
    return WORD.sub(lambda m: STANDS_FOR[m[0]], example)


@pytest.mark.parametrize("example", list(examples()))
def test_every_command_runs(example, recorded, tmp_path):  # noqa: F811
    place = tmp_path / "work"
    shutil.copytree(recorded, place)
    (tmp_path / "bin").mkdir()
    os.symlink(BIN, tmp_path / "bin" / "spaa")
    env = {**os.environ, "DEBUGINFOD_URLS": "", "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}"}
    done = subprocess.run(["sh", "-c", filled_in(example)], cwd=place, capture_output=True, text=True, timeout=60, env=env)
    expected = next((codes for option, codes in EXPECTED.items() if option in example), (0,))
    assert done.returncode in expected, (filled_in(example), done.stderr)
    assert "Sanitizer" not in done.stderr and "runtime error:" not in done.stderr


def test_commands_can_be_typed_as_they_stand():
    """A bar within a table would have to be escaped, and who copies the command with its escape asks for something else."""
    for name in TEXTS:
        for line in read(name).splitlines():
            assert not line.startswith("|") or "|" not in re.sub(r"[^`]*(`[^`]*`|$)", r"\1", line), (name, line)
            assert "\\|" not in line, (name, line)


def test_the_examples_are_found():
    """The check above sees them: every command that a question is answered with."""
    named = {m for p in examples() for m in re.findall(r"spaa (\w+)", p.values[0])}
    assert {"function", "top", "query", "diff", "timeline", "whatif", "leaks", "waits", "info", "tree", "stacks", "skill", "convert"} <= named


def test_options_beside_commands_exist():
    """Those that the texts name alone, as filters."""
    named = set()
    for name in TEXTS:
        outside = re.sub(r"(?ms)^```\n.*?^```$", "", read(name))  # other tools' are in plain blocks
        for code in re.findall(r"`(--[^`]*)`", outside):
            named |= set(re.findall(r"--[\w-]+", code))
    others = {"--native"}  # of py-spy
    assert {"--budget", "--comm", "--json"} <= named and named - others <= OPTIONS


def test_tables_of_the_sql_text_have_these_columns():
    rows = re.findall(r"^\| (\w+) \| (.*?) \|$", read("references/sql.md"), re.M)
    assert len(rows) >= 6
    for table, columns in rows[1:]:
        schema = run("query", ".schema", table, "--names", "full", code=0).out
        for column in re.findall(r"(?:^|, )(\w+)(?= \(|,|$|:|;)", columns.split(":")[0]):
            assert re.search(r"^    %s\b" % column, schema, re.M), (table, column)


# ---- shown ----------------------------------------------------------------------------------------


def test_texts_are_shown_as_they_are():
    assert run("skill", code=0).out == read("SKILL.md")
    for name in REFERENCES:
        shown = run("skill", name.removesuffix(".md"), code=0)
        assert shown.out == read("references/" + name) == run("skill", "references/" + name, code=0).out and shown.err == ""


def test_a_text_that_is_not_there():
    answer = run("skill", "recordings", code=2)
    assert 'no text "recordings"' in answer.err and all(n.removesuffix(".md") in answer.err for n in REFERENCES) and answer.out == ""
    run("skill", "sql", "recording", code=2)


# ---- installed ------------------------------------------------------------------------------------


def expected():
    return {os.path.join("spaa", name): read(name) for name in TEXTS}


def test_installs_into_a_folder_that_is_made(tmp_path):
    answer = run("skill", "--install", tmp_path / "a" / "b", code=0)
    assert tree(tmp_path / "a" / "b") == expected()
    assert [line.split() for line in answer.out.splitlines()] == [["wrote", str(tmp_path / "a/b/spaa" / name)] for name in TEXTS]


def test_installs_again_and_says_what_it_replaced(tmp_path):
    (tmp_path / "spaa" / "references").mkdir(parents=True)
    (tmp_path / "spaa" / "SKILL.md").write_text("of another version\n" * 1000)
    (tmp_path / "spaa" / "notes.md").write_text("somebody's own\n")
    answer = run("skill", "--install", tmp_path, code=0)
    assert tree(tmp_path) == {**expected(), "spaa/notes.md": "somebody's own\n"}
    assert [line.split()[0] for line in answer.out.splitlines()] == ["replaced"] + ["wrote"] * len(REFERENCES)
    assert set(re.findall(r"^\w+", run("skill", f"--install={tmp_path}", code=0).out, re.M)) == {"replaced"}


def test_relative_and_odd_folders(tmp_path):
    for folder in ("skills", "./x//y/", "."):
        run("skill", "--install", folder, cwd=tmp_path, code=0)
        assert (tmp_path / folder / "spaa" / "SKILL.md").read_text() == read("SKILL.md")


def test_what_cannot_be_installed(tmp_path):
    (tmp_path / "file").write_text("")
    answer = run("skill", "--install", tmp_path / "file", code=3)
    assert "SPAA-E020" in answer.err and "Not a directory" in answer.err
    assert "folder" in run("skill", "--install", "", code=2).err
    assert "takes no text" in run("skill", "sql", "--install", tmp_path, code=2).err
    (tmp_path / "spaa" / "SKILL.md").mkdir(parents=True)
    assert "Is a directory" in run("skill", "--install", tmp_path, code=3).err
    assert tree(tmp_path) == {"file": ""}


@pytest.mark.skipif(os.geteuid() == 0 and not os.path.exists("/usr/bin/setpriv"), reason="root may write everywhere")
def test_a_folder_that_may_not_be_written_stays_as_it_was(tmp_path):
    run("skill", "--install", tmp_path, code=0)
    inside = tmp_path / "spaa" / "references"
    (inside / "sql.md").write_text("before\n")
    (tmp_path / "spaa" / "SKILL.md").write_text("before\n")
    os.chmod(inside, stat.S_IRUSR | stat.S_IXUSR | stat.S_IRGRP | stat.S_IXGRP | stat.S_IROTH | stat.S_IXOTH)
    for folder in [tmp_path, *tmp_path.parents][:-2]:
        os.chmod(folder, os.stat(folder).st_mode | 0o055)
    os.chmod(tmp_path / "spaa", 0o777)
    os.chmod(tmp_path / "spaa" / "SKILL.md", 0o666)
    drop = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] if os.geteuid() == 0 else []
    done = subprocess.run([*drop, BIN, "skill", "--install", str(tmp_path)], capture_output=True, text=True, timeout=60)
    os.chmod(inside, 0o777)
    assert done.returncode == 3 and "Permission denied" in done.stderr, done.stderr
    after = tree(tmp_path / "spaa")
    assert after["SKILL.md"] == read("SKILL.md") and after["references/sql.md"] == "before\n"
    assert set(after) == set(TEXTS)  # nothing half-written beside them


def test_a_full_disk_leaves_nothing_half_written(tmp_path):
    """A limit on the size of files, as the disk's end: no file is cut off."""
    command = "ulimit -f 2; exec %s skill --install %s" % (shlex.quote(BIN), shlex.quote(str(tmp_path)))
    done = subprocess.run(["bash", "-c", "trap '' XFSZ; " + command], capture_output=True, text=True, timeout=60)
    assert done.returncode == 3 and "SPAA-E020" in done.stderr, done
    wanted = expected()
    for name, text in tree(tmp_path).items():
        assert text == wanted[name], name
