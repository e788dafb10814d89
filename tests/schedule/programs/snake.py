"""Python threads: two want the interpreter's lock all the time, one waits for an event, one sleeps."""

import json
import os
import sys
import threading
import time

LENGTH = (float(sys.argv[1]) if len(sys.argv) > 1 else 400) / 1000
UNTIL = time.monotonic() + LENGTH
threads = []


def note(name, work):
    def run():
        t = {"pid": os.getpid(), "tid": threading.get_native_id(), "name": name, "start": time.monotonic_ns()}
        work()
        t["cpu_ns"] = time.thread_time_ns()
        t["end"] = time.monotonic_ns()
        threads.append(t)

    return threading.Thread(target=run, name=name)


def work():
    n = 0
    while time.monotonic() < UNTIL:
        n += sum(range(100))


event = threading.Event()
all_threads = [
    note("work-0", work),
    note("work-1", work),
    note("waiter", event.wait),
    note("sleeper", lambda: time.sleep(LENGTH)),
]
for t in all_threads:
    t.start()
time.sleep(LENGTH)
event.set()
for t in all_threads:
    t.join()
print(json.dumps({"program": "snake", "pid": os.getpid(), "threads": threads}))
