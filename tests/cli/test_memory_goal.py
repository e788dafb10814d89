"""What the questions of memory say of programs whose memory is known (tests/memory): owners, growth, the curve, kinds.

The amounts are tests/cli/test_memory_known.py's; here is who is named for them.
"""

import functools
import json
import re
import sys
from pathlib import Path

import pytest

from conftest import ROOT, run

MEMORY = Path(ROOT) / "tests/memory"
RECORDINGS = MEMORY / "recordings"
sys.path.insert(0, str(MEMORY))

import memory_judge as judge  # noqa: E402
import truth  # noqa: E402

SYMFS = ["--symfs", RECORDINGS / "symfs"]
SHOP = ["shop.heaptrack.zst", "shop-O0.heaptrack.zst", "jeprof.shop.4242.2.m2.heap", "shop.tcmalloc.0003.heap"]
LEDGER = ["ledger.heaptrack.zst", "jeprof.ledger.4242.2.m2.spaa.zst"]
NODE = "mailer.3.heapprofile.gz"
FRONT = [*SHOP, *LEDGER, "cart.3.pb.gz", NODE, "relay.heaptrack.zst"]
SERIES = {
    "shop jemalloc": ([f"jeprof.shop.4242.{n}.m{n}.heap" for n in range(3)], truth.shop),
    "shop tcmalloc": ([f"shop.tcmalloc.000{n}.heap" for n in (1, 2, 3)], truth.shop),
    "ledger": ([f"jeprof.ledger.4242.{n}.m{n}.spaa.zst" for n in range(3)], truth.ledger),
    "cart": ([f"cart.{n}.pb.gz" for n in (1, 2, 3)], truth.cart),
}
# What must not stand where an owner should.
HANDED_OUT = re.compile(
    r"\boperator new|^malloc$|^_?_?(libc_)?(malloc|calloc|realloc)|strdup|^std::|^alloc::|^<alloc|hashbrown|tikv|rjem|jemalloc|"
    r"__rust|rallocx|^_R|^runtime\.|^__gnu_cxx|_M_create|_M_allocate|^core::|RawVec|raw_vec|^je_|^tc_|heap_v2|^prof_")


def paths(*names):
    return [RECORDINGS / n for n in names]


@functools.cache
def ask(question, *args):
    names = [RECORDINGS / a if (RECORDINGS / a).is_file() else a for a in args]
    return json.loads(run(question, *names, "--json", *SYMFS, code=0).out)


def text(question, *args):
    return run(question, *args, *SYMFS, code=0).out


def owners(name, *options):
    """{function: its row} of what leaks names."""
    return {judge.name(r["function"]): r for r in ask("leaks", name, "-n", "0", *options)["rows"]}


def truth_of(name):
    return truth.shop(3000) if "shop" in name else truth.ledger(3000) if "ledger" in name else truth.cart(3000)


def size(name, live):
    return live.in_classes() if "jeprof" in name else live.bytes


# ---- who owns it ----

# The row is a wrapper, of the program's own: who calls it stands beside it.
WRAPPED = {"copy_request": "shop_get", "read_config": "shop_get", "take_ticket": "refill", "name_customer": "xmalloc", "parse_feed": "feed_parse"}


@pytest.mark.parametrize("name", [*SHOP, *LEDGER])
def test_leaks_names_the_functions_that_own(name):
    rows = owners(name)
    for function, live in truth_of(name).items():
        if function not in WRAPPED:
            assert function in rows, (function, list(rows))
            assert rows[function]["live_bytes"] == size(name, live), function


@pytest.mark.parametrize("name", SHOP)
def test_leaks_says_who_calls_a_wrapper(name):
    """A wrapper's row names its heaviest caller, or the caller is the row."""
    rows = owners(name)
    for function in ("copy_request", "take_ticket", "name_customer", "parse_feed"):
        callers = [judge.name(c) for c in rows.get(WRAPPED[function], {}).get("own_callers", [])]
        assert function in rows or function in callers, (function, callers)


@pytest.mark.parametrize("name", FRONT)
def test_no_row_of_weight_is_what_hands_memory_out(name):
    """Of all rows with a hundredth of what is live, runtime's own memory of Go left aside."""
    for question in ("leaks", "top"):
        d = ask(question, name, *(["-m", "live_bytes"] if question == "top" else []))
        for r in d["rows"]:
            share = r["percent"] if question == "leaks" else r["self_percent"]
            bad = HANDED_OUT.search(judge.name(r["function"]))
            assert not bad or share < 1 or r["function"] == "runtime.malg", (question, r["function"], share)


def test_cart_is_told_by_its_functions():
    rows = owners("cart.3.pb.gz")
    for function, live in truth.cart(3000).items():
        assert live.bytes <= rows[function]["live_bytes"] <= 2 * live.bytes


def test_two_functions_of_one_container_are_two_rows():
    for name in SHOP:
        rows = owners(name)
        assert rows["collect_stats"]["live_bytes"] == size(name, truth.shop(3000)["collect_stats"])
        assert rows.get("collect_ids", {"live_bytes": 0})["live_bytes"] == 0


@pytest.mark.parametrize("name", ["shop-stripped.heaptrack.zst", "relay-stripped.heaptrack.zst"])
def test_without_symbols_no_function_is_made_up(name):
    """Names of the program are not in the file: addresses stand there, and the answer says that they have no names."""
    answer = run("leaks", RECORDINGS / name, code=0)
    known = {*truth.shop(1), *truth.relay()}
    assert not known & set(re.findall(r"\w+", answer.out))
    assert re.search(r"0x[0-9a-f]+", answer.out)


# ---- the text ----


@pytest.mark.parametrize("name", FRONT)
@pytest.mark.parametrize("question", ["leaks", "summary"])
def test_text_fits(question, name):
    for line in text(question, RECORDINGS / name).splitlines():
        assert len(line) <= 120, line


@pytest.mark.parametrize("name, function, place", [
    ("shop.heaptrack.zst", "keep_order", "shop.cpp:"), ("relay.heaptrack.zst", "hold_table", "relay.c:"),
    ("ledger.heaptrack.zst", "book_entry", "main.rs:"), ("cart.3.pb.gz", "addOrder", "main.go:")])
def test_leaks_says_the_line(name, function, place):
    line = next(x for x in text("leaks", RECORDINGS / name).splitlines() if function in x)
    assert place in line


# ---- the brief ----


@pytest.mark.parametrize("name", [n for n in FRONT if n != NODE])
def test_brief_says_what_is_live_and_whose_it_is(name):
    answer = text("summary", RECORDINGS / name)
    for word in ("live", "allocated", "calls"):
        assert word in answer, word
    wanted = ["hold_table", "grow_buffer"] if "relay" in name else sorted(
        (f for f in truth_of(name) if f not in WRAPPED), key=lambda f: -truth_of(name)[f].bytes)[:3]
    for function in wanted:
        assert function in answer, (function, answer)


@pytest.mark.parametrize("name, function", [("shop.heaptrack.zst", "monthly_report"), ("relay.heaptrack.zst", "sort_all"),
                                            ("ledger.heaptrack.zst", "year_end")])
def test_brief_says_the_peak_and_what_it_was(name, function):
    answer = text("summary", RECORDINGS / name)
    assert "peak" in answer and "temporary" in answer
    assert function in answer


@pytest.mark.parametrize("name", ["shop.heaptrack.zst", "ledger.heaptrack.zst"])
def test_brief_says_what_grows_and_not_what_is_held(name):
    lines = text("summary", RECORDINGS / name).splitlines()
    said = [y for x in lines for y in (x.split(", ") if re.match(r"\d+ more, ", x) else [x])]  # of several in a line
    lines = [x for x in said if re.search(r"\bgrow(s|ing)\b", x)]
    grows = max((f for f, x in truth_of(name).items() if x.kind == "leaks" and f not in WRAPPED), key=lambda f: truth_of(name)[f].bytes)
    assert any(grows in x for x in lines), lines
    for function in (f for f, x in truth_of(name).items() if x.kind == "held"):
        assert not any(function in x for x in lines), (function, lines)


# ---- growth over dumps ----


@pytest.mark.parametrize("program", SERIES)
def test_series_names_what_grows(program):
    names, model = SERIES[program]
    answer = text("leaks", *paths(*names))
    for function, live in model(3000).items():
        if live.kind == "leaks" and live.bytes > 20000 and function not in WRAPPED:
            assert function.removeprefix("main.") in answer, function


@pytest.mark.parametrize("program", SERIES)
def test_series_rows_are_first_and_last(program):
    """The growth of a function between first and last dump, to the byte; what is held has not grown."""
    names, model = SERIES[program]
    rows = {judge.name(r["function"]): r for r in ask("leaks", *names, "-n", "0")["by_growth"]}
    for function, live in model(3000).items():
        if function in WRAPPED:
            continue
        first, last = (size(names[0], model(n)[function]) for n in (1000, 3000))
        row = rows.get(function, {})
        if program == "cart":
            assert not first or first <= row["first"] <= 2 * first and last <= row["last"] <= 2 * last, row
        elif first != last:
            assert (row["first"], row["last"], row["growth"]) == (first, last, last - first), row
        else:
            assert row.get("kind", "level") == "level" and row.get("growth", 0) == 0, row


@pytest.mark.parametrize("program", SERIES)
def test_series_in_any_order_is_the_same(program):
    names, _ = SERIES[program]
    assert ask("leaks", *names)["by_growth"] == ask("leaks", *reversed(names))["by_growth"]


def test_series_of_go_has_times():
    """Half a second and more between dumps: rates are by time."""
    assert re.search(r"/s|/min|/h", text("leaks", *paths(*SERIES["cart"][0])))


@pytest.mark.parametrize("program", SERIES)
def test_timeline_of_dumps(program):
    names, _ = SERIES[program]
    lives = [ask("leaks", n)["memory"]["live_bytes"] for n in names]
    assert [d["live_bytes"] for d in ask("timeline", *names)["dumps"]] == lives


def test_series_of_different_programs_is_doubted():
    answer = run("leaks", *paths("shop.tcmalloc.0001.heap", "cart.3.pb.gz"), *SYMFS)
    assert answer.code != 0 or re.search(r"differ|not of one|another|not the same|other", answer.out + answer.err)


# ---- the curve ----


@pytest.mark.parametrize("name", ["shop.heaptrack.zst", "ledger.heaptrack.zst", "relay.heaptrack.zst"])
def test_curve_ends_where_leaks_does_and_has_the_peak(name):
    memory = ask("leaks", name)["memory"]
    d = ask("timeline", name)
    assert d["level"]["end"] == memory["live_bytes"] and d["level"]["most"] == memory["peak_bytes"]
    assert all(r["level_end"] >= 0 and r["level_most"] >= r["level_end"] for r in d["rows"])
    assert sum(r["allocated"] for r in d["rows"]) == memory["alloc_bytes"]
    assert not re.search(r"-\d+(\.\d+)?\s?%", text("timeline", RECORDINGS / name))


@pytest.mark.parametrize("name, function, wanted", [
    ("shop.heaptrack.zst", "monthly_report", 8 << 20), ("relay.heaptrack.zst", "sort_all", 2 << 20), ("ledger.heaptrack.zst", "year_end", 8 << 20)])
def test_stacks_at_the_peak(name, function, wanted):
    d = ask("top", name, "--at", "peak")
    assert d["whole"] == ask("leaks", name)["memory"]["peak_bytes"]
    first = d["rows"][0]
    assert (judge.name(first["function"]), first["self"]) == (function, wanted)


def test_a_dump_has_no_peak():
    answer = run("top", RECORDINGS / "cart.3.pb.gz", "--at", "peak")
    assert answer.code != 0 and "moment" in answer.err


# ---- more files ----


@pytest.mark.parametrize("program", ["shop", "relay"])
def test_massif(program):
    name = f"{program}.massif.out.gz"
    peak, last = judge.massif(RECORDINGS / name)
    memory = ask("leaks", name)["memory"]
    assert (memory["peak_bytes"], memory["live_bytes"]) == (peak, last)
    assert ask("timeline", name)["level"]["most"] == peak


@pytest.mark.parametrize("program", ["shop", "relay"])
def test_dhat(program):
    name = f"{program}.dhat.json.gz"
    wanted = judge.dhat(RECORDINGS / name)
    memory = ask("leaks", name)["memory"]
    assert {k: memory.get(k) for k in wanted} == wanted


@pytest.mark.parametrize("name, read", [("relay.memcheck.log.gz", judge.memcheck), ("shop.memcheck.log.gz", judge.memcheck),
                                        ("relay.lsan.log", judge.lsan), ("relay.lsan-slow.log", judge.lsan), ("relay.asan.log", judge.lsan), ("shop.lsan.log", judge.lsan)])
def test_kinds_of_leaks(name, read):
    for kind, (wanted, blocks) in read(RECORDINGS / name).items():
        if wanted:
            found = [ask("top", name, "-m", m, "--label", f"leak_kind={kind}")["kept"] for m in ("live_bytes", "live_count")]
            assert found == [wanted, blocks], kind


@pytest.mark.parametrize("name", ["relay.memcheck.log.gz", "relay.lsan.log", "relay.lsan-slow.log", "relay.asan.log"])
def test_kinds_by_function(name):
    for function, kinds in truth.relay().items():
        if (function, name) == ("read_message", "relay.lsan.log"):
            continue  # its stacks end in strdup: LeakSanitizer walks frame pointers unless told otherwise
        for kind, (wanted, _) in kinds.items():
            if kind in ("definite", "indirect") or "memcheck" in name:
                rows = ask("top", name, "-m", "live_bytes", "--sort", "total", "-n", "0", "--label", f"leak_kind={kind}")["rows"]
                assert sum(r["total"] for r in rows if judge.name(r["function"]) == function) == wanted, (function, kind)


@pytest.mark.parametrize("name, steps", [("shop-paths.dhat.json.gz", 300), ("shop-paths.memcheck.log.gz", 300), ("shop-paths.massif.out.gz", 300),
                                         ("shop.lsan.log", 3000)])
def test_owners_of_valgrind_and_lsan(name, steps):
    """Names of inlined functions lack classes (`allocate`): the folder of their file says that they are a library's."""
    # massif's last snapshot has no stacks; those of the peak are there, of what makes a hundredth of it.
    metric = "peak_bytes" if "massif" in name else "live_bytes"
    found = {}
    for r in ask("leaks", name, "-n", "0", *(["-m", metric] if "massif" in name else []))["rows"]:
        found[judge.name(r["function"])] = found.get(judge.name(r["function"]), 0) + (r[metric] or 0)
    functions = ["load_catalog"] if "massif" in name else ["keep_order", "collect_stats", "count_visit"]
    functions += [] if "lsan" in name or "massif" in name else ["load_catalog", "write_audit", "remember_price"]
    wanted = {f: truth.shop(steps)[f].bytes for f in functions}
    if "massif" in name:
        wanted[truth.SHOP_PEAK_IN] = 8 << 20
    assert {f: found.get(f) for f in wanted} == wanted, found


@pytest.mark.parametrize("name", ["shop.dhat.json.gz", "shop.memcheck.log.gz"])
def test_headers_of_std_own_nothing_where_folders_are_not_recorded(name):
    """allocate of new_allocator.h is libstdc++'s by the name of its file alone; so are start_thread, clone and _dl_init."""
    found = {}
    for r in ask("leaks", name, "-n", "0")["rows"]:
        found[judge.name(r["function"])] = found.get(judge.name(r["function"]), 0) + r["live_bytes"]
        assert not {"allocate", "_M_create", "start_thread", "clone", "_dl_init", "call_init"} & {r["function"] if r["own"] else None, *r["own_callers"]}
    for function in ("load_catalog", "keep_order", "write_audit", "remember_price", "count_visit", "collect_stats"):
        # one block of a buffer, or of a cursor, is the function's, too
        wanted = truth.shop(300)[function].bytes
        assert wanted <= found[function] <= max(wanted * 4 // 3, wanted + 2000), function


@pytest.mark.parametrize("name", ["relay.lsan.log", "relay.lsan-slow.log", "relay.memcheck.log.gz", "shop.massif.out.gz"])
def test_what_starts_programs_and_threads_is_not_own(name):
    rows = ask("top", name, "-n", "0", "--sort", "total")["rows"]
    assert not [r["function"] for r in rows if r["own"] and re.search(r"^(__libc_|__GI_|start_thread|clone|call_init|_dl_)", r["function"])]


@pytest.mark.parametrize("file, own", [("new_allocator.h", False), ("/home/me/src/new_allocator.h", True), ("new_allocator.hpp", True)])
def test_a_header_of_std_in_a_folder_is_the_programs(file, own, tmp_path):
    path = tmp_path / "x.log"
    path.write_text(f"""==7== Memcheck, a memory error detector
==7== Command: ./x
==7== HEAP SUMMARY:
==7==     in use at exit: 10 bytes in 1 blocks
==7== 10 bytes in 1 blocks are definitely lost in loss record 1 of 1
==7==    at 0x4840808: malloc (vg_replace_malloc.c:381)
==7==    by 0x109145: allocate ({file}:137)
==7==    by 0x109165: main (x.cpp:9)
==7== LEAK SUMMARY:
==7==    definitely lost: 10 bytes in 1 blocks
""")
    assert [r["function"] for r in ask("leaks", path)["rows"]] == ["allocate" if own else "main"]


@pytest.mark.parametrize("name", ["shop.dhat.json.gz", "shop.memcheck.log.gz", "shop.massif.out.gz"])
def test_files_without_folders_are_doubted(name):
    """Without --fullpath-after= nothing tells `allocate` of new_allocator.h from a function of the program."""
    answer = run("leaks", RECORDINGS / name, code=0)
    assert "--fullpath-after=" in answer.out + answer.err


def test_leaks_says_the_kind():
    answer = text("leaks", RECORDINGS / "relay.memcheck.log.gz")
    for kind in ("definite", "indirect", "possibl", "reachable"):
        assert kind in answer


@pytest.mark.parametrize("n, steps", judge.DUMPS)
def test_node(n, steps):
    """V8 samples each 256 bytes on average; headers, closures and what grows by doubling come on top."""
    rows = owners(f"mailer.{n + 1}.heapprofile.gz")
    for function, wanted in truth.mailer(steps).items():
        assert rows[function]["live_bytes"] == pytest.approx(wanted, rel=0.35), function
