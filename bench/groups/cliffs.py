"""No valid form of a profile costs more than twice what the canonical one costs, byte for byte."""
import hashlib
import os
import subprocess
import sys

from kit import HERE, SEED, Check, size
from measure import Side

MOST = 2


def forms():
    script = os.path.join(HERE, "gen_spaa_forms.py")
    listed = subprocess.run([sys.executable, script, "--list"], capture_output=True, text=True, check=True)
    with open(script, "rb") as f:
        return script, hashlib.sha256(f.read()).hexdigest(), listed.stdout.splitlines()


def cliffs(m):
    """SPAA read and validated, by record type: members in another order, blanks, unknown members, escapes, ..."""
    script, recipe, names = forms()
    source = m.generated("forms.spaa", "gen_spaa_large.py", "--stacks", str(60_000 // m.scale), "--frames",
                         str(20_000 // m.scale), "--depth", "34", "--seed", SEED)
    canonical = {}
    for form in names:
        path = m.made(form.replace(" ", "-") + ".spaa", (recipe, source, form),
                      lambda out, form=form: subprocess.run([sys.executable, script, source, form, out], check=True))
        sides = {"read": Side("reader", m.reader(path), part=True),
                 "validated": Side("spaa", [m.spaa, "validate", "-q", "-j", "1", path])}
        m.compare(*sides.values())
        for what, side in sides.items():
            cost = side.median("read" if side.part else None)[0] / size(path)
            kind = "stacks of eight metrics" if form == "stacks of eight metrics" else form.removesuffix(" canonical")
            if form.endswith(" canonical") or kind == "stacks of eight metrics":
                canonical[kind, what] = cost
            kinds = [k for k, w in canonical if w == what and form.startswith(k)]
            base = canonical[max(kinds, key=len), what]
            yield Check("cliffs", f"{form}, {what}: at most {MOST} times the canonical form's time a byte",
                        cost <= MOST * base, f"{cost / base:.2f} times {base * 1e9:.2f} ns")


GROUPS = {"cliffs": cliffs}
