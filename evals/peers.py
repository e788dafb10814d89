"""What is true of the recordings, found out without spaa: by perf, go tool pprof, heaptrack_print, nm and counting.

Each question of questions.json has a function here: it returns what the peers' tools say, and raises Untrue where that is not
what its program was built to do (or, of questions that cannot be answered, where the data would tell after all). What has to
be measured is a member `value` of what it returns: a number, or two."""

import collections
import os
import re
import statistics
import subprocess

Sample = collections.namedtuple("Sample", "comm tid time frames")  # frames: (address, symbol, object), leaf first
CHECKS = {}


class Untrue(Exception):
    """A recording is not what its question takes it for."""


def must(true, said):
    if not true:
        raise Untrue(said)
    return said


def checks(question):
    """Declares the function that finds the truth of a question."""
    def keep(find):
        CHECKS[question] = find
        return find
    return keep


def out(*command):
    return subprocess.run(command, capture_output=True, check=True).stdout.decode("utf-8", "replace")


# ---- what the peers' tools say ----

def samples(path):
    """The samples of a recording, as perf reads them."""
    text = out("perf", "script", "-i", path, "--no-inline", "-F", "comm,tid,time,ip,sym,dso")
    for block in text.split("\n\n"):
        lines = block.strip("\n").splitlines()
        head = re.match(r"\s*(.*?)\s+(\d+)\s+(\d+\.\d+):", lines[0]) if lines else None
        frames = [re.match(r"\s*([0-9a-f]+) (.*) \((.*)\)$", line) for line in lines[1:]]
        frames = [(int(m[1], 16), m[2], m[3]) for m in frames if m]
        if head and frames:
            yield Sample(head[1], int(head[2]), float(head[3]), frames)


def percent(path, test):
    """The share of the samples that pass a test, and how many there are."""
    passed = [bool(test(s)) for s in samples(path)]
    return 100 * sum(passed) / len(passed), len(passed)


def leaves(path):
    return collections.Counter(s.frames[0][1] for s in samples(path))


def has(pattern):
    """A test of samples: a frame's name is, from its beginning to its end, as the pattern says."""
    known = re.compile(pattern)
    return lambda s: any(known.fullmatch(name) for _, name, _ in s.frames)


def events(path):
    """perf's list of what was recorded: attributes too."""
    return out("perf", "evlist", "-v", "-i", path)


def cumulative(*files, sort="cum"):
    """Percentages of functions as go tool pprof has them."""
    text = out("go", "tool", "pprof", "-top", "-" + sort, "-nodecount=1000", "-nodefraction=0", *files)
    rows = re.findall(r"^ *-?\S+ +-?[\d.]+% +-?[\d.]+% +-?\S+ +(-?[\d.]+)% +(.*)$", text, re.M)
    return {name.strip(): float(share) for share, name in rows}


def only_cpu(path):
    """That a recording has CPU samples and nothing else: no allocation, wait, argument or register of user code."""
    said = events(path)
    names = set(re.findall(r"^(\S+?): type", said, re.M))
    must(names and all(re.match(r"(cpu-clock|cycles|task-clock|cpu[_/])", n) for n in names), f"only CPU samples: {sorted(names)}")
    must("REGS_USER" not in said and "STACK_USER" not in said and "DATA_SRC" not in said, "no registers and no stack contents")
    return f"nothing but {', '.join(sorted(names))}: {re.search(r'sample_type: ([A-Z|_]+)', said)[1]}"


# ---- one truth a question ----

REGEX = r".*basic_regex<.*>::(basic_regex|_M_compile)|.*_Compiler<.*"


@checks("regex")
def regex(folder):
    share, _ = percent(f"{folder}/server.perf.data", lambda s: has(REGEX)(s) and has("validate")(s))
    return must(share > 60, f"{share:.1f} % of the samples have validate and std::regex's constructor in their stacks")


@checks("regex-share")
def regex_share(folder):
    path = f"{folder}/server.perf.data"
    share, count = percent(path, has(REGEX))
    # Broken chains lose some: those that a reader can place in no other way are leaves of the compiler's templates.
    validate, _ = percent(path, has("validate"))
    said = f"{share:.2f} % of {count} samples; of validate, matching included, {validate:.2f} %"
    must(share <= validate + 3, said)
    return said, share


@checks("writer")
def writer(folder):
    own = collections.Counter()
    for s in samples(f"{folder}/server.perf.data"):
        if has(r"(ksys_|__x64_sys_)write|(__GI___libc_|__libc_)?write")(s):
            own[next((name for _, name, dso in s.frames if dso.endswith("bin/server")), "(none)")] += 1
    return must(own and own.most_common(1)[0][0] == "write_log", f"own callers of write in the samples: {dict(own)}")


@checks("write-size")
def write_size(folder):
    return only_cpu(f"{folder}/server-quick.perf.data")


@checks("exact-share")
def exact_share(folder):
    """At least: stacks with handle. At most: also those that do not reach main, _start or a thread's entry."""
    path = f"{folder}/server-quick.perf.data"
    least, _ = percent(path, has("handle"))
    ends = r"worker|.*_State_impl.*|start_thread|clone3?|main|_start|__libc_start_.*|.*ret_from_fork.*"
    broken, count = percent(path, lambda s: not has("handle")(s) and not has(ends)(s))
    only_cpu(path)
    return must(broken > 2, f"at least {least:.1f} %, at most {least + broken:.1f} % of {count} samples: {broken:.1f} % reach no entry")


@checks("twins")
def twins(folder):
    """By address: both functions have one name, so nm says where each of them stands, and in which file."""
    table = re.findall(r"^([0-9a-f]+) ([0-9a-f]+) t mix\t\S*?(\w+\.c):", out("nm", "-S", "-l", f"{folder}/bin/twins"), re.M)
    must(len(table) == 2, f"two functions are named mix: {table}")
    counts = collections.Counter()
    for s in samples(f"{folder}/twins.perf.data"):
        for start, size, file in table:
            counts[file] += int(start, 16) <= s.frames[0][0] < int(start, 16) + int(size, 16)
    factor = counts["twins_b.c"] / max(1, counts["twins_a.c"])
    return must(2 < factor < 4.5, f"leaf samples {dict(counts)}: {factor:.2f} times"), factor


@checks("stripped-name")
def stripped_name(folder):
    (_, name, dso), count = collections.Counter((0, s.frames[0][1], s.frames[0][2])
                                                for s in samples(f"{folder}/images.perf.data")).most_common(1)[0]
    sections = out("readelf", "-SW", f"{folder}/bin/libimages.so")
    must(".symtab" not in sections and ".debug" not in sections, "the library has neither symbols nor debug information")
    return must(name == "[unknown]" and "libimages" in dso, f"most samples ({count}) are of {name} in {os.path.basename(dso)}")


@checks("stripped-library")
def stripped_library(folder):
    share, count = percent(f"{folder}/images.perf.data", lambda s: "libimages" in s.frames[0][2])
    return must(share > 50, f"{share:.2f} % of {count} leaves are of libimages.so"), share


@checks("leak")
def leak(folder):
    text = out("heaptrack_print", "-f", f"{folder}/cache.zst", "-l", "1", "-p", "0", "-a", "0", "-T", "0")
    first = text.split("MEMORY LEAKS", 1)[1].strip().split("\n\n")[0]
    stack = [name for name in ("checked", "copy_of", "remember", "parse", "main") if re.search(rf"^\s*{name}$", first, re.M)]
    said = first.splitlines()[0] + " " + ", ".join(stack)
    return must(stack == ["checked", "copy_of", "remember", "main"] and re.search(r"\d+(\.\d+)?[MG] leaked", said), said)


def per_run(folder, kind):
    """Leaf samples by function, of each of a side's three runs (the same work each)."""
    return [leaves(f"{folder}/{kind}-{n}.perf.data") for n in (1, 2, 3)]


def ratios(folder, old, new, renamed=()):
    """How many times as many samples a function has on the other side, for those that have 2 % and more."""
    before, after = per_run(folder, old), per_run(folder, new)
    middle = lambda runs, name: statistics.median(run[name] for run in runs)
    whole = middle([collections.Counter(all=sum(r.values())) for r in before], "all")
    names = [n for n in before[0] if middle(before, n) > 0.02 * whole]
    return {n: middle(after, dict(renamed).get(n, n)) / middle(before, n) for n in names}


@checks("slower")
def slower(folder):
    found = ratios(folder, "report-old", "report-new", [("sum_rows", "total_rows")])
    said = ", ".join(f"{n} x{r:.2f}" for n, r in sorted(found.items()))
    others = [r for n, r in found.items() if n != "format_row"]
    return must(found["format_row"] > 1.4 and max(others) < 1.15, said)


@checks("noise")
def noise(folder):
    """No function is apart in all runs of both sides, and by more than 5 %: then chance could be taken for a change."""
    found, before, after = ratios(folder, "nightly-mon", "nightly-tue"), per_run(folder, "nightly-mon"), per_run(folder, "nightly-tue")
    said = ", ".join(f"{n} x{r:.2f}" for n, r in sorted(found.items()))
    for name, ratio in found.items():
        mon, tue = [run[name] for run in before], [run[name] for run in after]
        must((max(mon) >= min(tue) and max(tue) >= min(mon)) or abs(ratio - 1) < 0.05, f"{said}; {name}: {mon}, {tue}: record again")
    return must(all(0.85 < r < 1.18 for r in found.values()), said)


@checks("phase")
def phase(folder):
    all_ = list(samples(f"{folder}/phases.perf.data"))
    began = all_[0].time
    mine = [s.time - began for s in all_ if has("rebuild_index")(s)]
    must(len(mine) > 500 and max(mine) - min(mine) < 3, f"rebuild_index runs once for a while: {len(mine)} samples")
    return f"rebuild_index from {mine[0]:.2f} to {mine[-1]:.2f} s", (mine[0], mine[-1])


@checks("faults")
def faults(folder):
    share, count = percent(f"{folder}/pages.perf.data", lambda s: has(r"(asm_)?exc_page_fault|page_fault")(s) and has(r"fill(\.\w+)*")(s))
    return must(share > 50, f"{share:.1f} % of {count} samples are page faults beneath fill")


def switches(path):
    """Every switch of a CPU, as perf recorded it: (time, off, state, on) with (comm, tid)."""
    text = out("perf", "script", "-i", path, "-F", "time,event,trace", "-G")
    form = r"(\d+\.\d+):.*prev_comm=(.*) prev_pid=(\d+) .*prev_state=(\S+) ==> next_comm=(.*) next_pid=(\d+)"
    for m in re.finditer(form, text):
        yield float(m[1]), (m[2], int(m[3])), m[4], (m[5], int(m[6]))


@checks("holder")
def holder(folder):
    """Where all http-* are off for over 100 ms at one time, and who of the process is switched meanwhile."""
    off, state_of, gaps, preempted, own = {}, {}, [], [], []
    for time, before, state, after in switches(f"{folder}/stall-switch.perf.data"):
        if after in off and after[0].startswith("http-") and time - off[after] > 0.1:
            gaps.append((off[after], time))
        if after in off and after[0] == "refresher" and state_of[after].startswith("R"):
            preempted.append((off[after], time))
        off[before] = time
        state_of[before] = state
        own += [(time, c[0]) for c in (before, after) if c[0] in ("refresher", "stall")]
    stops = []
    for start, end in sorted(gaps):
        if not stops or start > stops[-1][1]:
            stops.append([start, end, 0])
        stops[-1][2] += 1
    said, sound = [], len(stops) == 2
    for start, end, n in stops:
        lost = sum(b - a for a, b in preempted if start <= a and b <= end)
        names = {name for time, name in own if start < time < end - 0.01}  # at the end, main joins it
        said.append(f"{n} http-* off {1000 * (end - start):.0f} ms, refresher {1000 * lost:.0f} of it preempted, on or off: {names}")
        sound = sound and n >= 10 and names == {"refresher"} and lost > 0.03
    return must(sound, "; ".join(said))


@checks("waited")
def waited(folder):
    return only_cpu(f"{folder}/stall-cpu.perf.data")


@checks("copies")
def copies(folder):
    found = cumulative(f"{folder}/shop/cpu.pb.gz")
    mine = sorted(((share, n) for n, share in found.items() if n.startswith("main.") and n != "main.main"), reverse=True)
    return must({n for _, n in mine[:2]} == {"main.deepCopy", "main.price"} and mine[1][0] > 2 * mine[2][0],
                ", ".join(f"{n} {share} %" for share, n in mine[:4]))


@checks("growth")
def growth(folder):
    found = cumulative("-sample_index=inuse_space", "-base", f"{folder}/shop/heap-1.pb.gz", f"{folder}/shop/heap-3.pb.gz")
    called = {n: found.get("main." + n, 0.0) for n in ("remember", "price", "makeBasket", "dump")}
    return must(called["remember"] > 50 and called["remember"] > 5 * max(v for n, v in called.items() if n != "remember"),
                "of what grew, by functions that main.main calls: " + ", ".join(f"{n} {v} %" for n, v in called.items()))


@checks("clones")
def clones(folder):
    """Of the stacks that reach count; those that do not are to be the allocator's, which has no frame pointers."""
    path = f"{folder}/words.perf.data"
    whole, _ = percent(path, has(r"(words::)?count"))
    mine, _ = percent(path, has(r"(words::)?(is_stop|stop_words).*"))
    broken, count = percent(path, lambda s: not has(r"(words::)?(count|main)")(s))
    of_libc, _ = percent(path, lambda s: not has(r"(words::)?(count|main)")(s)
                         and re.search(r"malloc|free|unlink_chunk|realloc|alloc_perturb", s.frames[0][1]))
    said = (f"is_stop and stop_words are in {mine:.1f} of the {whole:.1f} % of {count} samples that reach count; "
            f"{broken:.1f} % do not, {of_libc:.1f} are malloc's and free's")
    return must(mine > 0.6 * whole and of_libc > 0.9 * broken, said)


@checks("node")
def node(folder):
    """Stacks with each function of render.js, however it was compiled; those without a name by their line, 1 is top-level code."""
    counts, total = collections.Counter(), 0
    for s in samples(f"{folder}/render.perf.data"):
        found = [re.match(r"JS:[~*^+]?(\S*) \S*render\.js:(\d+)", name) for _, name, _ in s.frames]
        counts.update({m[1] or "line " + m[2] for m in found if m})
        total += 1
    order = [n for n, _ in counts.most_common() if n not in ("renderRow", "line 1")]
    return must(order[0] == "sortRows", f"of {total} stacks with each: {dict(counts.most_common(6))}")


@checks("wrong-kind")
def wrong_kind(folder):
    return only_cpu(f"{folder}/words.perf.data")
