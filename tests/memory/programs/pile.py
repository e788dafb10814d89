"""A pile of lists whose memory is known, as far as C stacks can tell: python3 under heaptrack names functions of the
interpreter only. PYTHONMALLOC=malloc lets each object be an allocation of its own."""
import time

kept = []


def keep(i):
    kept.append(bytearray(4096))


def churn(i):
    return len(bytearray(10000 + i))


for i in range(100):
    keep(i)
    churn(i)
    if i % 10 == 0:
        time.sleep(0.005)
