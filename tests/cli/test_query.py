"""spaa query: SQL against a plain reading of the same file and against the other commands."""

import collections
import json
import os
import re

import gen_spaa
import pytest

import profiles
from conftest import ROOT, ask, run
from profiles import D, Profile, function
from queries import TABLES, one, query, refused  # noqa: F401, a fixture

KINDS = {
    "plain": {}, "decimals": {"decimals": True}, "64-bit": {"big": True}, "states": {"states": True},
    "linked": {"linked": True}, "all": {"decimals": True, "states": True, "linked": True},
}
FILTERS = [{}, {"comm": "t1"}, {"pid": "10"}, {"focus": "fn1"}, {"ignore": "fn2"}, {"hide": "fn3"}, {"root-at": "fn0"},
           {"user": ""}, {"kernel": ""}, {"dso": "a.so"}, {"comm": "t0", "focus": "fn", "hide": "fn1"}]


@pytest.fixture(params=sorted(KINDS))
def files(request, tmp_path):
    made = []
    for seed in (11, 12):
        path = tmp_path / ("%d.spaa" % seed)
        path.write_text(profiles.random_text(seed, **KINDS[request.param]))
        made.append((path, Profile(path.read_text())))
    return made


def selections(profile, small=False):
    for name in profile.primary:
        for f in FILTERS[:3] if small else FILTERS:
            s = profile.select(name, **f)
            if s.rows:
                yield s
    yield profile.select("cycles", "samples", view="all")


def rounded(v):
    """SQL adds decimals as doubles."""
    return v if isinstance(v, int) else round(v, 6)


# ---- the truths ----

def test_functions(files):
    for path, profile in files:
        for s in selections(profile):
            rows = query(path, "SELECT name, dso_name, self, total, self_samples, total_samples "
                               "FROM functions WHERE tags IS NOT NULL", *s.options())
            expected = s.top()
            expected.pop(("[no stack]", None), None)
            assert {(n, d): tuple(v) for n, d, *v in rows} == expected and len(rows) == len(expected)


def test_functions_not_in_the_selection_have_no_weight(files):
    for path, profile in files:
        s = next(s for s in selections(profile) if "focus" in s.filters)
        names = {k for k in s.top()}
        rows = query(path, "SELECT name, dso_name, self, total, self_samples FROM functions", *s.options())
        assert len(rows) == len({function(f) for f in profile.frames.values()})
        for name, dso, self, total, samples in rows:
            assert (name, dso) in names or (self, total, samples) == (0, 0, None)


def test_parameters_name_event_and_metric(files):
    for path, profile in files:
        asked = {}
        for e in profile.primary:
            for view in ([], ["--view", "all"]):
                s = profile.select(e, **({"view": "all"} if view else {}))
                for sql in ("SELECT name, dso_name, self FROM functions('%s') WHERE self <> 0",
                            "SELECT name, dso_name, self FROM functions WHERE self <> 0 AND event = '%s'"):
                    rows = query(path, sql % e, *view)
                    assert {(n, d): v for n, d, v in rows} == \
                        {k: v[0] for k, v in s.top().items() if k[1] and v[0]}
                asked[e, bool(view)] = sum(v for _, _, v in rows)
        rows = query(path, "SELECT e.name, sum(f.self), f.event FROM functions f JOIN events e ON f.event = e.name "
                           "GROUP BY e.id")
        assert {n: rounded(v) for n, v, _ in rows} == {n: asked[n, False] for n in profile.primary}
        assert all(n == e for n, _, e in rows)
        rows = query(path, "SELECT sum(self), event, metric FROM functions('cycles', 'samples')", "--view", "all")
        expected = profile.select("cycles", "samples", view="all")
        assert rows == [[sum(r.own for r in expected.rows if r.frames), "cycles", "samples"]]


def tree_of(path, selection, sql):
    paths, out = {}, {}
    for ident, parent, name, dso, self, total, depth, end in query(path, sql, *selection.options()):
        paths[ident] = () if parent is None else paths[parent] + ((name, dso),)
        assert len(paths[ident]) == depth and ident < end
        out[paths[ident]] = (self, total)
    assert len(out) == len(paths)
    return out


def test_nodes(files):
    columns = "id, parent, name, dso_name, self, total, depth, subtree_end"
    for path, profile in files:
        for s in selections(profile, small=True):
            assert tree_of(path, s, "SELECT %s FROM nodes" % columns) == s.tree()
            assert tree_of(path, s, "SELECT %s FROM nodes WHERE inverted = 1" % columns) == s.tree(inverted=True)


def test_frames(files):
    fields = ("func", "dso", "ip", "symoff", "srcline", "inline_depth")

    def key(f):
        return tuple(f["dso"]["name"] if k == "dso" else f.get(k, 0 if k == "inline_depth" else None) for k in fields)
    for path, profile in files:
        for s in selections(profile, small=True):
            self, total = collections.Counter(), collections.Counter()
            for row in s.rows:
                if row.frames:
                    self[key(row.frames[0])] += row.own
                for k in {key(f) for f in row.frames}:
                    total[k] += row.weight
            rows = query(path, "SELECT func, dso_name, ip, symoff, srcline, inline_depth, self, total "
                               "FROM frames", *s.options())
            assert {tuple(r[:6]): tuple(r[6:]) for r in rows} == \
                {key(f): (self[key(f)], total[key(f)]) for f in profile.frames.values()}


def test_stacks_and_their_frames(files):
    for path, profile in files:
        rows = query(path, "SELECT s.stack_id, s.event, s.stack_type, s.pid, s.tid, s.cpu, s.comm, s.state, s.depth, "
                           "json_group_array(r.func) FROM stacks s LEFT JOIN stack_frames f ON f.stack = s.id "
                           "LEFT JOIN frames r ON r.id = f.frame GROUP BY s.id")
        found = {r[0]: r[1:] for r in rows}
        assert len(found) == len(profile.stacks)
        for s in profile.stacks:
            c = s["context"]
            names = [f["func"] for f in s["leaf_first"]]
            assert found[s["id"]] == [c["event"], s.get("stack_type", "unified"), c.get("pid"), c.get("tid"),
                                      c.get("cpu"), c.get("comm"), c.get("x_state"), len(names),
                                      json.dumps(names or [None], separators=(",", ":")).replace("None", "null")]


def test_selected_stacks_add_up(files):
    for path, profile in files:
        for s in selections(profile):
            rows = query(path, "SELECT sum(weight), sum(self), sum(samples), count(weight) FROM stacks", *s.options())
            samples = [r.samples for r in s.rows if r.samples is not None]
            assert [[rounded(a), rounded(b), *rest] for a, b, *rest in rows] == \
                [[sum(r.weight for r in s.rows), sum(r.own for r in s.rows), sum(samples) if samples else None,
                  len(s.rows)]]
            kept = query(path, "SELECT kept, whole, event_whole, event, metric FROM selection", *s.options())
            assert kept == [[s.total, s.base, s.all, s.event, s.metric]]


def test_totals_made_by_hand_are_those_of_functions(files):
    by_hand = ("SELECT function, sum(weight) FROM (SELECT DISTINCT f.function, o.id, o.weight FROM stack_frames f "
               "JOIN stacks s ON s.id = f.stack JOIN stacks o ON o.id = s.observation) GROUP BY function ORDER BY 1")
    for path, _ in files:
        made = query(path, "SELECT id, total FROM functions WHERE tags IS NOT NULL ORDER BY id")
        assert [[i, rounded(v)] for i, v in query(path, by_hand)] == made


def test_weights(files):
    for path, profile in files:
        rows = query(path, "SELECT s.stack_id, w.metric, w.value, w.decimal, w.exclusive FROM weights w "
                           "JOIN stacks s ON s.id = w.stack")
        expected = {(s["id"], w["metric"]): w["value"] for s in profile.stacks for w in s["weights"]}
        assert {(i, m): v for i, m, v, _, _ in rows} == expected and len(rows) == len(expected)
        assert {(i, m): D(t) for i, m, _, t, _ in rows} == expected
        empty = {s["id"] for s in profile.stacks if not s["frames"]}
        assert {(i, m): x for i, m, _, _, x in rows} == \
            {(i, m): None if i in empty else v for (i, m), v in expected.items()}


def test_events_are_those_of_info(files):
    for path, _ in files:
        rows = query(path, "SELECT name, kind, mode, primary_metric, unit, samples, whole, stacks FROM events")
        expected = ask("info", path)
        assert rows == [[e[k] for k in ("name", "kind", "mode", "primary_metric", "unit", "samples", "whole", "stacks")]
                        for e in expected["events"]]
        counts = query(path, "SELECT %s" % ",".join("(SELECT count(*) FROM %s)" % t for t in (
            "threads", "dsos", "functions", "frames", "stacks")))
        assert counts == [[expected[k] for k in ("threads", "dsos", "functions", "frames", "stacks")]]
        chosen = query(path, "SELECT name FROM events WHERE selected")
        assert chosen == [[ask("top", path)["profile"]["event"]]]


def test_functions_are_those_of_top(files):
    for path, _ in files:
        top = ask("top", path, "-n", 0)
        rows = query(path, "SELECT handle, name, dso_name, self, total, tags FROM functions "
                           "WHERE tags IS NOT NULL ORDER BY self DESC, total DESC, name, dso_name")
        assert rows == [[r["id"], r["function"], r["dso"], r["self"], r["total"], " ".join(r["tags"])]
                        for r in top["rows"] if "id" in r]


def test_nodes_are_those_of_tree(files):
    for path, _ in files:
        for inverted in (0, 1):
            tree = ask("tree", path, "--min-percent", 0, "-n", 0, *(["--inverted"] if inverted else []))
            rows = query(path, "SELECT id, parent, depth, name, self, total, samples FROM nodes(NULL, NULL, %d) "
                               "ORDER BY id" % inverted)
            assert rows == [[n[k] for k in ("id", "parent", "depth", "name", "self", "total", "samples")]
                            for n in tree["nodes"]]


# ---- what only some files have ----

@pytest.fixture(scope="module")
def rich(tmp_path_factory):
    """Samples, windows, unknown members, ids of both kinds."""
    path = tmp_path_factory.mktemp("rich") / "rich.spaa"
    path.write_text("".join(gen_spaa.profile(seed=31, stacks=60, samples=80, windows=3)))
    return path, [json.loads(line, parse_float=D) for line in path.read_text().split("\n") if line.strip()]


def test_samples(rich):
    path, records = rich
    expected = [r for r in records if r["type"] == "sample"]
    assert expected
    rows = query(path, "SELECT timestamp, pid, tid, cpu, event, period, (SELECT stack_id FROM stacks s "
                       "WHERE s.id = x.stack), time FROM samples x")
    plain = [[r.get("timestamp"), r.get("pid"), r.get("tid"), r.get("cpu"), r.get("event"), r.get("period"),
              str(r["stack_id"]) if "stack_id" in r else None] for r in expected]
    assert sorted(map(repr, (r[:7] for r in rows))) == sorted(map(repr, plain))
    times = [r[7] for r in rows if r[7] is not None]
    assert times == sorted(times) and all(r[7] == r[0] * 10 ** 9 for r in rows if r[7] is not None)
    assert query(path, "SELECT time FROM samples ORDER BY time") == query(path, "SELECT time FROM samples ORDER BY +time")
    by_stack = query(path, "SELECT stack, count(*) FROM samples GROUP BY stack ORDER BY 1")
    assert by_stack == query(path, "SELECT +stack, count(*) FROM samples GROUP BY +stack ORDER BY 1")


def test_windows(rich):
    path, records = rich
    windows = [r for r in records if r["type"] == "window"]
    assert windows
    rows = query(path, "SELECT window_id, start, end, unit, stacks FROM windows")
    assert rows == [[str(w["id"]), w["start"], w["end"], w.get("unit"), len(w["by_stack"])] for w in windows]
    rows = query(path, "SELECT w.window_id, s.stack_id, x.metric, x.value FROM windows w JOIN window_weights x "
                       "ON x.window = w.id JOIN stacks s ON s.id = x.stack")
    expected = [[str(w["id"]), str(b["stack_id"]), v["metric"], v["value"]]
                for w in windows for b in w["by_stack"] for v in b["weights"]]
    assert sorted(map(repr, rows)) == sorted(map(repr, expected))


def test_header_threads_and_dsos(rich):
    path, records = rich
    head = records[0]
    rows = query(path, "SELECT source_tool, version, frame_order, stack_id_mode, tool, command, time_start, time_end "
                       "FROM header")
    assert rows == [[head["source_tool"], head["version"], head["frame_order"], head["stack_id_mode"],
                     head.get("source", {}).get("tool"), head.get("source", {}).get("command"),
                     head.get("time_range", {}).get("start"), head.get("time_range", {}).get("end")]]
    rows = query(path, "SELECT name, build_id, is_kernel FROM dsos")
    assert sorted(map(repr, rows)) == sorted(repr([r["name"], r.get("build_id"), int(r["is_kernel"])])
                                             for r in records if r["type"] == "dso")
    rows = query(path, "SELECT pid, tid, comm FROM threads")
    assert sorted(map(repr, rows)) == sorted(repr([r["pid"], r["tid"], r.get("comm")])
                                             for r in records if r["type"] == "thread")
    odd = query(path, "SELECT count(*) FROM frames WHERE json_valid(extra_json)")[0][0]
    known = {"type", "id", "func", "func_resolved", "dso", "ip", "symoff", "srcline", "srcline_resolved", "kind",
             "inlined", "inline_depth"}
    assert odd == len([r for r in records if r["type"] == "frame" and set(r) - known])


def test_diagnostics(tmp_path):
    path = tmp_path / "bad.spaa"
    path.write_text(profiles.text([(["f"], 1)]) + "nonsense\n")
    rows = query(path, "SELECT code, severity, file, line, message, hint FROM diagnostics")
    expected = ask("query", path, "SELECT 1")["diagnostics"]
    assert rows == [[d[k] for k in ("code", "severity", "file", "line", "message", "hint")] for d in expected]
    assert {r[1] for r in rows} == {"error", "data-loss"} and rows[0][2] == str(path) and rows[0][3]


def test_samples_of_a_recording_are_read_when_they_are_asked_for(tmp_path):
    recording = os.path.join(ROOT, "demo", "orders-1.perf.data.zst")
    total = ask("info", recording)["events"][0]["samples"]
    assert query(recording, "SELECT count(*), count(stack), count(DISTINCT time) > 1 FROM samples") == [[total, total, 1]]
    rows = query(recording, "SELECT s.id, count(*), s.samples FROM stacks s JOIN samples x ON x.stack = s.id GROUP BY s.id")
    assert all(n == m for _, n, m in rows) and sum(n for _, n, _ in rows) == total


def test_stack_ids_of_a_recording_are_those_of_its_spaa(tmp_path):
    recording, path = os.path.join(ROOT, "demo", "orders-1.perf.data.zst"), tmp_path / "p.spaa"
    run("convert", recording, "-o", path, code=0)
    sql = "SELECT stack_id FROM stacks ORDER BY 1"
    assert query(recording, sql) == query(path, sql) != []


# ---- ways to rows ----

KEYS = {"dsos": ["name"], "events": ["name"], "frames": ["function", "func", "dso", "dso_name", "srcline"],
        "functions": ["name", "dso", "dso_name"], "nodes": ["parent", "function", "frame"],
        "samples": ["pid", "tid", "cpu", "event", "stack"], "stack_frames": ["stack", "frame", "function"],
        "stacks": ["event", "pid", "tid", "cpu", "comm", "state", "wait", "source", "leaf"], "threads": ["pid", "tid", "comm"],
        "weights": ["stack", "metric"], "window_weights": ["window", "stack"], "windows": [], "diagnostics": [],
        "header": [], "labels": ["stack", "sample", "key", "text"], "selection": [], "processes": ["pid", "parent_pid"], "images": ["name", "path", "build_id"],
        "process_images": ["process", "image"], "waits": ["text", "kind", "holder_pid", "holder_tid"], "intervals": ["pid", "tid", "stack"]}


@pytest.mark.parametrize("table", [t for t in TABLES if not t.startswith("ask_")])
def test_indexes_find_what_a_scan_finds(table, one, rich):
    """`+column` is an expression: no index serves it."""
    report = os.path.join(ROOT, "tests", "fixtures", "spindump", "timeline.spindump.txt")
    for path in [one, rich[0]] + [report] * (table in ("stacks", "threads", "processes", "images", "process_images", "waits")):
        for column in KEYS[table] + ["id"]:
            values = [v for v, in query(path, "SELECT DISTINCT +%s FROM %s LIMIT 12" % (column, table))]
            values += [None, -1, 2 ** 62, "nobody", "3", D("2.5"), D("1.0")]
            for v in values:
                literal = "NULL" if v is None else "'%s'" % v.replace("'", "''") if isinstance(v, str) else str(v)
                both = [query(path, "SELECT id FROM %s WHERE %s%s = %s" % (table, plus, column, literal))
                        for plus in ("", "+")]
                # An affinity belongs to a column, not to an expression: '3' finds 3 in the former only.
                if isinstance(v, str) and v == "3":
                    both[1] = query(path, "SELECT id FROM %s WHERE CAST(%s AS TEXT) = '3'" % (table, column))
                assert both[0] == both[1], (column, literal)
            for order in ("", " DESC", " NULLS LAST"):
                sql = "SELECT {0}%s, count(*) FROM %s GROUP BY {0}%s ORDER BY {0}%s%s" % (column, table, column, column, order)
                assert query(path, sql.format("")) == query(path, sql.format("+")), sql
                sql = "SELECT DISTINCT {0}%s FROM %s ORDER BY {0}%s%s" % (column, table, column, order)
                assert query(path, sql.format("")) == query(path, sql.format("+")), sql
                sql = "SELECT {0}%s, id FROM %s ORDER BY {0}%s%s, {0}id" % (column, table, column, order)
                assert query(path, sql.format("")) == query(path, sql.format("+")), sql
                sql = "SELECT {0}%s, count(*) AS n FROM %s GROUP BY {0}%s ORDER BY n%s, {0}1" % (column, table, column, order)
                assert query(path, sql.format("")) == query(path, sql.format("+")), sql
                sql = "SELECT count(*) AS n FROM %s GROUP BY {0}%s ORDER BY n%s" % (table, column, order)
                assert query(path, sql.format("")) == query(path, sql.format("+")), sql


@pytest.mark.parametrize("test", ["= 5", "> 5", ">= 5", "< 5", "<= 5", "BETWEEN 3 AND 6", "> 5.5", "< '7'", "> -3", "< -3",
                                  "> 9223372036854775807", "IN (1, 4, 400)", "IS NULL", "<> 3", "= 4.0"])
def test_ranges_of_ids(test, one):
    for order in ("", " ORDER BY id", " ORDER BY id DESC"):
        a = query(one, "SELECT id FROM stack_frames WHERE id %s%s" % (test, order))
        b = query(one, "SELECT id FROM stack_frames WHERE CAST(id AS INTEGER) %s%s" % (test, order or " ORDER BY id"))
        assert a == b


def plan(path, sql):
    return " ".join(r[3] for r in query(path, "EXPLAIN QUERY PLAN " + sql))


def test_joins_and_groups_go_by_indexes(one):
    assert "B-TREE" not in plan(one, "SELECT comm, count(*) FROM stacks GROUP BY comm")
    for direction in ("", " DESC"):
        assert "B-TREE" not in plan(one, "SELECT * FROM samples ORDER BY time" + direction)
        assert "GROUP" not in plan(one, "SELECT comm, count(*) AS n FROM stacks GROUP BY comm ORDER BY n" + direction)
    joined = plan(one, "SELECT * FROM stacks s JOIN stack_frames f ON f.stack = s.id JOIN frames r ON r.id = f.frame "
                       "JOIN functions n ON n.id = r.function")
    assert len(re.findall(r"INDEX 0:", joined)) == 1, joined
    assert "INDEX 0:" not in plan(one, "SELECT * FROM nodes WHERE parent = 3")


def test_the_end_of_a_subtree(one):
    below = ("WITH RECURSIVE b(id) AS (SELECT 2 UNION ALL SELECT n.id FROM b JOIN nodes n ON n.parent = b.id) "
             "SELECT id FROM b ORDER BY id")
    run_of = "SELECT n.id FROM nodes t JOIN nodes n ON n.id >= t.id AND n.id < t.subtree_end WHERE t.id = 2 ORDER BY 1"
    assert query(one, below) == query(one, run_of)


# ---- answers ----

def test_numbers_and_texts_are_exact(one):
    sql = ("SELECT 9007199254740993, -9223372036854775808, 9223372036854775807, 0.1, 2.0, 1e300, NULL, 'é\"\n', x'00ff', "
           "9e999")
    raw = run("query", one, sql, "--json", code=0).out
    assert ('"rows":[[9007199254740993,-9223372036854775808,9223372036854775807,0.1,2.0,1e+300,null,"é\\"\\n",'
            '"x\'00ff\'",9e999]]') in raw
    assert run("query", one, "SELECT 9007199254740993 a, 0.1 b, NULL c, 'x,\"y' d", "--format", "csv", code=0).out == \
        'a,b,c,d\n9007199254740993,0.1,,"x,""y"\n'
    assert run("query", one, "SELECT 1 a, NULL b, '|' c", "--format", "markdown", code=0).out == \
        "| a | b | c |\n|---:|---:|---|\n| 1 | NULL | \\| |\n"
    assert run("query", one, "SELECT 1 n, 'ab' t UNION ALL SELECT 22, 'c'", code=0).out == " n  t\n 1  ab\n22  c\n"


def test_sums_of_decimals(tmp_path):
    path = tmp_path / "d.spaa"
    path.write_text(profiles.text([(["f", "main"], D("0.1")), (["g", "main"], D("0.2")), (["h", "main"], D("3"))]))
    assert query(path, "SELECT name, self, total FROM functions ORDER BY self DESC, name") == [
        ["h", 3, 3], ["g", D("0.2"), D("0.2")], ["f", D("0.1"), D("0.1")], ["main", 0, D("3.3")]]
    assert query(path, "SELECT decimal, typeof(value) FROM weights ORDER BY id") == [
        ["0.1", "real"], ["0.2", "real"], ["3", "integer"]]


def test_metrics_that_do_not_add_have_no_sums(tmp_path):
    path = tmp_path / "p.spaa"
    path.write_text(profiles.text([(["f"], 5), (["g"], 7)],
                                  events=[profiles.event("heap", "peak_bytes", "allocation", "event")]))
    assert query(path, "SELECT self, total FROM functions") == [[None, None]] * 2
    assert query(path, "SELECT whole, kept FROM selection") == [[None, None]]
    assert query(path, "SELECT value FROM weights ORDER BY 1") == [[5], [7]]


def test_names_of_strangers(tmp_path):
    names = ["evil\x1b[31m", "a\nb", "x' OR 1=1 --", "\u202egpj", "", "nul\x00byte"]
    path = tmp_path / "n.spaa"
    path.write_text(profiles.text([([n, "main"], 1) for n in names]))
    found = [n for n, in query(path, "SELECT name FROM functions")]
    assert set(found) == set(names) | {"main"}
    assert query(path, "SELECT self FROM functions WHERE name = :n", "--param", "n=x' OR 1=1 --") == [[1]]
    for form in ("table", "csv", "markdown"):
        out = run("query", path, "SELECT name, 'x' AS \"t\x1b\n\" FROM functions", "--format", form, code=0).out
        assert "\x1b" not in out and "\u202e" not in out and out.count("\n") <= len(names) + 4


def test_names_that_are_no_utf8(tmp_path):
    path = tmp_path / "raw.folded"
    path.write_bytes(b"main;caf\xe9 3\nmain;ok 4\n")
    assert query(path, "SELECT name, self FROM functions ORDER BY self") == [["main", 0], ["caf\ufffd", 3], ["ok", 4]]
    assert query(path, "SELECT hex(name) FROM functions WHERE self = 3") == [["636166E9"]]


def test_the_limit_says_what_it_left_out(one):
    answer = ask("query", one, "SELECT id FROM stack_frames", "-n", 3)
    whole = len(query(one, "SELECT id FROM stack_frames"))
    assert answer["rows"] == [[0], [1], [2]] and answer["omitted"] == {"rows": whole - 3, "at_least": False}
    assert run("query", one, "SELECT id FROM stack_frames", "-n", 3, code=0).out.endswith(
        "\n%d more rows; -n 0 shows all\n" % (whole - 3))
    csv = run("query", one, "SELECT id FROM stack_frames", "-n", 3, "--format", "csv", code=0)
    assert csv.out == "id\n0\n1\n2\n" and "%d more rows" % (whole - 3) in csv.err
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n"
    answer = ask("query", one, endless, "--timeout", 0)
    assert len(answer["rows"]) == 1000 and answer["omitted"] == {"rows": 1000000, "at_least": True}


def test_csv_is_written_as_it_comes(one):
    out = run("query", one, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 5000) SELECT i FROM n",
              "-n", 0, "--format", "csv", code=0).out
    assert out == "i\n" + "".join("%d\n" % (i + 1) for i in range(5000))
    for n in (1023, 1024, 1025, 0):
        out = run("query", one, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT %d) SELECT i FROM n "
                  "WHERE i <= %d" % (max(n, 1), n), "-n", 0, "--format", "csv", code=0).out
        assert out == "i\n" + "".join("%d\n" % (i + 1) for i in range(n))


def test_many_columns(one):
    columns = ", ".join("%d AS c%d" % (i, i) for i in range(200))
    for form in ("table", "csv", "markdown"):
        out = run("query", one, "SELECT " + columns, "--format", form, code=0).out
        assert "c199" in out and out.count("\n") == (3 if form == "markdown" else 2)


def test_the_answer_names_event_and_filters_where_they_count(one):
    answer = ask("query", one, "SELECT sum(self) FROM functions", "--comm", "t1", "--view", "all")
    top = ask("top", one, "--comm", "t1", "--view", "all")
    assert answer["profile"] == top["profile"] and answer["whole"] == top["whole"] and answer["kept"] == top["kept"]
    assert "profile" not in ask("query", one, "SELECT count(*) FROM threads")
    assert run("query", one, "SELECT sum(self) FROM functions", "-e", "cycles", code=0).out.startswith("event cycles, metric period")
    unused = run("query", one, "SELECT count(*) FROM threads", "--event", "cycles", "--comm", "t1", code=0)
    assert "--event changes nothing" in unused.err and "SPAA-W660" in unused.err


def test_an_event_metric_or_filter_that_is_not_there_is_refused_even_if_the_query_needs_none(one):
    for sql in ("SELECT 1", "SELECT count(*) FROM threads"):
        for option, code in (("-e", 2), ("-m", 2), ("--comm", 1), ("--pid", 1), ("--view", 2), ("--focus", 1)):
            assert "nope" in run("query", one, sql, option, "nope", code=code).err


def test_the_time_limit_counts_reading_too(one, tmp_path):
    fifo = tmp_path / "endless"
    os.mkfifo(fifo)
    keeper = os.open(fifo, os.O_RDWR)  # a writer that never writes
    try:
        answer = run("query", fifo, "SELECT 1", "--timeout", 1, code=3)
        assert "SPAA-E652" in answer.err and answer.out == ""
        answer = run("query", fifo, "SELECT 1", "--timeout", 1, "--json", code=3)
        assert json.loads(answer.out)["error"]["code"] == "SPAA-E652"
    finally:
        os.close(keeper)


def test_several_files_are_one_profile(tmp_path):
    for name, n in (("a", 3), ("b", 4)):
        (tmp_path / (name + ".folded")).write_text("main;%s %d\n" % (name, n))
    rows = ask("query", tmp_path / "a.folded", tmp_path / "b.folded",
               "SELECT source, sum(weight) FROM stacks GROUP BY source ORDER BY 1")["rows"]
    assert [(os.path.basename(s), w) for s, w in rows] == [("a.folded", 3), ("b.folded", 4)]


def test_sql_from_a_file_and_from_standard_input(one, tmp_path):
    (tmp_path / "q.sql").write_text("-- how many\nSELECT count(*)\nFROM stacks;\n\n-- that was all\n")
    expected = query(one, "SELECT count(*) FROM stacks")
    assert ask("query", one, "--file", tmp_path / "q.sql")["rows"] == expected
    assert ask("query", one, "--file", "-", stdin="SELECT count(*) FROM stacks")["rows"] == expected
    assert ask("query", "-", "SELECT count(*) FROM stacks", stdin=one.read_text())["rows"] == expected
    run("query", "-", "--file", "-", code=2)


# ---- parameters ----

@pytest.mark.parametrize("given, kind, value", [
    ("12", "integer", 12), ("-5", "integer", -5), ("9223372036854775807", "integer", 2 ** 63 - 1), ("1.50", "real", D("1.5")),
    ("1e3", "real", D("1000.0")), ("abc", "text", "abc"), ("'12'", "text", "12"), ("'it''s'", "text", "it's"),
    ("NULL", "null", None), ("", "text", ""), ("12abc", "text", "12abc"), ("-", "text", "-"), ("a=b", "text", "a=b"),
    ("''", "text", "")])
def test_parameters_are_typed(given, kind, value, one):
    assert query(one, "SELECT typeof(:v), :v", "--param", "v=" + given) == [[kind, value]]


def test_parameters_of_all_spellings(one):
    assert query(one, "SELECT :a, @b, $c, ?4", "--param", "a=1", "--param=b=2", "--param", "c=3", "--param", "4=4") == \
        [[1, 2, 3, 4]]


@pytest.mark.parametrize("sql, options, words", [
    ("SELECT :name", [], ":name has no value"), ("SELECT :name", ["--param", "nam=1"], "no parameter :nam"),
    ("SELECT 1", ["--param", "x=1"], "no parameter :x"), ("SELECT ?", [], "no name"),
    ("SELECT :a", ["--param", "a"], "NAME=VALUE"), ("SELECT :a", ["--param", "=1"], "NAME=VALUE")])
def test_parameters_that_do_not_fit(sql, options, words, one):
    code, message, hint = refused(one, sql, *options)
    assert words in message and (code == "SPAA-E654" or words == "NAME=VALUE")
    assert words != "no parameter :nam" or "did you mean name?" in hint


def test_old_names_of_columns_answer_and_say_so(one):
    for table, old, new in (("functions", "total_overlapping", "total"), ("frames", "total_overlapping", "total"),
                            ("selection", "event_total", "event_whole"), ("stacks", "more", "extra_json")):
        asked = run("query", one, "SELECT %s FROM %s ORDER BY 1" % (old, table), "--format", "csv", code=0)
        assert asked.out.splitlines()[1:] == run("query", one, "SELECT %s FROM %s ORDER BY 1" % (new, table), "--format", "csv").out.splitlines()[1:]
        assert asked.err.count("SPAA-I661") == 1 and "%s.%s is called %s now" % (table, old, new) in asked.err
        assert "SPAA-I661" not in run("query", one, "SELECT * FROM " + table, code=0).err
