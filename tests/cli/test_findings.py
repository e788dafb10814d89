"""Rules about programs: for each a profile that has it, and one that only looks like it."""

import pytest

import profiles
from conftest import ask, run

LIBC, LIBSTD, KERNEL = "/usr/lib/libc.so.6", "/usr/lib/libstdc++.so.6", "[kernel]"


def of(dso, *names):
    return [{"func": n, "dso": dso} for n in names]


def summary(tmp_path, stacks, *more, **header):
    path = tmp_path / "f.spaa"
    path.write_text(profiles.text(stacks, **header))
    return {f["id"] + (f.get("syscall") and ":" + f["syscall"] or ""): f for f in ask("summary", path, *more)["findings"]}


def stack(frames, samples, **context):
    return (frames, {"samples": samples, "period": samples * 10}, {"pid": 1, "tid": 1, **context})


def share(tmp_path, frames, of_thousand=300, rest=("work", "main"), **more):
    """Findings where these frames have so many of a thousand samples."""
    return summary(tmp_path, [stack(frames, of_thousand), stack(list(rest), 1000 - of_thousand)], **more)


def way(f):
    return [step["function"] for step in f["way"]]


REGEX = "std::__cxx11::basic_regex<char, std::__cxx11::regex_traits<char> >::basic_regex(char const*, unsigned int)"
TO_REGEX = ["validate(std::string const&)", "handle(std::string const&)", "main"]


# Regular expressions

def recording(tmp_path, kinds, threads=1):
    """Text of perf script: samples a millisecond apart, each of the stack of its letter."""
    stacks = {"r": [("malloc", LIBC), (REGEX, LIBSTD), ("validate", "/bin/app"), ("handle", "/bin/app"), ("main", "/bin/app"), ("_start", "/bin/app")],
              "i": [(REGEX, LIBSTD), ("_GLOBAL__sub_I_form", "/bin/app"), ("_start", "/bin/app")],
              "m": [("std::regex_match<char>(char)", LIBSTD), ("validate", "/bin/app"), ("main", "/bin/app"), ("_start", "/bin/app")],
              ".": [("work", "/bin/app"), ("main", "/bin/app"), ("_start", "/bin/app")]}
    path = tmp_path / "p.txt"
    with open(path, "w", encoding="utf-8") as out:
        for i, k in enumerate(kinds):
            out.write("app 7/%d %d.%03d000: 1000000 cpu-clock: \n" % (7 + i % threads, i // 1000, i % 1000))
            for n, (name, dso) in enumerate(stacks[k]):
                out.write("\t%16x %s+0x10 (%s)\n" % (0x1000 * (n + 1) + 0x10, name, dso))
            out.write("\n")
    return {f["id"]: f for f in ask("summary", path)["findings"]}


def test_a_regex_that_is_built_again_and_again(tmp_path):
    f = recording(tmp_path, "rrrr.m" * 300)["regex"]
    assert f["title"] == "REGEX COMPILED PER CALL" and f["repeats"] is True and f["beginnings"] == 300
    assert f["from"]["function"] == "validate" and way(f)[:2] == ["handle", "validate"] and "basic_regex" in way(f)[2]
    assert f["low"] < f["percent"] < f["high"] and round(f["bound"], 1) == 3.0
    assert [(p["what"], round(float(p["percent"]))) for p in f["parts"]] == [("matching itself", 17)]
    assert f["page"] == "docs/findings.md#regex"


def perf_script(tmp_path, stacks, event="cpu-clock"):
    """Samples a millisecond apart on one thread; a frame is (name, DSO), its own function by the DSO."""
    path = tmp_path / "s.txt"
    addresses = {}
    with open(path, "w", encoding="utf-8") as out:
        for i, frames in enumerate(stacks):
            out.write("app 7/7 %d.%03d000: 1000000 %s: \n" % (i // 1000, i % 1000, event))
            for name, dso in frames:
                out.write("\t%16x %s+0x10 (%s)\n" % (addresses.setdefault(name, 0x1000 * (len(addresses) + 1)) + 0x10, name, dso))
            out.write("\n")
    return path, {f["id"]: f for f in ask("summary", path)["findings"]}


APP = [("main", "/bin/app"), ("_start", "/bin/app")]
WORK = [("work", "/bin/app")] + APP


@pytest.mark.parametrize("names, title", [
    (["rule%d" % i for i in range(25)], "REGEX COMPILATION"),      # a static const in each of them
    (["rule%d" % (i % 2) for i in range(25)], "REGEX COMPILED PER CALL"),
    (["Rule::Rule"] * 25, "REGEX COMPILATION"),                      # each lives as long as its object
    (["app::Rule::new"] * 25, "REGEX COMPILATION"),
    (["check"] * 25, "REGEX COMPILED PER CALL"),
    ([None] * 25, "REGEX COMPILATION"),                              # main's loop: no call
])
def test_per_call_is_of_one_function(names, title, tmp_path):
    stacks = []
    for name in names:
        stacks += [[(REGEX, LIBSTD)] + ([(name, "/bin/app")] if name else []) + APP] * 2 + [WORK] * 8
    f = perf_script(tmp_path, stacks)[1]["regex"]
    assert f["title"] == title and f["beginnings"] == 25
    text = run("summary", tmp_path / "s.txt", code=0).out
    assert ("compiled at least 25 times; once each?" in text) == (title == "REGEX COMPILATION")


def test_per_call_is_so_all_through_the_recording(tmp_path):
    call = [(REGEX, LIBSTD), ("check", "/bin/app")] + APP
    title = perf_script(tmp_path, [call, WORK] * 60 + [WORK] * 180)[1]["regex"]["title"]
    assert title == "REGEX COMPILATION"  # in four tenths


@pytest.mark.parametrize("repeats", [True, False])
def test_streams_built_per_call(repeats, tmp_path):
    stream = [("std::locale::locale()", LIBSTD),
              ("std::__cxx11::basic_ostringstream<char, std::char_traits<char>, std::allocator<char> >::basic_ostringstream()", LIBSTD),
              ("fmt(int)", "/bin/app")] + APP
    found = perf_script(tmp_path, [stream, WORK, WORK] * 50 if repeats else [stream] * 50 + [WORK] * 100)[1]
    assert ("format" in found) == repeats
    assert not repeats or found["format"]["title"] == "STREAM CONSTRUCTED PER CALL"


@pytest.mark.parametrize("name, remedy", [(REGEX, "(static const)"), ("regexp.MustCompile", "(a package-level variable)"),
                                          ("py::compile:/usr/lib/python3.12/re/_compiler.py", "(of the module or class)"),
                                          ("java/util/regex/Pattern.compile", "(of the module or class)"), ("pcre2_compile_8", "keep it")])
def test_where_to_keep_it_is_of_the_language(name, remedy, tmp_path):
    assert share(tmp_path, [name, "check", "main"])["regex"]["remedy"].endswith(remedy)


# Callers that are not recorded

@pytest.mark.parametrize("inlined", [False, True])
def test_without_callers_every_share_is_at_least(inlined, tmp_path):
    def leaf(name, dso, ip):
        outer = [{"func": name, "dso": dso, "ip": ip, "symoff": "0x4"}]
        return [{"func": "inner", "dso": dso, "ip": ip, "inlined": True, "inline_depth": 1}] * inlined + outer
    found = summary(tmp_path, [stack(leaf("malloc", LIBC, "0x10"), 300), stack(leaf(REGEX, "/bin/app", "0x20"), 100),
                               stack(leaf("work", "/bin/app", "0x30"), 600)])
    for kind in ["allocation", "regex"]:
        f = found[kind]
        assert f["at_least"] is f["callers_missing"] is True
        assert not f.get("bound") and not f.get("way") and not f.get("line") and not (f.get("from") or {}).get("function")
    text = run("summary", tmp_path / "f.spaa", code=0).out
    assert "at least 30 % of CPU" in text and "Bound" not in text and "> " not in text.split("own functions")[0]


def test_no_way_leads_across_a_call_that_cannot_be(tmp_path):
    frames = of(LIBC, "__lll_lock_wait", "__pthread_mutex_lock")
    worker = ["worker", "main"]
    whole = share(tmp_path, frames + worker)["lock"]
    assert way(whole)[-2:] == ["worker", "__pthread_mutex_lock"]
    stacks = [(frames + worker, {"samples": 300, "period": 3000}, {"pid": 1, "tid": 1}, {"x_edges": [{"at": 1, "broken": True}]}),
              stack(["work", "main"], 700)]
    f = summary(tmp_path, stacks)["lock"]
    assert not f.get("line") and "worker" not in way(f) and (f.get("from") or {}).get("function") is None


# What is counted

@pytest.mark.parametrize("name, kind, bound", [
    ("cycles", "hardware", True), ("cpu-clock:ppp", "software", True), ("instructions:u", "hardware", True), ("cpu_core/cycles/", "hardware", True),
    ("wall", "timer", True), ("cache-misses", "hardware", False), ("branch-instructions", "hardware", False), ("cpu/cache-misses/", "hardware", False),
    ("context-switches", "software", False), ("sched:sched_switch", "probe", False), ("cpu-migrations", "software", False)])
def test_counts_are_no_time(name, kind, bound, tmp_path):
    frames = of(LIBC, "__lll_lock_wait", "__pthread_mutex_lock") + ["add", "main"]
    f = summary(tmp_path, [(frames, {"samples": 300, "period": 300}, {"event": name}), (["main"], {"samples": 700, "period": 700}, {"event": name})],
                events=[profiles.event(name, kind=kind)])["lock"]
    assert bool(f.get("bound")) == bound
    text = run("summary", tmp_path / "f.spaa", code=0).out
    assert ("Bound: " in text) == bound
    if kind in ("software", "probe") and not bound:
        assert "Counts, not time." in text and "30 % ±" in text and "of " + name in text and "CPU spent" not in text


# Rules of one cost

def test_a_lock_and_the_futex_it_waits_in_are_one(tmp_path):
    futex = of(KERNEL, "futex_wait", "do_futex", "__x64_sys_futex", "do_syscall_64")
    lock = of(LIBC, "__lll_lock_wait", "__pthread_mutex_lock") + ["add", "main"]
    equal = summary(tmp_path, [stack(futex + lock, 230), stack(lock, 20), stack(["work", "main"], 750)])
    assert equal["syscall:futex"]["beneath"] == "lock" and not equal["lock"].get("beneath")
    slightly_less = summary(tmp_path, [stack(futex + lock, 230), stack(futex + ["add", "main"], 20), stack(["work", "main"], 750)])
    assert slightly_less["syscall:futex"]["beneath"] == "lock" and not slightly_less["lock"].get("beneath")
    assert "futex 25 %: nearly all beneath 1, not extra" in run("summary", tmp_path / "f.spaa", code=0).out
    larger = summary(tmp_path, [stack(futex + lock, 100), stack(futex + ["add", "main"], 60), stack(["work", "main"], 840)])
    assert larger["lock"]["beneath"] == "syscall" and not larger["syscall:futex"].get("beneath")
    apart = summary(tmp_path, [stack(futex + lock, 100), stack(futex + ["add", "main"], 60), stack(lock, 60), stack(["work", "main"], 780)])
    assert not apart["lock"].get("beneath") and not apart["syscall:futex"].get("beneath")


# Casts

def test_casts_are_the_programs_own(tmp_path):
    cast = of(LIBSTD, "__cxxabiv1::__si_class_type_info::__do_dyncast(long)", "__dynamic_cast")
    assert way(share(tmp_path, cast + ["pick(Base*)", "main"])["dynamic_cast"]) == ["main", "pick(Base*)", "__dynamic_cast"]
    for between in ["std::use_facet<std::ctype<char> >(std::locale const&)", REGEX]:
        assert "dynamic_cast" not in share(tmp_path, cast + of(LIBSTD, between) + ["pick(Base*)", "main"])
    assert "dynamic_cast" not in share(tmp_path, cast)  # who asked is not recorded


# Callers that may be missing

@pytest.mark.parametrize("kind, said", [("regex", True), ("syscall", False)])
def test_only_a_rule_of_user_code_may_have_a_part_elsewhere(kind, said, tmp_path):
    first = {"regex": [(REGEX, LIBSTD)], "syscall": [("vfs_write", "[kernel.kallsyms]"), ("__x64_sys_write", "[kernel.kallsyms]"),
                                                     ("do_syscall_64", "[kernel.kallsyms]"), ("__write", LIBC)]}[kind]
    perf_script(tmp_path, [first, [("malloc", LIBC), ("inner", LIBC)], WORK] * 40 + [first] * 40)
    text = run("summary", tmp_path / "s.txt", code=0).out
    assert "2 ALLOCATION   at least" in text
    assert ("callers missing: may be part of 1" in text) == said


@pytest.mark.parametrize("kinds, threads", [
    ("r" * 900 + "." * 900, 1),       # once, however long
    ("i." * 900, 1),                  # before main
    ("r" * 1000 + "." * 1000, 2),     # once on each of two threads
    ("." * 1500 + "r.r.r.r.r.r." * 20, 1),  # in one part of the recording alone
])
def test_a_regex_that_is_built_once_is_not_said_to_be_built_per_call(kinds, threads, tmp_path):
    f = recording(tmp_path, kinds, threads)["regex"]
    assert f["title"] == "REGEX COMPILATION" and f["repeats"] is False


def test_without_times_it_is_not_known_to_repeat(tmp_path):
    f = share(tmp_path, of(LIBSTD, REGEX) + TO_REGEX)["regex"]
    assert f["title"] == "REGEX COMPILATION" and f["repeats"] is False and f["beginnings"] == 0


def test_matching_is_not_building(tmp_path):
    assert "regex" not in recording(tmp_path, "mmm." * 500)
    assert "regex" not in share(tmp_path, of(LIBSTD, "std::__detail::_Executor<char>::_M_dfs(long)", "std::regex_match<char>(char)") + TO_REGEX)


@pytest.mark.parametrize("frames", [
    ["regexp/syntax.Parse", "regexp.compile", "regexp.MustCompile", "main.check"],
    ["pcre2_compile_8", "parse"],
    ["re_compile_internal", "regcomp", "scan"],
    ["regex_automata::meta::regex::Builder::build", "app::check"],
    ["py::compile:/usr/lib/python3.12/re/_compiler.py", "py::check:/home/u/app.py"],
    ["_compile (sre_compile.py:783)", "check (app.py:3)"],
    ["java/util/regex/Pattern.compile", "app/Check.run"],
    ["v8::internal::RegExpImpl::Compile(v8::internal::Isolate*)", "check"],
    ["re2::RE2::Init(re2::StringPiece const&, re2::RE2::Options const&)", "re2::RE2::RE2(char const*)", "check(int)"],
])
def test_regexes_of_other_languages(frames, tmp_path):
    assert "regex" in share(tmp_path, frames + ["main"])


# Formats

def test_templates_and_locales(tmp_path):
    assert "format" in share(tmp_path, ["text/template/parse.(*Tree).parse", "text/template.(*Template).Parse", "main.page", "main.main"])
    assert "format" in share(tmp_path, of(LIBSTD, "std::locale::locale(char const*)") + ["print(int)", "main"])
    for name in ["printf", "vfprintf", "fmt.Sprintf", "text/template.(*Template).Execute"]:
        assert "format" not in share(tmp_path, [name, "main.page", "main"])


# Allocation

def test_what_is_beneath_another_finding_is_not_extra(tmp_path):
    found = summary(tmp_path, [stack(of(LIBC, "_int_malloc", "malloc") + of(LIBSTD, REGEX) + TO_REGEX, 300),
                               stack(["work", "main"], 700)])
    assert found["allocation"]["beneath"] == "regex" and found["regex"].get("beneath") is None
    apart = summary(tmp_path, [stack(of(LIBC, "malloc", ) + ["other", "main"], 100), stack(of(LIBC, "malloc") + of(LIBSTD, REGEX) + TO_REGEX, 300),
                               stack(["work", "main"], 600)])
    assert apart["allocation"].get("beneath") is None


def test_allocating_freeing_and_copying_are_told_apart(tmp_path):
    found = summary(tmp_path, [stack(of(LIBC, "_int_malloc", "malloc") + ["<alloc::string::String as core::clone::Clone>::clone", "app::f", "main"], 100),
                               stack(of(LIBC, "_int_free", "free") + ["app::f", "main"], 200), stack(["app::g", "main"], 700)])
    f = found["allocation"]
    assert {p["what"]: p["weight"] for p in f["parts"]} == {"allocating": 1000, "freeing": 2000, "in copies": 1000}
    assert f["from"]["function"] == "app::f"


def test_the_kernels_allocators_are_not_the_programs(tmp_path):
    assert "allocation" not in share(tmp_path, of(KERNEL, "kmem_cache_alloc", "do_syscall_64") + ["main"])
    assert "allocation" not in share(tmp_path, ["my_malloc_statistics", "main"])


# System calls

def call(name, *inside):
    return of(KERNEL, *inside, "__x64_sys_" + name, "do_syscall_64", "entry_SYSCALL_64_after_hwframe")


def test_system_calls_are_told_by_which_they_are(tmp_path):
    found = summary(tmp_path, [stack(call("write", "ksys_write") + of(LIBC, "__GI___libc_write") + ["write_log", "handle", "main"], 74),
                               stack(of(LIBC, "__GI___libc_write") + ["write_log", "handle", "main"], 16),
                               stack(call("futex") + ["wait", "main"], 60), stack(call("getpid") + ["main"], 20), stack(["work", "main"], 830)])
    assert {k for k in found if k.startswith("syscall")} == {"syscall:write", "syscall:futex"}
    f = found["syscall:write"]
    assert f["title"] == "WRITE SYSCALLS" and float(f["percent"]) == 7.4 and f["in_kernel"] == 740
    assert way(f) == ["handle", "write_log", "__GI___libc_write"]
    for text in f.values():  # no size, no count
        assert "bytes each" not in str(text)


def test_the_caller_tells_a_call_that_the_kernel_does_not(tmp_path):
    entry = of(KERNEL, "vfs_read", "do_syscall_64", "entry_SYSCALL_64_after_hwframe")
    assert "syscall:read" in share(tmp_path, entry + of(LIBC, "__GI___libc_read") + ["main"])
    assert "syscall:write" in share(tmp_path, entry[1:] + ["internal/runtime/syscall.Syscall6", "syscall.Syscall", "syscall.write", "main.main"])
    assert "syscall" in share(tmp_path, entry + ["main"]) and "syscall" not in share(tmp_path, entry + ["main"], 150)


def test_bytes_are_not_calls(tmp_path):
    copies = share(tmp_path, call("write", "rep_movs_alternative", "copy_folio_from_iter_atomic", "ksys_write") + ["main"])["syscall:write"]
    calls = share(tmp_path, call("write", "fdget_pos", "ksys_write") + ["main"])["syscall:write"]
    assert "fewer bytes" in copies["remedy"] and "buffer" in calls["remedy"]


@pytest.mark.parametrize("name", ["execve", "exit_group"])
def test_a_programs_start_and_end_are_no_finding(name, tmp_path):
    assert not [k for k in share(tmp_path, call(name) + ["main"]) if k.startswith("syscall")]


# Locks

def test_contention_is_not_taking_a_lock(tmp_path):
    lock = of(LIBC, "__pthread_mutex_lock")
    futex = of(KERNEL, "futex_wait_queue", "futex_wait", "do_futex", "__x64_sys_futex", "do_syscall_64")
    taken = share(tmp_path, futex + of(LIBC, "__lll_lock_wait") + lock + ["add", "work", "main"])["lock"]
    assert taken["title"] == "LOCK CONTENTION" and taken["from"]["function"] == "add"
    assert share(tmp_path, futex + lock + ["add", "main"])["lock"]["title"] == "LOCK CONTENTION"
    free = share(tmp_path, lock + ["add", "work", "main"])["lock"]
    assert free["title"] == "LOCKING" and "contended" not in {p["what"] for p in free["parts"]}
    # a condition waits in futex, too
    assert "lock" not in share(tmp_path, futex + of(LIBC, "__pthread_cond_wait") + ["take", "main"])
    assert share(tmp_path, ["sync.(*Mutex).lockSlow", "sync.(*Mutex).Lock", "main.add", "main.main"])["lock"]["title"] == "LOCK CONTENTION"
    kernel = share(tmp_path, of(KERNEL, "native_queued_spin_lock_slowpath", "_raw_spin_lock", "do_syscall_64") + ["main"])["lock"]
    assert kernel["title"] == "KERNEL LOCK CONTENTION"
    assert "lock" not in share(tmp_path, of(KERNEL, "_raw_spin_lock", "do_syscall_64") + ["main"])


def test_clocks_are_no_locks(tmp_path):
    frames = of(LIBC, "__pthread_mutex_lock") + ["add", "main"]
    assert "lock" in share(tmp_path, frames, events=[profiles.event("cpu-clock:ppp", kind="software")])
    assert "lock" not in share(tmp_path, frames, events=[profiles.event("lock:contention_begin", kind="probe")])


# Exceptions

def test_exceptions(tmp_path):
    thrown = of("/usr/lib/libgcc_s.so.1", "uw_frame_state_for", "_Unwind_RaiseException") + of(LIBSTD, "__cxa_throw")
    f = share(tmp_path, thrown + ["parse(char const*)", "lookup(char const*)", "main"])["unwinding"]
    assert way(f) == ["lookup(char const*)", "parse(char const*)", "__cxa_throw"]
    assert "unwinding" in share(tmp_path, ["runtime.gopanic", "main.f", "main.main"])
    assert "unwinding" in share(tmp_path, ["java/lang/Throwable.fillInStackTrace", "app/A.f", "app/A.main"])
    backtrace = of("/usr/lib/libgcc_s.so.1", "uw_frame_state_for", "_Unwind_Backtrace") + of(LIBC, "backtrace")
    assert "unwinding" not in share(tmp_path, backtrace + ["sample()", "main"])


# Page faults

@pytest.mark.parametrize("kind, what, remedy", [("do_anonymous_page", "fresh memory", "use it again"), ("do_read_fault", "pages of files", "MAP_POPULATE"),
                                                ("do_wp_page", "copy on write", "fork"), ("do_swap_page", "swapped in", "less memory")])
def test_page_faults_by_kind(kind, what, remedy, tmp_path):
    frames = of(KERNEL, "clear_page_erms", kind, "__handle_mm_fault", "exc_page_fault", "asm_exc_page_fault") + ["fill", "main"]
    f = share(tmp_path, frames)["page_fault"]
    assert [p["what"] for p in f["parts"]] == [what] and remedy in f["remedy"] and f["from"]["function"] == "fill"
    assert "page_fault" not in share(tmp_path, of(KERNEL, "clear_page_erms", "__x64_sys_mmap", "do_syscall_64") + ["fill", "main"])


# Runtimes

def test_collectors_and_interpreters(tmp_path):
    assert "gc" in share(tmp_path, ["runtime.scanobject", "runtime.gcDrain", "runtime.gcBgMarkWorker"])
    assert "gc" in summary(tmp_path, [stack(["0x1", "start_thread"], 300, tid=2, comm="GC Thread#0"), stack(["work", "main"], 700)])
    assert "gc" not in share(tmp_path, ["runtime.schedule", "runtime.mcall"])
    loop = of("/usr/lib/libpython3.11.so.1.0", "_PyEval_EvalFrameDefault")
    assert "interpreter" in share(tmp_path, loop + ["main"])
    assert "interpreter" in share(tmp_path, ["Builtins_LdaNamedPropertyHandler", "main"])
    # what an interpreter calls is not its loop
    assert "interpreter" not in share(tmp_path, of(LIBC, "memcpy") + loop + ["main"])


# Debug builds

INLINE = ["std::vector<int, std::allocator<int> >::operator[](unsigned long)", "__gnu_cxx::__normal_iterator<int*, std::vector<int> >::base() const",
          "std::forward<int>(int&)"]


def debug(tmp_path, names, dso="/bin/app", **more):
    stacks = [stack([{"func": n, "dso": dso, "ip": hex(0x1000 * (i + 1)), "symoff": "0x0", **more}, "sum", "main"], 100) for i, n in enumerate(names)]
    return summary(tmp_path, stacks + [stack(["work", "main"], 700)]).get("debug_build")


def test_a_debug_build(tmp_path):
    f = debug(tmp_path, INLINE)
    assert f["functions"] == 3 and f["from"]["function"] == "sum" and f["percent"] == 30
    assert debug(tmp_path, INLINE[:2]) is None  # two may be too large to inline
    assert debug(tmp_path, ["std::vector<int>::_M_realloc_insert(int)", "std::sort<int*>(int*, int*)", "std::map<int>::find(int)"]) is None
    assert debug(tmp_path, INLINE, dso=LIBSTD) is None
    assert debug(tmp_path, INLINE, inlined=True, inline_depth=1) is None


def test_names_alone_do_not_tell_what_was_inlined(tmp_path):
    path = tmp_path / "f.folded"
    path.write_text("".join("main;sum;%s 300\n" % n.replace(";", ",") for n in INLINE))
    assert "debug_build" not in {f["id"] for f in ask("summary", path)["findings"]}


# Recursion

def test_recursion_is_what_the_function_does_itself(tmp_path):
    assert share(tmp_path, ["fib", "fib", "fib", "main"])["recursion"]["most_in_a_stack"] == 3
    assert "recursion" in share(tmp_path, of(LIBC, "memcpy") + ["walk", "walk", "main"])
    # it dispatches to what does the work
    assert "recursion" not in share(tmp_path, ["op_add", "execute", "execute", "main"])
    assert "recursion" not in share(tmp_path, of(LIBC, "msort_with_tmp", "msort_with_tmp", "qsort") + ["sort", "main"])


# Doubt

def test_few_samples_are_no_rule(tmp_path):
    frames = ["fib", "fib", "main"]
    assert "recursion" in summary(tmp_path, [stack(frames, 12), stack(["main"], 50)])
    assert "recursion" not in summary(tmp_path, [stack(frames, 9), stack(["main"], 41)])


def test_from_many_places_names_no_caller(tmp_path):
    stacks = [stack(of(LIBC, "malloc") + ["f%d" % i, "main"], 30) for i in range(10)]
    f = summary(tmp_path, stacks + [stack(["work", "main"], 700)])["allocation"]
    assert f["way_weight"] == 300 and f["weight"] == 3000
    assert "from" not in f or f["from"] is None or f["from"]["function"] is None


def test_intervals_are_of_samples_of_equal_weight(tmp_path):
    """A sample that weighs as much as a hundred makes a share less sure."""
    even = share(tmp_path, of(LIBC, "malloc") + ["f", "main"])["allocation"]
    stacks = [(of(LIBC, "malloc") + ["f", "main"], {"samples": 300, "period": 3000}, {"pid": 1, "tid": 1}),
              (["work", "main"], {"samples": 70, "period": 7000}, {"pid": 1, "tid": 1})]
    uneven = summary(tmp_path, stacks)["allocation"]
    assert even["percent"] == uneven["percent"] == 30
    assert uneven["high"] - uneven["low"] > 2 * (even["high"] - even["low"])


# ---- where threads begin ----

WORKER = ["start_wqthread", "_pthread_wqthread", "_dispatch_workloop_worker_thread"]


def folded_workers(busy, idle):
    return "".join("daemon;%s %d\n" % (";".join(stack), n) for stack, n in ((WORKER + ["compact"], busy), (WORKER[:1], idle)) if n)


@pytest.mark.parametrize("busy, idle, waits", [(3500, 0, 0), (3500, 1500, 1500), (0, 1500, 1500)])
def test_a_worker_of_a_queue_waits_where_it_calls_nothing(busy, idle, waits, tmp_path):
    """start_wqthread is the root of every worker of dispatch; one without work has no other function."""
    path = tmp_path / "w.folded"
    path.write_text(folded_workers(busy, idle))
    found = {f["id"]: f["weight"] for f in ask("summary", path)["findings"]}
    assert found.get("wait", 0) == waits
    tags = {r["name"]: r["tags"] for r in ask("top", path)["rows"]}["start_wqthread"]
    assert ("wait" in tags) == (busy == 0)


def test_where_threads_begin_is_no_wait_of_dtraces_either(tmp_path):
    path = tmp_path / "d.txt"
    path.write_text("CPU     ID                    FUNCTION:NAME\n  1  80000                       :tick-10s\n\n\n"
                    + "".join("              %s\n" % f for f in ("daemon`compact+0x12", "libsystem_pthread.dylib`_pthread_wqthread+0x11c",
                                                                 "libsystem_pthread.dylib`start_wqthread+0x8")) + "             3500\n")
    assert not [f for f in ask("summary", path)["findings"] if f["id"] == "wait"]
    assert "[wait]" not in run("top", path, code=0).out
