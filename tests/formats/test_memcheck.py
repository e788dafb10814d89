"""Logs of memcheck: against their own LEAK SUMMARY and a plain reading of their lines."""

import json
import re

import pytest

from conftest import ask, run
from valgrind_files import Profile, fixture, lower, profile, records, text

LOGS = ["all", "default", "summary", "nodebug", "cpp", "errors", "checks", "verbose", "supp", "rust", "folders"]
KINDS = {"definite": "definitely lost", "indirect": "indirectly lost", "possible": "possibly lost",
         "reachable": "still reachable"}


def said(*args, **more):
    """What is said beside the profile."""
    return run("convert", *args, "--to", "spaa", "-o", "-", **more).err


def number(s):
    return int(s.replace(",", ""))


def summary(data):
    """The last LEAK SUMMARY: {words: (bytes, blocks)}."""
    last = data[data.rindex("LEAK SUMMARY"):]
    return {m[1]: (number(m[2]), number(m[3])) for m in
            re.finditer(r"(\w+ (?:lost|reachable)|suppressed): ([\d,]+)[^b]* bytes in ([\d,]+)", last)}


def kinds(ours):
    found = {}
    for s in ours.stacks.values():
        kind = s["context"].get("x_labels", {}).get("leak_kind")
        w = {x["metric"]: x["value"] for x in s["weights"]}
        was = found.get(kind, (0, 0))
        found[kind] = (was[0] + w["live_bytes"], was[1] + w["live_count"])
    return found


@pytest.mark.parametrize("name", LOGS)
def test_sums_are_those_of_the_summary(name):
    theirs, ours = summary(text("memcheck", name + ".log")), kinds(profile("memcheck", name + ".log"))
    for kind, words in KINDS.items():
        assert ours.get(kind, (0, 0)) == theirs[words], kind
    assert ours.get(None, (0, 0)) == theirs["suppressed"]
    in_use = re.findall(r"in use at exit: ([\d,]+) bytes in ([\d,]+)", text("memcheck", name + ".log"))[-1]
    assert (sum(x[0] for x in ours.values()), sum(x[1] for x in ours.values())) == tuple(map(number, in_use))


def plain(data):
    """{(kind, stack): direct bytes} of the last leak check."""
    data = re.sub(r"^==(?:[\d:.]+ +)?\d+== ?", "", data, flags=re.M)
    cut = data.rfind("HEAP SUMMARY")
    found = {}
    for m in re.finditer(r"^([\d,]+) (?:\(([\d,]+) direct, ([\d,]+) indirect\) )?bytes in ([\d,]+) blocks are "
                         r"(\w+ \w+) in loss record.*\n((?:   (?:at|by) .*\n)+)", data[cut:], re.M):
        frames = tuple(lower(x[6:]) for x in m[6].rstrip("\n").split("\n"))
        frames = tuple(x.replace("??? (in", "??? (in") for x in frames)
        found[m[5], frames] = found.get((m[5], frames), 0) + number(m[2] or m[1])
    return found


@pytest.mark.parametrize("name", ["all", "default", "nodebug", "cpp", "checks", "verbose"])
def test_each_record_with_its_stack(name):
    ours, frames = profile("memcheck", name + ".log"), {}
    for i, s in ours.stacks.items():
        kind = KINDS[s["context"]["x_labels"]["leak_kind"]]
        if not ours.path(i)[0].startswith("[not shown"):
            frames[kind, ours.path(i)] = frames.get((kind, ours.path(i)), 0) + s["weights"][0]["value"]
    assert frames == plain(text("memcheck", name + ".log"))


def test_what_hangs_on_a_lost_block():
    assert profile("memcheck", "all.log").whole("x_indirect_bytes") == 576
    assert profile("memcheck", "default.log").whole("x_indirect_bytes") == 576


@pytest.mark.parametrize("xml,log", [("all.xml", "all.log"), ("checks.xml", "checks.log"), ("errors.xml", "errors.log")])
def test_xml_says_the_same(xml, log):
    x, y = profile("memcheck", xml), profile("memcheck", log)
    assert kinds(x) == kinds(y)
    assert [p["errors"] for p in x.header["x_memcheck"]["processes"]] == \
        [p["errors"] for p in y.header["x_memcheck"]["processes"]]


def test_xml_has_folders_and_binaries():
    ours = profile("memcheck", "all.xml")
    inner = [f for f in ours.frames.values() if f["func"] == "inner"][0]
    assert inner["srcline"] == "/src/vg_heap.c:27" and ours.dsos[inner["dso"]]["name"] == "/src/vg_heap"
    assert ours.header["source"]["command"] == "./vg_heap"


def test_folders_tell_whose_an_inlined_function_is():
    assert "--fullpath-after=" in said(fixture("memcheck", "cpp.log"))
    for name in ("folders.log", "all.log", "all.xml"):
        assert "--fullpath-after=" not in said(fixture("memcheck", name)), name
    ours = profile("memcheck", "folders.log")
    assert "/usr/include/c++/12/bits/new_allocator.h:137" in {f.get("srcline") for f in ours.frames.values()}


def test_xml_that_shows_not_all_says_so():
    assert "no sums of the others" in said(fixture("memcheck", "cpp.xml"))
    assert "SPAA-I322" not in said(fixture("memcheck", "all.xml"))


def test_checks_while_the_program_ran_do_not_add_up():
    ours = profile("memcheck", "checks.log")
    assert ours.whole("live_bytes") == 133
    assert "2 leak checks before the last one" in said(fixture("memcheck", "checks.log"))


def test_several_processes_in_one_log():
    ours = profile("memcheck", "fork.log")
    by_pid = {}
    for s in ours.stacks.values():
        by_pid.setdefault(s["context"]["pid"], []).append(s["weights"][0]["value"])
    assert sorted(map(sum, by_pid.values())) == [100, 177]
    assert "counts twice" in said(fixture("memcheck", "fork.log"))


def test_errors_that_are_no_leaks_are_said():
    err = said(fixture("memcheck", "errors.log"))
    assert "3 errors that are no leaks" in err


def test_what_is_not_shown():
    ours = profile("memcheck", "summary.log")
    assert ours.weights("live_bytes") == {("[not shown: definitely lost]",): 13264, ("[not shown: indirectly lost]",): 576}
    assert "does not show the stacks" in said(fixture("memcheck", "summary.log"))


def test_no_leak_check():
    assert profile("memcheck", "no.log").weights("live_bytes") == {("[no leak check]",): 13840}


def test_nothing_is_left():
    ours = profile("memcheck", "clean.log")
    assert ours.whole("live_bytes") == 0
    assert ours.header["x_memcheck"]["processes"][0]["alloc_bytes"] == 1000


def test_suppressed_is_no_leak():
    out = run("leaks", fixture("memcheck", "supp.log"), code=0).out
    assert "[suppressed]" not in "".join(x for x in out.split("\n") if "live" not in x[:5])


def test_labels_filter():
    out = run("top", fixture("memcheck", "all.log"), "--label", "leak_kind=indirect", code=0).out
    assert "576 B" in out
    out = run("top", fixture("memcheck", "all.log"), "--by", "label:leak_kind", code=0).out
    assert "definite" in out and "indirect" in out


def test_a_summary_that_contradicts_is_said():
    data = text("memcheck", "all.log").replace("definitely lost: 13,264 bytes", "definitely lost: 13,000 bytes")
    err = said("-", stdin=data)
    assert err.count("SPAA-W772") == 2


def test_a_log_that_ends_early():
    data = text("memcheck", "all.log")
    err = said("-", stdin=data[:data.index("LEAK SUMMARY")])
    assert "SPAA-L301" in err


@pytest.mark.parametrize("name", ["default.log", "errors.xml"])
def test_cut_off_anywhere(name):
    data = text("memcheck", name).encode()
    for n in range(0, len(data), 23):
        answer = run("convert", "-", "--from", "memcheck", "--to", "spaa", "-o", "-", stdin=data[:n])
        assert answer.code in (0, 3, 4), (n, answer.err)
        if answer.code == 0 and n < len(data) - 600:
            assert "SPAA-L301" in answer.err, n


@pytest.mark.parametrize("end", [r"by 0x\w+: reach", r"by 0x\w+: main \(/"])
def test_a_record_that_is_cut_off_has_no_owner(end):
    """Half a name with no callers is nobody's; its amount counts."""
    data = ("==7== HEAP SUMMARY:\n==7== 64 bytes in 1 blocks are definitely lost in loss record 1 of 3\n"
            "==7==    at 0x10: malloc (vg_replace_malloc.c:1)\n==7==    by 0x11: first (a.c:1)\n==7==    by 0x12: main (/a.c:9)\n==7== \n"
            "==7== 4,096 bytes in 1 blocks are definitely lost in loss record 2 of 3\n"
            "==7==    at 0x10: malloc (vg_replace_malloc.c:1)\n==7==    by 0x13: reach<int, long> (b.h:1)\n==7==    by 0x12: main (/a.c:9)\n")
    whole = ask("leaks", "-", "--from", "memcheck", stdin=data)
    assert {r["function"] for r in whole["rows"]} == {"first", "reach<int, long>"}
    last = list(re.finditer(end, data))[-1].end()
    part = run("leaks", "-", "--from", "memcheck", "--json", stdin=data[:last])
    rows = {r["function"]: r["live_bytes"] for r in json.loads(part.out)["rows"]}
    assert rows == {"first": 64, "[no stack]": 4096} and "SPAA-L301" in part.err


def test_output_of_the_program_between_the_lines():
    data = text("memcheck", "all.log").replace("\n", "\nhello == world\n")
    ours = Profile(records("-", stdin=data.encode()))
    assert ours.whole("live_bytes") == 13840


@pytest.mark.parametrize("data", ["int main() { return 1 == 2; }\n== 5 ==\n", "==1== hello\n==1== world\n",
                                  "== Heading ==\n=== more ===\n", "<xml><valgrind/></xml>\n",
                                  "==5== Helgrind, a thread error detector\n==5== \n==5== Possible data race\n"])
def test_what_is_none(data):
    assert "memcheck" not in run("info", "-", stdin=data).out


def test_quiet_logs_have_records_alone():
    data = text("memcheck", "all.log")
    data = data[data.index("== 500 bytes") - 6:data.index("LEAK SUMMARY") - 9]
    ours = Profile(records("-", stdin=data.encode()))
    assert ours.whole("live_bytes") == 13840
    assert "no LEAK SUMMARY" in said("-", stdin=data)
