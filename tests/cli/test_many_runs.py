"""diff of many runs that have few functions in common: what is kept of a run is what it has, as far as that goes."""

import os
import resource
import subprocess

from conftest import ROOT

SPAA = os.environ.get("SPAA_BIN", os.path.join(ROOT, "build", "spaa"))
MEMORY = 320 << 20  # 500 runs a side took 300 MB, and take 165


def test_a_run_keeps_forms_of_its_own_functions_only(tmp_path):
    for side in "ab":
        for i in range(500):
            (tmp_path / f"{side}{i:03d}.folded").write_text(f"main;work;f{side}{i} {100 + i % 13}\nmain;g{side}{i} {50 + i % 5}\n")
    sides = [sorted(p.name for p in tmp_path.glob(f"{side}*.folded")) for side in "ab"]
    hold = lambda: resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))  # noqa: E731
    done = subprocess.run([SPAA, "diff", "-j", "1", *sides[0], "--", *sides[1]], cwd=tmp_path, capture_output=True, text=True, preexec_fn=hold, timeout=600)
    assert done.returncode == 0, done.stderr
