"""Random draws of recordings, and intervals by resampling recordings: what the evaluations of verdicts share."""
import concurrent.futures
import math
import os
import random
import subprocess
import sys


class Estimate:
    """A rate with its 95 % interval, both of 1."""

    def __init__(self, rate, low, high, draws):
        self.rate, self.low, self.high, self.draws = rate, low, high, draws

    def __str__(self):
        return f"{100 * self.rate:5.1f} % [{100 * self.low:.1f}, {100 * self.high:.1f}]"

    def as_json(self):
        return {"rate": self.rate, "low": self.low, "high": self.high, "draws": self.draws}


def distinct(rng, pool, count):
    """That many different recordings of a pool in which some may stand several times."""
    chosen = []
    for item in rng.sample(pool, len(pool)):
        if item not in chosen:
            chosen.append(item)
        if len(chosen) == count:
            return chosen
    raise ValueError(f"{len(set(pool))} recordings are too few to draw {count}")


def resample(rng, pool, least):
    """As many recordings, drawn with replacement; at least so many of them differ, so that draws are possible."""
    while True:
        again = rng.choices(pool, k=len(pool))
        if len(set(again)) >= least:
            return again


def interval(rate, draws, values, draws_each):
    """The 95 % interval of a rate: the spread of the replicates, with the chance of all its draws instead of their few."""
    values = sorted(values)
    n = len(values)
    mean = sum(values) / n
    spread = sum((v - mean) ** 2 for v in values) / (n - 1)
    by_drawing = sum(v * (1 - v) for v in values) / n / draws_each
    right = max(0, spread - by_drawing) + rate * (1 - rate) / draws
    scale = math.sqrt(right / spread) if spread > 0 else 0

    def quantile(q):
        at = q * (n - 1)
        i = min(int(at), n - 2)
        return values[i] + (values[i + 1] - values[i]) * (at - i)
    return tuple(min(1, max(0, rate + (quantile(q) - mean) * scale)) for q in (0.025, 0.975))


def estimate(judge, pools, draw, resampled, seed, draws=600, replicates=80, draws_each=40):
    """How often judge(draw(rng, pools)) holds, with an interval bootstrapped over recordings.

    resampled(rng, pools) gives the pools of one replicate.
    """
    rng = random.Random(seed)
    asked = [[draw(rng, pools) for _ in range(draws)]]
    for _ in range(replicates):
        again = resampled(rng, pools)
        asked.append([draw(rng, again) for _ in range(draws_each)])
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as workers:
        rates = [sum(workers.map(judge, some)) / len(some) for some in asked]
    return Estimate(rates[0], *interval(rates[0], draws, rates[1:], draws_each), draws)


def run(*command, **more):
    """What a command prints; an error where it fails."""
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, **more).stdout


def progress(text):
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)
