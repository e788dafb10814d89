"""Regular expressions, compiled once, over lines."""
import re, random
random.seed(2)
line = re.compile(r"(\d+)\.(\d+) (\w+) \[(\w+)\] (.*)$")
lines = ["%d.%06d host%d [%s] message %d took %d ms" % (i, random.randrange(10**6), i % 9, random.choice(["info", "warn"]), i, i % 300)
         for i in range(300000)]
count = {}
for _ in range(3):
    for l in lines:
        m = line.match(l)
        if m:
            count[m.group(4)] = count.get(m.group(4), 0) + 1
print(count)
