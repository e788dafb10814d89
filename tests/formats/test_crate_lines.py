"""Lines of sources that were downloaded."""

import subprocess

import profiles
from conftest import ask, run

CRATE = "/home/me/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/dep-1.0"


def test_sources_of_downloaded_crates_keep_their_folders(tmp_path):
    """Cargo compiles each in a folder of its own, relative to which all have a src/lib.rs."""
    (tmp_path / "src").mkdir()
    (tmp_path / "src/lib.c").write_text("int work(int a) { return a * 7 + 1; }\nint main(void) { return work(3); }\n")
    subprocess.run(["gcc", "-g", "-O0", "-fdebug-prefix-map=%s=%s" % (tmp_path, CRATE), "src/lib.c", "-o", "app"],
                   cwd=tmp_path, check=True)
    symbols = subprocess.run(["nm", tmp_path / "app"], check=True, stdout=subprocess.PIPE, text=True).stdout
    ip = next(int(s.split()[0], 16) for s in symbols.splitlines() if s.endswith(" T work"))
    frame = {"func": hex(ip + 4), "func_resolved": False, "ip": hex(ip + 4), "dso": str(tmp_path / "app")}
    path = tmp_path / "p.spaa"
    path.write_text(profiles.text([([frame, "shop::main"], 1)]))
    run("symbolize", path, "-o", tmp_path / "named.spaa", code=0)
    rows = ask("top", tmp_path / "named.spaa", "--by", "line")["rows"]
    assert rows[0]["name"] == "work %s/src/lib.c:1" % CRATE
