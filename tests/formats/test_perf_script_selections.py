"""Texts of `perf script -F` with any of its fields: the layout is perf's (builtin-script.c), the samples are made here."""

import itertools
import json

import pytest

from conftest import run

FIELDS = ("comm", "tid", "pid", "cpu", "misc", "time", "period", "event", "addr", "weight")
SAMPLES = [(3, 12345678901, "main"), (31987, 250000, "hot"), (31987, 250000, "hot"), (4194303, 1, "f<int, 3>")]


def opening(sample, number, fields, chain, comm):
    tid, period, _ = sample
    pid = {("pid",): f"{tid:5d} ", ("tid",): f"{tid:5d} ", ("tid", "pid"): f"{31987:5d}/{tid:<5d} ", (): ""}
    printed = {
        "comm": f"{comm} " if chain else f"{comm:>16} ",
        "tid": pid[tuple(f for f in ("tid", "pid") if f in fields)],
        "cpu": f"[{number:03d}] ",
        "misc": f"{'UK'[number % 2]:<6}",
        "time": f"{26034 + number:5d}.{972148:06d}: ",
        "period": f"{period:10d} ",
        "event": "cpu-clock:u: ",
        "addr": f"{number * 0x7f1243572:16x}",
        "weight": f"{number * 17:16d}",
    }
    return "".join(printed[f] for f in printed if f in fields or (f == "tid" and "pid" in fields))


def text(fields, chain, comm="server"):
    lines = []
    for number, sample in enumerate(SAMPLES):
        ip = 0x556a9e001156 + number
        first = opening(sample, number, fields, chain, comm)
        if chain:
            lines += [first, f"\t{ip:16x} {sample[2]} (/bin/server)", f"\t{0x1462a:16x} start (/bin/server)", ""]
        else:
            lines.append(f"{first} {ip:16x} {sample[2]} (/bin/server)")
    return "\n".join(lines) + "\n"


def of(words):
    shown = run("info", "-", "--json", stdin=words.encode())
    if shown.code:
        return shown.err
    assert not shown.err, shown.err
    event, = json.loads(shown.out)["events"]
    return event["name"], {m["name"]: m["whole"] for m in event["metrics"]}


def selections():
    return [c for n in range(6) for c in itertools.combinations(FIELDS, n)]


def wanted(fields):
    metrics = {"samples": len(SAMPLES)}
    if "period" in fields:
        metrics["period"] = sum(s[1] for s in SAMPLES)
    return "cpu-clock:u" if "event" in fields else "unknown", metrics


@pytest.mark.parametrize("first", [None, *FIELDS])
def test_call_chains_below_any_selection_of_fields_are_counted_with_their_periods(first):
    for fields in selections():
        if (fields[0] if fields else None) == first:
            assert of(text(fields, True)) == wanted(fields), fields


@pytest.mark.parametrize("first", FIELDS)
def test_frames_on_the_line_of_any_selection_are_counted_where_something_opens_it(first):
    opens = {"comm", "tid", "pid", "cpu", "time", "period", "event"}
    for fields in selections():
        if fields and fields[0] == first and opens & set(fields):
            assert of(text(fields, False)) == wanted(fields), fields


def test_the_thread_is_read_where_there_is_nothing_else():
    rows = json.loads(run("top", "-", "--json", "--by", "thread", stdin=text(("comm", "tid"), True), code=0).out)["rows"]
    assert {(r["name"], r["self"]) for r in rows} == {("server (tid 31987)", 2), ("server (tid 3)", 1), ("server (tid 4194303)", 1)}, rows


@pytest.mark.parametrize("chain", [True, False])
@pytest.mark.parametrize("comm", ["worker 1", "12 34", "1234", "Thread 12/3", "k:1/2", "a"])
def test_numbers_in_names_of_threads_are_neither_tids_nor_periods(comm, chain):
    for fields in selections():
        if "comm" in fields and ("tid" in fields or "pid" in fields) and {"time", "event", "period"} & set(fields):
            words = text(fields, chain, comm)
            assert of(words) == wanted(fields), fields
            rows = json.loads(run("top", "-", "--json", "--by", "comm", "--no-pool", stdin=words, code=0).out)["rows"]
            assert {r["name"] for r in rows} == {comm}, fields


@pytest.mark.parametrize("comm", ["abc 77 12.34:", "1 2.5: x", "1.5: 10 cpu:"])
def test_a_name_that_looks_like_fields_is_a_name_where_the_fields_follow(comm):
    words = text(("comm", "tid", "cpu", "time", "period", "event"), True, comm)
    assert of(words) == wanted(("period", "event"))
    rows = json.loads(run("top", "-", "--json", "--by", "comm", "--no-pool", stdin=words, code=0).out)["rows"]
    assert {r["name"] for r in rows} == {comm}


def test_frames_alone_are_refused_with_what_would_tell_samples_apart():
    alone = text((), False)
    run("top", "-", stdin=alone, code=3)
    forced = run("top", "-", "--from", "perf-script", stdin=alone, code=3)
    assert "no line of the text opens a sample" in forced.err and "perf script -F +comm,+event" in forced.err


NAMES = ["fp", "work er 7", "a b 12", "99", "12/3:0-ev 7", "x: 5", "[k] t", "4242 1.5", "-", "cpu 3 [001]", "pool 12345"]
KNOWN = {"tid": ("tid",), "pid": ("pid",), "pid,tid": ("tid", "pid")}


def threads_text(fields, chain, names=NAMES, dso=" (/bin/server)", end="\n"):
    """A sample of each name, and one more of the first: as perf prints them, with addresses but no offsets."""
    lines = []
    for number, comm in enumerate([*names, names[0]]):
        ip = 0x556a9e001156 + number
        first = opening((4000 + number % len(names), 250000, ""), 0, fields, chain, comm)
        if chain:
            lines += [first, f"\t{ip:16x} main{dso}", ""]
        else:
            lines.append(f"{first} {ip:16x} main{dso}")
    return end.join(lines) + end


def rows_of(words, by, *more):
    answer = run("top", "-", "--json", "--no-pool", "-n", "0", "--by", by, *more, stdin=words)
    assert answer.code == 0 and not answer.err, answer.err
    return {r["name"]: r["self"] for r in json.loads(answer.out)["rows"]}


def trimmed(words):
    return "".join(" ".join(line.split()) + "\n" for line in words.split("\n")[:-1])


def counted(names=NAMES, each=1):
    return {n: each * (2 if n == names[0] else 1) for n in names}


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("chain", [True, False])
def test_without_a_tid_the_number_at_the_end_of_a_name_is_of_the_name(chain, end):
    """One of the threads has no number there, and all lines have the same fields."""
    for n in range(4):
        for more in itertools.combinations(("cpu", "time", "period", "event"), n):
            words = threads_text(("comm", *more), chain, end=end)
            want = counted(each=250000 if "period" in more else 1)
            assert rows_of(words, "comm") == want, more
            assert all("(tid ?)" in name for name in rows_of(words, "thread")), more


@pytest.mark.parametrize("chain", [True, False])
@pytest.mark.parametrize("who", KNOWN)
def test_with_a_tid_it_is_read_whatever_the_names_are(who, chain):
    for n in range(4):
        for more in itertools.combinations(("cpu", "time", "period", "event"), n):
            words = threads_text(("comm", *KNOWN[who], *more), chain)
            rows = rows_of(words, "thread")
            names = [name.rsplit(" (", 1) for name in rows]
            assert {name for name, _ in names} == set(NAMES), more
            assert all("?" not in tid or who == "pid" for _, tid in names), more


@pytest.mark.parametrize("chain", [True, False])
@pytest.mark.parametrize("more", [("time", "event"), ("event",), ("time",), ("period", "event"), ()])
def test_padding_tells_of_a_single_thread_that_its_number_is_no_tid(more, chain):
    words = threads_text(("comm", *more), chain, ["work er 7"])
    assert list(rows_of(words, "thread")) == ["work er 7 (tid ?)"]


def test_numbers_that_are_not_padded_are_tids_where_nothing_is():
    """Other tools print text that is like perf's."""
    words = "".join(f"java {tid} 5.00000{tid}: 1 cycles:\n\t 1100 main+0x1 (/bin/app)\n\n" for tid in (7, 8))
    assert set(rows_of(words, "thread")) == {"java (tid 7)", "java (tid 8)"}


def test_a_line_of_something_else_does_not_take_the_tids_away():
    words = threads_text(("comm", "tid", "time", "event"), True, ["java", "fp 3", "x"])
    stray = words + "server 26034.972148: started\n"
    assert set(rows_of(words, "thread")) == {"java (tid 4000)", "fp 3 (tid 4001)", "x (tid 4002)"}
    rows = json.loads(run("top", "-", "--json", "--no-pool", "--by", "thread", stdin=stray, code=0).out)["rows"]
    assert {"java (tid 4000)", "fp 3 (tid 4001)", "x (tid 4002)"} <= {r["name"] for r in rows}


@pytest.mark.parametrize("dso", ["", " (/bin/server)"])
@pytest.mark.parametrize("fields", [
    ("comm", "tid", "time"), ("comm", "tid", "pid", "time"), ("comm", "tid", "time", "period"), ("comm", "tid", "event"),
    ("comm", "tid"), ("comm",), ("comm", "event"), ("comm", "tid", "cpu"), ("tid", "time"), ("comm", "time")], ids=",".join)
def test_lines_that_end_with_their_frame_are_known_without_a_dso(fields, dso):
    words = threads_text(fields, False, dso=dso)
    assert of(words)[1]["samples"] == len(NAMES) + 1
    if "comm" in fields:
        each = 250000 if "period" in fields else 1
        assert rows_of(words, "comm") == counted(each=each)


def test_lines_that_end_with_an_address_are_known():
    words = threads_text(("comm", "tid", "time"), False, dso="").replace(" main", "")
    assert rows_of(words, "comm") == counted()


@pytest.mark.parametrize("fields", [("event",), ("tid",), ("tid", "pid"), ()])
def test_what_has_no_comm_or_time_says_which_fields_would_tell(fields):
    words = threads_text(fields, False, dso="")
    refused = run("info", "-", stdin=words, code=3)
    assert "SPAA-E005" in refused.err and "`perf script -F +comm,+tid,+time`" in refused.err
    forced = run("info", "-", "--from", "perf-script", "--json", stdin=words)
    assert forced.code == (0 if fields else 3)
    if fields:
        assert json.loads(forced.out)["events"][0]["metrics"][0]["whole"] == len(NAMES) + 1


@pytest.mark.parametrize("words", [
    "".join(f"ffffffff8100{n:04x} T symbol_{n}\n" for n in range(40)),
    "".join(f"{n:16d} {n * n:16d} column\n" for n in range(40)),
    "".join(f"#define FLAG_{n} 0x{n:08x}\n" for n in range(40)),
    "".join(f"name{n} {n}.5: value {n}\n" for n in range(40)),
    "".join(f"0 {n} 0x{n:x} [0x70]: PERF_RECORD_MMAP -1/0: [0x400000(0x1000) @ 0]: x /bin/a\n" for n in range(40)),
    "".join(f"{n},{n + 1},{n + 2}.5,name\n" for n in range(40))], ids=["symbols", "columns", "header", "log", "dump", "csv"])
def test_other_text_of_numbers_is_unknown(words):
    assert "SPAA-E005" in run("info", "-", stdin=words, code=3).err


@pytest.mark.parametrize("fields", [("comm", "tid"), ("comm", "tid", "pid"), ("comm",), ("comm", "event"), ("comm", "tid", "event")], ids=",".join)
@pytest.mark.parametrize("at", [0, 3, len(NAMES)])
def test_a_sample_without_frames_is_counted_where_the_line_tells(fields, at):
    samples = threads_text(fields, True).split("\n\n")
    samples[at] = samples[at].split("\n")[0]
    words = "\n\n".join(samples)
    assert rows_of(words, "function") == {"main": len(NAMES), "[no stack]": 1}
    assert rows_of(words, "comm") == counted()


RECORDS = ["PERF_RECORD_MMAP -1/0: [0xffffffff81000000(0x12090c8) @ 0xffffffff81000000]: x [kernel.kallsyms]_text",
           "PERF_RECORD_MMAP2 25472/25472: [0x55e345e3e000(0x3000) @ 0x2000 fe:00 5352778 0]: r-xp /bin/fp",
           "PERF_RECORD_COMM: perf-exec:25472/25472", "PERF_RECORD_COMM exec: fp:25472/25472", "PERF_RECORD_COMM: 4242 1.5:25268/25281",
           "PERF_RECORD_FORK(1025:1027):(1025:1025)", "PERF_RECORD_EXIT(1025:1027):(1023:1023)"]


@pytest.mark.parametrize("chain", [True, False])
@pytest.mark.parametrize("fields", [
    (), ("comm",), ("comm", "tid"), ("comm", "tid", "pid"), ("comm", "event"), ("comm", "tid", "event"), ("comm", "period", "event"),
    ("comm", "time"), ("time",), ("comm", "time", "event"), ("comm", "tid", "time", "event")], ids=",".join)
def test_records_of_other_kinds_are_no_samples(fields, chain):
    if not fields and not chain:
        pytest.skip("nothing opens a sample there")
    before = [f for f in fields if f not in ("event", "period")]
    words, records = threads_text(fields, chain), ""
    for number, record in enumerate(RECORDS):
        for comm in ("swapper", "4242 1.5", "face"):
            records += opening((number, 0, ""), number, before, chain, comm) + record + "\n"
    blank = "\n\n" if chain else "\n"
    half = words.split(blank)
    middle = blank.join(half[:5]) + blank + records + blank.join(half[5:])
    for text in (records + words, middle, words + records):
        answer = run("info", "-", "--json", stdin=text)
        assert answer.code == 0 and "data-loss" not in answer.err, answer.err
        event, = json.loads(answer.out)["events"]
        assert event["name"] == ("cpu-clock:u" if "event" in fields else "unknown")
        assert {m["name"]: m["whole"] for m in event["metrics"]}["samples"] == len(NAMES) + 1
        if "comm" in fields:
            rows = json.loads(run("top", "-", "--json", "--no-pool", "-n", "0", "--by", "comm", stdin=text, code=0).out)["rows"]
            assert {r["name"] for r in rows} == set(NAMES)


@pytest.mark.parametrize("more", [("time", "event"), ("event",), ()])
def test_columns_are_known_behind_many_records(more):
    """More of them than are looked at at once."""
    record = opening((0, 0, ""), 0, ("comm", *(f for f in more if f == "time")), True, "swapper 3") + RECORDS[1] + "\n"
    samples = threads_text(("comm", *more), True, ["work er 7", "fp"]).split("\n\n")
    samples[0] = samples[0].split("\n")[0]
    words = record * 12000 + "\n\n".join(samples)
    rows = json.loads(run("top", "-", "--json", "--no-pool", "--by", "thread", stdin=words, code=0).out)["rows"]
    assert {r["name"]: r["self"] for r in rows} == {"work er 7 (tid ?)": 2, "fp (tid ?)": 1}


@pytest.mark.parametrize("fields", [("comm", "time", "event"), ("comm", "time", "period", "event"), ("comm", "time")], ids=",".join)
def test_lines_without_a_number_tell_where_blanks_are_lost_too(fields):
    names = ["fp", "work er 7", "pool 12345"]
    assert set(rows_of(trimmed(threads_text(fields, True, names)), "thread")) == {f"{n} (tid ?)" for n in names}


def test_lines_without_frames_are_known_by_their_columns():
    words = "".join(opening((1, 1, ""), n, ("comm", "time", "event"), False, "server") + "\n" for n in range(9))
    assert of(words) == ("cpu-clock:u", {"samples": 9})
    log = "".join(f"server 26034.97214{n}: started:\n" for n in range(9))
    assert "SPAA-E005" in run("info", "-", stdin=log, code=3).err


def test_frames_alone_are_told_apart_by_blank_lines_however_many_there_are():
    """More than are looked at at once."""
    words = "\n\t    556a9e001156 main (/bin/server)\n\n" * 40000
    assert of(words) == ("unknown", {"samples": 40000})
