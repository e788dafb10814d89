"""SQL over functions, frames and stacks: against one read of the file, and against the same question to jq."""
from kit import Row, size
from measure import Side

PERIOD = '(.weights[] | select(.metric == "period").value)'

# (what, SQL, jq): jq's program answers from the records one by one, as `jq -n`.
QUESTIONS = [
    ("functions: the ten with the most self",
     "SELECT name, dso_name, self FROM functions ORDER BY self DESC LIMIT 10",
     'reduce inputs as $r ({f: {}, d: {}, s: {}}; . as $all | if $r.type == "dso" then .d[$r.id | tostring] = $r.name '
     'elif $r.type == "frame" then .f[$r.id | tostring] = $r.func + " " + $all.d[$r.dso | tostring] '
     'elif $r.type == "stack" then .s[$all.f[$r.exclusive.frame | tostring]] += ($r | PERIOD) else . end) '
     '| .s | to_entries | sort_by(-.value) | .[:10]'),
    ("functions: the ten with the largest total",
     "SELECT name, dso_name, total FROM functions ORDER BY total DESC LIMIT 10",
     'reduce inputs as $r ({f: {}, d: {}, s: {}}; . as $all | if $r.type == "dso" then .d[$r.id | tostring] = $r.name '
     'elif $r.type == "frame" then .f[$r.id | tostring] = $r.func + " " + $all.d[$r.dso | tostring] '
     'elif $r.type == "stack" then reduce ([$r.frames[] | $all.f[tostring]] | unique | .[]) as $n '
     '(.; .s[$n] += ($r | PERIOD)) else . end) | .s | to_entries | sort_by(-.value) | .[:10]'),
    ("functions: self by binary",
     "SELECT dso_name, sum(self) AS self FROM functions GROUP BY dso_name ORDER BY self DESC",
     'reduce inputs as $r ({f: {}, d: {}, s: {}}; . as $all | if $r.type == "dso" then .d[$r.id | tostring] = $r.name '
     'elif $r.type == "frame" then .f[$r.id | tostring] = $all.d[$r.dso | tostring] '
     'elif $r.type == "stack" then .s[$all.f[$r.exclusive.frame | tostring]] += ($r | PERIOD) else . end) '
     '| .s | to_entries | sort_by(-.value)'),
    ("frames: the ten hottest addresses",
     "SELECT func, symoff, self FROM frames ORDER BY self DESC LIMIT 10",
     'reduce inputs as $r ({f: {}, s: {}}; if $r.type == "frame" then .f[$r.id | tostring] = $r.func + $r.symoff '
     'elif $r.type == "stack" then .s[$r.exclusive.frame | tostring] += ($r | PERIOD) else . end) '
     '| . as $all | .s | to_entries | sort_by(-.value) | .[:10] | map([$all.f[.key], .value])'),
    ("frames: how many in each binary",
     "SELECT dso_name, count(*) AS n FROM frames GROUP BY dso_name ORDER BY n DESC",
     'reduce inputs as $r ({d: {}, s: {}}; . as $all | if $r.type == "dso" then .d[$r.id | tostring] = $r.name '
     'elif $r.type == "frame" then .s[$all.d[$r.dso | tostring]] += 1 else . end) | .s | to_entries | sort_by(-.value)'),
    ("frames: addresses on a twentieth of the weight",
     "SELECT func, symoff, total FROM frames WHERE total > (SELECT whole / 20 FROM selection)",
     'reduce inputs as $r ({f: {}, s: {}, t: 0}; if $r.type == "frame" then .f[$r.id | tostring] = $r.func + $r.symoff '
     'elif $r.type == "stack" then ($r | PERIOD) as $w | .t += $w | reduce ($r.frames | unique | .[]) as $n '
     '(.; .s[$n | tostring] += $w) else . end) | . as $all | .s | to_entries | map(select(.value > $all.t / 20)) '
     '| map([$all.f[.key], .value])'),
    ("stacks: weight by thread name",
     "SELECT comm, sum(weight) AS weight FROM stacks GROUP BY comm ORDER BY weight DESC",
     'reduce (inputs | select(.type == "stack")) as $r ({}; .[$r.context.comm] += ($r | PERIOD)) '
     '| to_entries | sort_by(-.value)'),
    ("stacks: the ten heaviest",
     "SELECT stack_id, weight, depth FROM stacks ORDER BY weight DESC LIMIT 10",
     '[inputs | select(.type == "stack") | [.id, PERIOD, (.frames | length)]] | sort_by(-.[1]) | .[:10]'),
    ("stacks: number and samples by depth",
     "SELECT depth, count(*) AS n, sum(samples) AS samples FROM stacks GROUP BY depth ORDER BY depth",
     'reduce (inputs | select(.type == "stack")) as $r ({}; ($r.frames | length | tostring) as $k '
     '| .[$k] |= [.[0] + 1, .[1] + ($r.weights[] | select(.metric == "samples").value)]) '
     '| to_entries | sort_by(.key | tonumber)'),
]


def sql(m):
    """Three questions each about functions, frames and stacks."""
    source = m.profile()
    work = (size(source), "B")
    read = Side("one read", m.reader("-j", "1", source), part=True)
    ours = [Side("spaa query", [m.spaa, "query", "-q", "-j", "1", source, text]) for _, text, _ in QUESTIONS]
    theirs = [m.peer("jq", ["jq", "-n", program.replace("PERIOD", PERIOD), source]) for _, _, program in QUESTIONS]
    m.compare(read, *ours)
    m.compare(*theirs)
    for (what, _, _), side, jq in zip(QUESTIONS, ours, theirs):
        yield Row("sql", what, side, work, peer=read, peer_part="read", peer_name="one read", need_ratio=1 / 3)
        yield Row("sql", what, side, work, peer=jq, need_ratio=20)


GROUPS = {"sql": sql}
