"""diff of time off the CPU: what is a wait for work is decided once for all runs. Recordings made by hand."""

import pytest

from conftest import ask, run
from test_flamegraph_diff import frames_of
from test_waits_stalls import LOCK, NAP, TIMER, UNLOCK, Machine

PACE = [f.format("nap", "pacer") for f in NAP]
HOLD = UNLOCK + ["refresh (/opt/server)", "main (/opt/server)"]


def paced(path, sleep, lock, comm="quick"):
    """Ten rounds of a thread that sleeps in its loop, and waits for a lock: so many ms each."""
    m, quick, holder = Machine(True), (comm, 101), ("holder", 110)
    m.switch(0, 1, holder)
    m.switch(1, 0, quick)
    at = 2
    for _ in range(10):
        m.switch(at, 0, None, "S", PACE)
        at += sleep
        m.wake(at, 0, quick, TIMER)
        m.switch(at + 0.1, 0, quick)
        m.switch(at + 0.2, 0, None, "S", LOCK)
        at += lock
        m.wake(at, 1, quick, HOLD)
        m.switch(at + 0.1, 0, quick)
        at += 1
    m.switch(at, 0, None, "S", PACE)
    path.write_text(m.text())
    return path


def waited(*files):
    return {(w["reason"], w["function"]): (w["base"] / 1e6, w["new"] / 1e6) for w in ask("diff", *files, "-n", "0")["waits"] if w["function"]}


@pytest.mark.parametrize("comm", ["quick", "quick-2", "swift"])
def test_a_sleep_that_is_idle_on_one_side_alone_counts_on_both(tmp_path, comm):
    """It went up, and the lock went down: half of what the thread waits on the new side, less in the base."""
    base, new = paced(tmp_path / "a.txt", 40, 60), paced(tmp_path / "b.txt", 60, 40, comm)
    idle = [[r["idle"] for r in ask("waits", f, "--idle")["places"] if r["reason"] == "sleep"] for f in (base, new)]
    assert idle == [[False], [True]]
    for files, sleep in (((base, new), (400, 600)), ((new, base), (600, 400))):
        waits = waited(*files)
        assert waits["sleep", "nap"] == pytest.approx(sleep, abs=15)
        assert waits["lock", "handle"] == pytest.approx([1000 - ms for ms in sleep], abs=15)


def test_one_run_of_several_is_enough(tmp_path):
    runs = [paced(tmp_path / f"{k}.txt", sleep, 100 - sleep) for k, sleep in enumerate((60, 65, 45, 60, 60, 65))]
    assert waited(*runs[:3], "--", *runs[3:])["sleep", "nap"][1] == pytest.approx(617, abs=15)
    assert ("sleep", "nap") not in waited(*runs[:2], "--", *runs[3:])


def test_sides_of_other_threads_of_one_recording(tmp_path):
    """Each with the name of its side: what one of them does not do for work counts for both."""
    base, new = paced(tmp_path / "a.txt", 40, 60, "reader"), paced(tmp_path / "b.txt", 60, 40, "writer")
    waits = waited(base, new, "--base-where", "comm=reader", "--new-where", "comm=writer")
    assert waits["sleep", "nap"] == pytest.approx((400, 600), abs=15)


def test_inputs_that_are_read_once(tmp_path):
    base, new = paced(tmp_path / "a.txt", 40, 60), paced(tmp_path / "b.txt", 60, 40)
    assert run("diff", "-", new, "-n", "0", "--json", stdin=base.read_text()).out.count('"nap"')


@pytest.mark.parametrize("options", [[], ["--states"]])
@pytest.mark.parametrize("back", [False, True])
def test_the_flame_graph_of_both_decides_so_too(tmp_path, options, back):
    """The sleep is drawn of both sides, 400 against 600 ms, as `diff` says."""
    files = [paced(tmp_path / "a.txt", 40, 60), paced(tmp_path / "b.txt", 60, 40)][:: -1 if back else 1]
    run("flamegraph", files[1], "--diff", files[0], "-o", tmp_path / "both.svg", *options, code=0)
    frames = frames_of(tmp_path / "both.svg")
    sleep = [v[2:4] for k, v in frames.items() if k.split("/")[-1] == "usleep"]
    assert sleep == [pytest.approx((600e6, 400e6) if back else (400e6, 600e6), abs=15e6)], frames
