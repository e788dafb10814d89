"""What a thread of a hang report waits for where its state names nothing: the disk, as functions of the kernel tell.

Made by hand after the names of macOS' kernel (buf_biowait, VNOP_READ) and of its extensions (apfs, IOStorageFamily).
"""
import pytest

from conftest import ask, run, unwrapped

REPORT = """Date/Time:        2026-02-02 23:22:34.999 -0800
Command:          Editor
PID:              10
Steps:            100 (10ms sampling interval)

Process:          Editor [10]

  Thread 0xa1    DispatchQueue "com.apple.main-thread"(1)    100 samples (1-100)
  100  start + 8 (dyld + 100) [0x180000064]
    100  load + 8 (Editor + 100) [0x100000064]
      100  pread + 8 (libsystem_kernel.dylib + 8) [0x180001000]
       *80   %s
       *20   work + 8 (kernel + 200) [0xfffffe0000000200] (running)

Process:          kernel_task [0]

  Thread 0x2    100 samples (1-100)
 *100  apfs_flusher + 8 (apfs + 200) [0xfffffe0000000300]

"""
CERTAIN = ["buf_biowait + 52 (kernel + 100) [0xfffffe0000000100]", "apfs_vnop_read + 52 (apfs + 100) [0xfffffe0000000100]",
           "??? (apfs + 100) [0xfffffe0000000100]", "??? (com.apple.iokit.IOStorageFamily + 100) [0xfffffe0000000100]",
           "IOBlockStorageDriver::executeRequest(unsigned long long) + 9 (IOStorageFamily + 100) [0xfffffe0000000100]"]


@pytest.mark.parametrize("row", CERTAIN)
def test_the_brief_and_waits_name_the_disk(row, tmp_path):
    path = tmp_path / "r.txt"
    path.write_text(REPORT % row)
    hang = ask("summary", path)["hang"]
    assert (hang["verdict"], hang["main"]["disk"], hang["main"]["waited"]) == ("waited", 80, 80)
    text = unwrapped(run("summary", path, code=0).out)
    name = row.split(" (")[1].split(" ")[0] if row.startswith("???") else row.split(" + ")[0]
    assert "it waited for the disk, as the kernel's %s tells, in 80 of 100 samples (80 %%)" % name in text
    assert "the states name nobody" not in text
    answer = ask("waits", path)
    assert (answer["waiting_for_disk"], answer["waiting_for_nothing_named"]) == (80, 180)  # a thread of the kernel has its own work
    assert "180 for nothing named (80 of them for the disk, by functions of the kernel)" in unwrapped(run("waits", path, code=0).out)


@pytest.mark.parametrize("leaf, likely", [("VNOP_READ", True), ("cluster_read_ext", True), ("fifo_read", None), ("soreceive_uipc", None),
                                          ("mach_msg_receive_continue", None), ("nfs_request_wait", None)])
def test_what_may_be_something_else_is_likely_or_not_said(leaf, likely, tmp_path):
    path = tmp_path / "r.txt"
    below = "VNOP_READ + 8 (kernel + 60) [0xfffffe0000000060]\n         *80   %s + 8 (kernel + 90) [0xfffffe0000000090]" % leaf
    path.write_text(REPORT % (below if likely is None and not leaf.startswith("mach") else "%s + 8 (kernel + 90) [0xfffffe0000000090]" % leaf))
    text = unwrapped(run("summary", path, code=0).out)
    assert ("it likely waited for the disk, as the kernel's %s tells" % leaf in text) == bool(likely)
    assert ("for the disk" in text) == bool(likely)


def test_a_stated_wait_is_what_it_says(tmp_path):
    path = tmp_path / "r.txt"
    path.write_text(REPORT % "apfs_lock + 8 (apfs + 90) [0xfffffe0000000090] (blocked by krwlock for reading owned by mds [7] thread 0x9)")
    assert ask("summary", path)["hang"]["main"]["disk"] == 0 and ask("waits", path)["waiting_for_disk"] == 0


def test_a_holder_that_waits_for_the_disk(tmp_path):
    path = tmp_path / "r.txt"
    path.write_text(REPORT % "psynch + 8 (kernel + 90) [0xfffffe0000000090] (blocked by turnstile waiting for mds [7] thread 0x9)" +
                    "\nProcess:          mds [7]\n\n  Thread 0x9    100 samples (1-100)\n  100  start + 8 (mds + 7) [0x200000007]\n"
                    "   *100  buf_biowait + 8 (kernel + 9) [0xfffffe0000000009]\n\n")
    (held,) = ask("waits", path)["chains"][0]["holders"]
    assert (held["did"], held["waited"], held["disk"]) == ("waited", 100, 100)
    assert "mds [7] 0x9 main waited for the disk 100 of 100" in unwrapped(run("waits", path, code=0).out)
    assert "0x9 waited for the disk in 100 of 100 samples (100 %)" in unwrapped(run("summary", path, code=0).out)
