"""Objects, dicts and JSON."""
import json, random

class Item:
    def __init__(self, n):
        self.n, self.price, self.tags = n, random.random(), {"t%d" % (n % 7), "u%d" % (n % 5)}

    def as_dict(self):
        return {"n": self.n, "price": self.price, "tags": sorted(self.tags)}

def total(items):
    sums = {}
    for i in items:
        for t in i.tags:
            sums[t] = sums.get(t, 0) + i.price
    return sums

random.seed(1)
items = [Item(n) for n in range(200000)]
for _ in range(4):
    sums = total(items)
    text = json.dumps([i.as_dict() for i in items])
    back = json.loads(text)
print(len(back), len(sums))
