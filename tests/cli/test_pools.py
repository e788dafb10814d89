"""Threads whose names differ in digits only are one row in every view; --comm and --thread by name, pool, glob, /RE/."""

import re
import shutil
import subprocess

import pytest

import profiles
from conftest import ask, run, unwrapped

PROGRAM = r"""
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>

static double seconds;

static double now(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

__attribute__((noinline)) void burn(double s)
{
    volatile double x = 0;
    for (double end = now(CLOCK_THREAD_CPUTIME_ID) + s; now(CLOCK_THREAD_CPUTIME_ID) < end;)
        for (int i = 0; i < 20000; i++)
            x += i * 0.5;
}

static void *work(void *name)
{
    prctl(PR_SET_NAME, name);
    burn(seconds);
    return NULL;
}

/* FORMAT COUNT pairs: so many threads of such a name each. */
int main(int argc, char **argv)
{
    static char names[1000][64];
    static pthread_t threads[1000];
    int n = 0;
    seconds = atof(argv[1]);
    burn(0.05);
    for (int i = 2; i + 1 < argc; i += 2)
        for (int k = 0; k < atoi(argv[i + 1]); k++, n++) {
            snprintf(names[n], sizeof names[n], argv[i], k);
            pthread_create(&threads[n], NULL, work, names[n]);
        }
    for (int i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    if not shutil.which("perf") or not shutil.which("cc"):
        pytest.skip("no perf, or no compiler")
    folder = tmp_path_factory.mktemp("pools")
    (folder / "server.c").write_text(PROGRAM)
    subprocess.run(["cc", "-O1", "-fno-omit-frame-pointer", "-pthread", "-o", folder / "server", folder / "server.c"], check=True)
    return folder / "server"


def record(program, path, *args):
    done = subprocess.run(["perf", "record", "-q", "-F", "999", "-g", "-e", "cpu-clock", "-o", path, program, *map(str, args)],
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    if done.returncode:
        pytest.skip("perf cannot record: " + done.stderr.decode(errors="replace"))
    return path


@pytest.fixture(scope="module")
def recording(program, tmp_path_factory):
    return record(program, tmp_path_factory.mktemp("recorded") / "perf.data", 0.03, "http-%d", 40, "worker", 5,
                  "very-long-name-%d", 4)


def rows(path, *args):
    return {r["name"]: r for r in ask("top", path, *args, "-n", 0)["rows"]}


def svg(path, out, *args):
    run("flamegraph", path, "-o", out, *args, code=0)
    return out.read_text()


def test_a_recording_by_thread(recording):
    pooled, apart = rows(recording, "--by", "thread"), rows(recording, "--by", "thread", "--no-pool")
    assert {"http-* (40)", "worker (5)", "very-long-name- (4)"} <= set(pooled)
    assert {k.split(" ")[0] for k in set(pooled) - {"http-* (40)", "worker (5)", "very-long-name- (4)"}} == {"server"}
    http = pooled["http-* (40)"]
    assert (http["pool"], http["threads"], http["tid"]) == ("http-*", 40, None) and isinstance(http["pid"], int)
    server = next(r for k, r in pooled.items() if k.startswith("server"))
    assert (server["pool"], server["threads"]) == (None, None) and server["tid"] == server["pid"]
    assert len([k for k in apart if k.startswith("http-")]) == 40 and all(r["pool"] is None for r in apart.values())
    named = sum(r["self"] for k, r in apart.items() if k.startswith("http-"))
    assert named <= http["self"] <= named + sum(r["self"] for k, r in apart.items() if k.startswith("server"))
    assert sum(r["self"] for r in pooled.values()) == sum(r["self"] for r in apart.values())


def test_a_recording_by_comm(recording):
    pooled, apart = rows(recording, "--by", "comm"), rows(recording, "--by", "comm", "--no-pool")
    assert set(pooled) == {"http-* (40)", "worker", "very-long-name-", "server"}
    assert len(apart) == 43
    assert pooled["http-* (40)"]["self"] == sum(r["self"] for k, r in apart.items() if k.startswith("http-"))
    assert (pooled["http-* (40)"]["pool"], pooled["http-* (40)"]["threads"]) == ("http-*", 40)
    assert "http-* (40)" in run("top", recording, "--by", "comm", code=0).out


def test_towers(recording, tmp_path):
    pooled, apart = svg(recording, tmp_path / "p.svg"), svg(recording, tmp_path / "n.svg", "--no-pool")
    assert "http-* (40)" in pooled and not re.search(r"http-\d", pooled)
    assert "http-7" in apart and "http-*" not in apart


def test_towers_of_two_runs_are_matched_by_their_pattern(program, recording, tmp_path):
    new = record(program, tmp_path / "perf.data", 0.03, "http-%d", 12)
    drawn = svg(new, tmp_path / "d.svg", "--diff", recording)
    assert "http-* (12)" in drawn and "http-* (40)" not in drawn


@pytest.mark.parametrize("option", ["--comm", "--thread"])
def test_names_patterns_and_rows_as_they_are_shown(recording, option):
    all_names = rows(recording, "--by", "comm", "--no-pool")
    for asked, fits in (("http-7", r"http-7$"), ("http-*", "http-"), ("http-?", r"http-\d$"), ("http-[12]", "http-[12]$"),
                        (r"/^http-\d+$/", "http-"), ("/-1/", "http-1"), ("worker", "worker")):
        answer = ask("top", recording, option, asked)
        assert answer["kept"] == sum(r["self"] for k, r in all_names.items() if re.match(fits, k)), asked
    by = option[2:]
    for name, row in rows(recording, "--by", by).items():
        assert ask("top", recording, option, name)["kept"] == row["self"], name
        assert ask("top", recording, option, row["id"])["kept"] == row["self"], name
        # As it was copied from --by thread, and taken apart.
    apart = rows(recording, "--by", "thread", option, "http-* (40)", "--no-pool")
    assert len([k for k in apart if k.startswith("http-")]) == 40


def test_a_few_threads_of_a_pool_are_named(recording):
    assert set(rows(recording, "--by", "comm", "--comm", "http-7")) == {"http-7"}
    assert set(rows(recording, "--by", "comm", "--comm", "http-[12]")) == {"http-1", "http-2"}
    assert set(rows(recording, "--by", "comm", "--comm", "http-?")) == {"http-* (10)"}


@pytest.mark.parametrize("option", ["--comm", "--thread"])
def test_what_fits_nothing_is_refused_with_the_nearest(recording, option):
    error = ask("top", recording, option, "htp-*", code=1)["error"]
    assert error["code"] == "SPAA-E032" and "http-" in error["hint"]
    assert ask("top", recording, option, "/(/", code=2)["error"]["code"] == "SPAA-E035"
    assert "http-* (40)" in ask("top", recording, option, "nothing", code=1)["error"]["hint"]


def write(tmp_path, threads, name="p.spaa", **more):
    """A stack of weight 1 + i for each (pid, tid, comm)."""
    path = tmp_path / name
    path.write_text(profiles.text([(["f", "main"], 1 + i, {k: v for k, v in zip(("pid", "tid", "comm"), t) if v is not None})
                                   for i, t in enumerate(threads)], **more))
    return path


def test_a_name_as_it_stands_comes_first(tmp_path):
    path = write(tmp_path, [(1, 1, "a*"), (1, 2, "ab"), (1, 3, "[x]"), (1, 4, "x"), (1, 5, "/re/"), (1, 6, "re"),
                            (1, 7, "w-* (3)"), (1, 8, "w-1"), (1, 9, "w-2"), (1, 10, "w-3")])
    for option in ("--comm", "--thread"):
        for asked, kept in (("a*", 1), ("[x]", 3), ("/re/", 5), ("w-* (3)", 7), ("a?", 1 + 2), ("[wx]*", 4 + 7 + 8 + 9 + 10),
                            ("/re", None), ("/e$/", 6), ("re", 6)):
            assert ask("top", path, option, asked, code=0 if kept else 1).get("kept") == kept, asked


def test_digits_that_stay_the_same_are_shown(tmp_path):
    names = ["http-nio-8080-exec-%d" % i for i in range(1, 13)] + ["pool-%d-thread-7" % i for i in (1, 2, 30)] + \
        ["kworker/%d:%d" % (i, 1 - i % 2) for i in range(3)] + ["Thread-1", "Thread-2"]
    path = write(tmp_path, [(9, 100 + i, n) for i, n in enumerate(names)])
    want = {"http-nio-8080-exec-* (12)", "pool-*-thread-7 (3)", "kworker/*:* (3)"}
    assert set(rows(path, "--by", "comm")) == want | {"Thread-1", "Thread-2"}
    assert set(rows(path, "--by", "thread")) == want | {"Thread-1 (tid 118)", "Thread-2 (tid 119)"}


def test_processes_are_not_joined(tmp_path):
    path = write(tmp_path, [(10 + i, 10 + i, "nginx-%d" % i) for i in range(5)])
    assert len(rows(path, "--by", "comm")) == len(rows(path, "--by", "thread")) == 5
    path = write(tmp_path, [(p, p * 10 + i, "http-%d" % i) for p in (1, 2) for i in range(3)])
    assert set(rows(path, "--by", "thread")) == {"http-* (3, pid 1)", "http-* (3, pid 2)"}
    assert {k: r["self"] for k, r in rows(path, "--by", "comm").items()} == {"http-* (6)": 21}
    assert ask("top", path, "--thread", "http-* (3, pid 2)")["kept"] == 4 + 5 + 6


def test_names_alone(tmp_path):
    """Without tids it is names that are counted, which is said."""
    path = write(tmp_path, [(None, None, "http-%d" % i) for i in range(4)])
    row = rows(path, "--by", "comm")["http-* (4 names)"]
    assert (row["pool"], row["threads"]) == ("http-*", None)
    assert ask("top", path, "--comm", "http-* (4 names)")["kept"] == 10


def test_several_files_are_several_processes(tmp_path):
    a = write(tmp_path, [(1, 10 + i, "http-%d" % i) for i in range(2)], "a.spaa")
    b = write(tmp_path, [(1, 20 + i, "http-%d" % i) for i in range(2, 4)], "b.spaa")
    assert len(ask("top", a, b, "--by", "thread")["rows"]) == 4
    c = write(tmp_path, [(1, 10 + i, "http-%d" % i) for i in range(3)], "c.spaa")
    d = write(tmp_path, [(1, 20 + i, "http-%d" % i) for i in range(4)], "d.spaa")
    assert {r["name"].replace(str(tmp_path) + "/", "") for r in ask("top", c, d, "--by", "thread")["rows"]} == \
        {"http-* (3, from c.spaa)", "http-* (4, from d.spaa)"}


@pytest.mark.parametrize("to", ["spaa", "perf-script", "pprof"])
def test_conversions_keep_the_names(recording, tmp_path, to):
    run("convert", recording, "-o", tmp_path / "x", "--to", to, code=0)
    assert len([k for k in rows(tmp_path / "x", "--by", "comm", "--no-pool") if k.startswith("http-")]) == 40
    assert "http-* (40)" in rows(tmp_path / "x", "--by", "thread")


def test_threads_of_a_function_and_of_a_brief(recording):
    for answer, key in ((ask("function", recording, "burn"), "threads"), (ask("summary", recording), "by_thread")):
        http = next(r for r in answer[key] if r["name"] == "http-* (40)")
        assert (http["pool"], http["threads"]) == ("http-*", 40)
        assert not [r for r in answer[key] if re.match(r"http-\d", r["name"])]
    assert "http-* (40)" in run("function", recording, "burn", code=0).out
    assert "http-* (40)" in run("summary", recording, code=0).out
    assert len([r for r in ask("function", recording, "burn", "--no-pool", "-n", 0)["threads"] if r["name"].startswith("http-")]) == 40


def test_stacks_of_a_pool_are_one(recording):
    pooled, apart = ask("stacks", recording, "-n", 0), ask("stacks", recording, "-n", 0, "--no-pool")
    want = {}
    pools = {c["tid"]: c["comm"].rstrip("0123456789") for c in (r["context"] for r in apart["rows"]) if c["comm"] != "server"}
    for r in apart["rows"]:
        who = pools.get(r["context"]["tid"], r["context"]["tid"])
        key = (who, tuple((f.get("ip"), f["function"]) for f in r["frames"]))
        want.setdefault(key, []).append((r["weight"], r["samples"], r["id"]))
    got = {}
    for r in pooled["rows"]:
        assert r["records"] == len(next(v for v in want.values() if r["id"] in [x[2] for x in v]))
        assert (r["pool"] is None) == (r["records"] == 1) == ("tid" in r["context"]) == ("comm" in r["context"])
        got[r["id"]] = (r["weight"], r["samples"])
    assert sorted(got.values()) == sorted((sum(x[0] for x in v), sum(x[1] for x in v)) for v in want.values())
    assert [r["weight"] for r in pooled["rows"]] == sorted((r["weight"] for r in pooled["rows"]), reverse=True)
    assert (pooled["rows"][0]["pool"], pooled["rows"][0]["threads"]) == ("http-*", 40)
    text = run("stacks", recording, "-n", 1, code=0).out
    assert re.search(r" and \d+ more, http-\* \(40\), pid \d+\n", text)
    assert "http-* (40)" in run("stacks", recording, "-n", 1, "--format", "csv", code=0).out
    one = ask("stacks", recording, "--id", pooled["rows"][0]["id"])["rows"][0]
    assert one["records"] == 1 and one["context"]["comm"].startswith("http-")


def test_info_lists_them(recording):
    answer = ask("info", recording)
    assert [(x["name"], x["pool"], x["threads"]) for x in answer["pools"]] == [
        ("http-* (40)", "http-*", 40), ("worker (5)", "worker", 5), ("very-long-name- (4)", "very-long-name-", 4)]
    assert {x["pid"] for x in answer["pools"]} == {next(int(r["pid"]) for r in rows(recording, "--by", "thread").values())}
    assert re.search(r"^pools +http-\* \(40\), worker \(5\), very-long-name- \(4\)$", run("info", recording, code=0).out, re.M)


def test_tables_have_the_pattern(recording):
    def query(sql):
        return ask("query", recording, sql)["rows"]
    assert query("SELECT pool, count(*) FROM threads WHERE pool IS NOT NULL GROUP BY 1 ORDER BY 2 DESC") == [
        ["http-*", 40], ["worker", 5], ["very-long-name-", 4]]
    flat = {r["pool"]: r["self"] for r in rows(recording, "--by", "thread").values()}
    assert dict(query("SELECT pool, sum(weight) FROM stacks GROUP BY 1")) == flat


# A hang report knows threads by names that are no comms.

def report(tmp_path, states, extra=""):
    """A process whose threads exec-N are in these states, and a main thread that has a lock."""
    text = "Steps:            10 (10ms sampling interval)\n\nProcess:          java [412]\n\n" \
        '  Thread 0x1    DispatchQueue "com.apple.main-thread"(1)    10 samples (1-10)    cpu time 0.500s\n' \
        "    10  main + 1 (java + 1) [0x1] (running)\n"
    for i, state in enumerate(states):
        text += '\n  Thread 0x%x    Thread name "exec-%d"    10 samples (1-10)    cpu time 0.010s\n' \
            "    10  work + 1 (java + 2) [0x2] (%s)\n" % (0x10 + i, i, state)
    path = tmp_path / "report.spindump.txt"
    path.write_text(text + extra)
    return path


LOCK = "unfair lock owned by java [412] thread 0x1"


def test_threads_that_the_profiler_names(tmp_path):
    path = report(tmp_path, [LOCK] * 5)
    row = rows(path, "--by", "thread", "--view", "all")["exec-* (5)"]
    assert (row["self"], row["pool"], row["threads"], row["pid"], row["tid"]) == (50, "exec-*", 5, 412, None)
    assert (row["cpu_time_ns"], row["thread_name"]) == (50_000_000, None)
    assert set(rows(path, "--by", "comm", "--view", "all")) == {"java"}
    for asked, kept in (("exec-* (5)", 50), ("exec-3", 10), ("exec-[12]", 20), ("/c-[0-9]$/", 50), ("java", 60)):
        assert ask("top", path, "--view", "all", "--thread", asked)["kept"] == kept, asked


def test_waiters_that_stand_alike_are_one(tmp_path):
    path = report(tmp_path, [LOCK] * 4 + ["running"])
    answer = ask("waits", path)
    (waiter,) = answer["waiters"]
    assert (waiter["process"], waiter["pid"], waiter["tid"], waiter["pool"], waiter["threads"]) == ("java", 412, None, "exec-*", 4)
    assert (waiter["weight"], waiter["waiting"], [w["weight"] for w in waiter["waits"]]) == (40, 40, [40])
    (chain,) = answer["chains"]
    assert (chain["length"], chain["steps"][0]["pool"], chain["steps"][0]["threads"], chain["steps"][0]["weight"]) == \
        (1, "exec-*", 4, 40)
    assert "java [412] exec-* (4 of 5)" in run("waits", path, code=0).out
    apart = ask("waits", path, "--no-pool")
    assert [(w["tid"], w["pool"], w["threads"]) for w in apart["waiters"]] == [(0x10 + i, None, None) for i in range(4)]
    assert answer["waiting"] == apart["waiting"] == 40


def test_a_pool_that_waits_for_its_own_threads_is_no_deadlock(tmp_path):
    own = "unfair lock owned by java [412] thread 0x%x"
    answer = ask("waits", report(tmp_path, [own % 0x11, own % 0x12, LOCK, own % 0x10]))
    assert answer["deadlocks"] == 0
    assert sorted(c["length"] for c in answer["chains"]) == [4] and answer["chains"][0]["steps"][0]["tid"] == 0x13
    answer = ask("waits", report(tmp_path, [own % 0x11, own % 0x10, own % 0x10, own % 0x10]))
    assert answer["deadlocks"] == 1 and sorted(w["threads"] or 1 for w in answer["waiters"]) == [2, 2]


def test_threads_that_nobody_named_are_none_where_the_first_one_took_another_name(tmp_path):
    """As they begin they have the name of the program, which the first thread has no more."""
    path = tmp_path / "x.perf-script.txt"
    names = [(7, "app"), (8, "app"), (9, "app"), (10, "app"), (7, "boss"), (8, "pool-1"), (9, "pool-2"), (10, "pool-3")]
    path.write_text("".join(f"{name} 7/{tid} [000] {10 + k / 100:.6f}: 1000 cpu-clock:\n\t1418 work+0x48 (/tmp/app)\n\n"
                            for k, (tid, name) in enumerate(names)))
    rows = ask("top", path, "--by", "thread")["rows"]
    assert sorted(r["name"] for r in rows) == ["app (tid 7)", "boss (tid 7)", "pool-* (3)"]
    assert "; 4 threads" in unwrapped(run(path, code=0).out) or ", 4 threads" in unwrapped(run(path, code=0).out)
