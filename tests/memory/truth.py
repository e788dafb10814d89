"""What the programs of programs/ do with memory, to the byte, as functions of the steps they made.

`shop(n)`, `ledger(n)`, `cart(n)` give what is live after n steps by the program's own function: everything that was
asked for below it. `relay()` gives its functions by how what they left can be reached. The sizes are those asked
for; `jemalloc(size)` says which class of jemalloc's holds one.
"""

from dataclasses import dataclass, field

MIB = 1 << 20


@dataclass
class Live:
    """Blocks of one function that are live, as {size: how many}."""

    sizes: dict[int, int] = field(default_factory=dict)
    kind: str = "held"  # leaks, grows (and is held), held

    @property
    def bytes(self) -> int:
        return sum(size * n for size, n in self.sizes.items())

    @property
    def blocks(self) -> int:
        return sum(self.sizes.values())

    def in_classes(self) -> int:
        return sum(jemalloc(size) * n for size, n in self.sizes.items())


def jemalloc(size: int) -> int:
    """The size class: multiples of 16 to 128, then four to each doubling."""
    if size <= 8:
        return 8
    if size <= 128:
        return -(-size // 16) * 16
    step = 1 << ((size - 1).bit_length() - 3)
    return -(-size // step) * step


def _each(n: int, k: int) -> int:
    """How many of the steps 0 … n-1 are multiples of k."""
    return -(-n // k)


def _power(n: int) -> int:
    """What a vector's capacity is that doubled to hold n."""
    return 1 << (n - 1).bit_length() if n else 0


def _buckets(n: int) -> int:
    """Buckets of libstdc++'s unordered_map that held n at most."""
    return next(b for b in (1, 13, 29, 59, 127) if n <= b)


def shop(n: int) -> dict[str, Live]:
    chunks = _each(n, 2048)
    baskets = _each(n, 100)
    # One more basket than stay is open for a moment, once one stays.
    at_most = baskets if n % 100 == 1 else baskets + 1
    return {
        "copy_request": Live({100: n}, "leaks"),
        "keep_order": Live({192: n}, "leaks"),
        "name_customer": Live({40: _each(n, 4)}, "leaks"),
        "collect_stats": Live({24: _each(n, 10), 64: _each(n, 10)}, "leaks"),
        "parse_feed": Live({32: _each(n, 10)}, "leaks"),
        "count_visit": Live({48: 200}, "leaks"),
        "write_audit": Live({64: n, 32 * _power(n): 1}, "grows"),
        "open_basket": Live({48: baskets, 32: baskets, 40: baskets, 8 * _buckets(at_most): 1}, "grows"),
        "take_ticket": Live({65536: chunks, 8 * _power(chunks): 1}, "grows"),
        "read_config": Live({512: 64}),
        "remember_price": Live({48: min(n, 500)}),
        "load_catalog": Live({MIB: 1}),
    }


# Allocated and freed: bytes and calls of 3000 steps.
SHOP_CHURN = {"render_page": (3000 * 20 * 501, 3000 * 20), "collect_ids": (3000 * 124, 3000 * 5), "monthly_report": (8 * MIB, 1)}
SHOP_PEAK_IN = "monthly_report"  # 8 MiB at step 1500


def relay() -> dict[str, dict[str, tuple[int, int]]]:
    """{function: {kind of reachability: (bytes, blocks)}} as memcheck sees it; LSan takes possible for reachable."""
    return {
        "read_message": {"definite": (40 * 1000, 1000)},
        "build_list": {"definite": (32 * 50, 50), "indirect": (32 * 450, 450)},
        "listen_all": {"definite": (72 * 100, 100)},
        "keep_inside": {"possible": (256 * 20, 20)},
        "hold_table": {"reachable": (64000, 1)},
        "grow_buffer": {"reachable": (65536, 1)},
    }


def ledger(n: int) -> dict[str, Live]:
    buckets = max(4, _power(-(-n * 8 // 7)))
    return {
        "book_entry": Live({256: n}, "leaks"),
        "link_accounts": Live({96: 2 * _each(n, 10)}, "leaks"),
        "index_entry": Live({48: n, buckets * 33 + 16: 1}, "grows"),
        "push_history": Live({64 * max(4, _power(n)): 1}, "grows"),
        "load_table": Live({MIB: 1}),
    }


LEDGER_PEAK_IN = "year_end"


def cart(n: int) -> dict[str, Live]:
    """At least: maps and slices come on top, whose sizes are Go's own affair."""
    return {
        "main.addOrder": Live({128: n}, "grows"),
        "main.openSession": Live({64: n}, "grows"),
        "main.watchCart": Live({1024: _each(n, 10)}, "leaks"),
        "main.cacheItem": Live({256: min(n, 300)}),
        "main.loadCatalog": Live({MIB: 1}),
    }


def mailer(n: int) -> dict[str, float]:
    """About: V8 samples, and its headers come on top."""
    return {"queueMail": n * 50 * 8, "watchMail": _each(n, 10) * 100 * 8, "loadTemplates": MIB}
