-- Threads that stood still at the same time, and which threads of their process ran meanwhile.
-- For recordings of sched:sched_switch: spaa query FILE stalls.sql [--param ms=20]
-- A row: `threads` threads of `stalled` (a pool or a name) left the CPU in one tenth of a second and were all off it for all_ms
-- milliseconds from at_s seconds after the start; `meanwhile`, of their process, left the CPU `switches` times in these, `preempted`
-- of them while it wanted to run on. The samples say who ran, not who holds a lock: a thread that ran in every stall and
-- hardly elsewhere is its likely cause. Idle pools are rows, too: the stall is where a busy pool stops.
WITH e AS (SELECT time, tid, 1 AS out FROM samples WHERE event LIKE '%sched_switch%'
  UNION ALL SELECT time, number, 0 FROM labels l JOIN samples s ON s.id = l.sample WHERE key = 'next_pid'),
o AS (SELECT *, lead(time) OVER (PARTITION BY tid ORDER BY time, out) - time AS off FROM e),
w AS (SELECT pid, ifnull(pool, comm) AS stalled, count(DISTINCT tid) AS threads, max(time) AS a, min(time + off) AS b
  FROM o JOIN threads USING (tid) WHERE out AND tid > 0 AND off > ifnull(:ms, 100) * 1e6
  GROUP BY 1, 2, time / 100000000 HAVING threads > 1 AND b > a)
SELECT w.pid, stalled, threads, round((a - (SELECT min(time) FROM samples)) / 1e9, 3) AS at_s, (b - a) / 1000000 AS all_ms,
  t.comm AS meanwhile, count(*) AS switches, sum(k.state = 'RUN_QUEUE') AS preempted
FROM w JOIN samples s ON s.pid = w.pid AND s.time > a AND s.time < b JOIN threads t ON t.tid = s.tid JOIN stacks k ON k.id = s.stack
WHERE ifnull(t.pool, t.comm) <> stalled
GROUP BY 1, 2, a, 6 ORDER BY threads DESC, at_s, switches DESC LIMIT 20
